package skillopt_test

func withAgent(all map[string]effect) map[string]effect { return all }
