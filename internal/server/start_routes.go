package server

import (
	"net/http"

	"github.com/seed-f4525e22/skillopt/result"
)

// startRoutes returns the routes of configs: what a page reads, checks, tries and writes before a run begins.
func (s *Server) startRoutes() []route {
	check := change(http.MethodPost, "/configs/{config}/check", "What a config would say with this text, and with keys set in it. Nothing is written", Check{}, result.ConfigFile{}, s.check)
	check.changes, check.most = false, maxText
	create := change(http.MethodPost, "/configs", "Write a new folder with a config: an example, a skill and tasks that are sent, or tasks that the optimizer of the sleep profile finds in the sessions of a project. The body is a form with files", nil, result.ConfigFile{}, s.create)
	create.most, create.stream = maxForm, true // mining takes longer than other answers
	save := change(http.MethodPut, "/configs/{config}", "Write the text of a config", Save{}, result.ConfigFile{}, s.save)
	save.most = maxText
	return []route{
		get("/start", "What can be started, and with which models", Start{}, s.start),
		get("/schema", "The JSON Schema of a config file", map[string]any{}, s.showSchema),
		get("/configs/{config}", "A config, by its id of /start", result.ConfigFile{}, s.configFile),
		create,
		check,
		save,
		s.command("lint", "What is found in the tasks and the skill of a config. No model is called", struct{}{}, Lint{}, s.lint),
		s.command("plan", "What a training with a config will take, in calls, tokens, time and money. Nothing is sent", struct{}{}, result.Plan{}, s.plan),
		s.command("doctor", "Whether a config can run, with a few real calls", struct{}{}, result.Examination{}, s.doctor),
		s.command("try", "A few train tasks carried out with the skill of a config, with all that was said", TryRequest{}, Tried{}, s.try),
	}
}
