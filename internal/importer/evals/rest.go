package evals

func (w *work) inspect(file string)     {}
func (w *work) openai(file string)      {}
func (w *work) agentSkills(file string) {}
func (w *work) rows(file string)        {}
