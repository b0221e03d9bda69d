package evals_test

// broken is a source that cannot be imported, and what is said of it first.
type broken struct {
	format, file, text string
	columns            map[string]string
	origin, msg        string
}

// malformed are ten sources of each format and more.
func malformed() []broken {
	const pf, pc = "promptfoo", "promptfooconfig.yaml"
	test := func(assertion string) string {
		return "prompts: [\"{{q}}\"]\ntests:\n  - vars: {q: [a, b, c]}\n    assert: [" + assertion + "]\n"
	}
	const in, oa, hf, as = "inspect", "openai", "huggingface", "agent-skills"
	gold := func(rows string) string { return "{\"question\": \"a\", \"answer\": \"1\"}\n" + rows }
	skill := func(eval string) string { return `{"skill_name": "x", "evals": [` + eval + `]}` }
	registry := func(args string) string {
		return "x:\n  id: x.v0\n  metrics: [accuracy]\nx.v0:\n  class: evals.elsuite.basic.match:Match\n  args: " + args + "\n"
	}
	return []broken{
		{pf, pc, "prompts: [", nil, pc + ":1", "YAML"},
		{pf, pc, "text", nil, pc, "found the text \"text\", allowed: an object"},
		{pf, pc, "tests: []\n", nil, pc, "prompts: there is no prompt"},
		{pf, pc, "prompts: [x]\n", nil, pc, "tests: there are none"},
		{pf, pc, test("text"), nil, pc, "tests[0].vars#1.assert[0]: found the text \"text\", allowed: an assertion"},
		{pf, pc, test("{value: x}"), nil, pc, "tests[0].vars#1.assert[0].type: found nothing"},
		{pf, pc, test("{type: contains, value: \"\"}"), nil, pc, "tests[0].vars#1.assert[0].value: contains needs text that is not empty"},
		{pf, pc, test("{type: starts-with, value: 5}"), nil, pc, "assert[0].value: starts-with needs text"},
		{pf, pc, test("{type: contains-all, value: 'a, \"b'}"), nil, pc, "a quoted field is not closed"},
		{pf, pc, test("{type: is-json, value: {type: objekt}}"), nil, pc, "not a JSON Schema"},
		{pf, pc, test("{type: is-json, value: {type: object, requird: [a]}}"), nil, pc, `"requird" is no keyword of JSON Schema (did you mean "required"?)`},
		{pf, pc, test("{type: word-count, value: {min: 5, max: 2}}"), nil, pc, "word-count needs min, max or both"},
		{pf, pc, test("{type: levenshtein, value: x, threshold: few}"), nil, pc, "assert[0].threshold: found the text \"few\""},
		{pf, pc, test("{type: equals, value: x, weight: -1}"), nil, pc, "assert[0].weight: found the number -1"},
		{pf, pc, test("{type: equals, value: file://nothing.json}"), nil, pc, "nothing.json: no such file"},
		{pf, pc, test("{type: equals, value: file:///etc/passwd.txt}"), nil, pc, "is an absolute path"},
		{pf, pc, test("{$ref: \"#/assertionTemplates/x\"}"), nil, pc, "names nothing in the configuration"},
		{pf, pc, "prompts: [\"{% for x in y %}{{x}}{% endfor %}\"]\ntests: [{vars: {q: a}, assert: [{type: equals, value: x}]}]\n", nil, pc, "of Nunjucks is not known here"},
		{pf, pc, "prompts: [x]\ntests: https://example.com/sheet\n", nil, pc, "tests: \"https://example.com/sheet\": nothing is fetched"},
		{pf, pc, "prompts: [x]\ntests: ../cases.csv\n", nil, pc, "leads out of the folder"},
		{pf, pc, "prompts: [x]\ntests: file://cases.xlsx\n", nil, pc, "found the ending \".xlsx\""},
		{pf, pc, "prompts: [x]\ntests: [{vars: [a]}]\n", nil, pc, "tests[0].vars: found a list"},

		{in, "x.jsonl", "{\"input\": \"a\"}\n", nil, "x.jsonl:1", "target: entry 1: found nothing"},
		{in, "x.jsonl", "{\"input\": \"a\", \"target\": \"b\"}\n{no\n", nil, "x.jsonl:2", "JSON that cannot be read"},
		{in, "x.jsonl", "{\"input\": \"a\", \"target\": \"b\"}\n[1]\n", nil, "x.jsonl:2", "found a list, allowed: an object"},
		{in, "x.jsonl", "{\"input\": 5, \"target\": \"b\"}\n", nil, "x.jsonl:1", "input: found the number 5"},
		{in, "x.jsonl", "{\"input\": [{\"content\": \"x\"}], \"target\": \"b\"}\n", nil, "x.jsonl:1", "input[0]: found an object, allowed: a message"},
		{in, "x.jsonl", "{\"input\": \"a\", \"target\": \"E\", \"choices\": [\"x\", \"y\"]}\n", nil, "x.jsonl:1", "target: \"E\" is none of the 2 choices"},
		{in, "x.jsonl", "{\"input\": \"a\", \"input\": \"b\", \"target\": \"c\"}\n", nil, "x.jsonl:1", "twice"},
		{in, "x.csv", "input,target\na,b,c\n", nil, "x.csv:2", "has 3 cells, and the header 2 columns"},
		{in, "x.csv", "input,input\na,b\n", nil, "x.csv:1", "the column \"input\" is there twice"},
		{in, "x.eval", "not a zip", nil, "x.eval", "it is no zip archive"},
		{in, "x.json", `{"version": 2, "eval": {"task": "t"}}`, nil, "x.json", "samples: there are none"},
		{in, "x.json", `{"version": 2, "eval": "x"}`, nil, "x.json", "eval: found the text"},
		{in, "x.json", `{"version": 2, "eval": `, nil, "x.json", "ends too early"},
		{in, "x.jsonl", "{\"input\": \"a\", \"target\": \"b\", \"files\": {\"f\": \"../../x.png\"}}\n", nil, "x.jsonl", "there are 1 tasks"},

		{oa, "x.jsonl", "{\"input\": \"a\"}\n", nil, "x.jsonl:1", "ideal: entry 1: found nothing"},
		{oa, "x.jsonl", "{\"input\": \"\", \"ideal\": \"b\"}\n", nil, "x.jsonl:1", "input: it asks nothing"},
		{oa, "x.jsonl", "{\"input\": {\"a\": 1}, \"ideal\": \"b\"}\n", nil, "x.jsonl:1", "input: found an object"},
		{oa, "x.jsonl", "{\"input\": \"a\", \"ideal\": []}\n", nil, "x.jsonl:1", "ideal: the list is empty"},
		{oa, "x.jsonl", "{\"input\": \"a\", \"ideal\": \"b\"}\n{\"input\": \"a\"", nil, "x.jsonl:2", "JSON that ends too early"},
		{oa, "x.jsonl", "{\"input\": [{\"role\": \"user\", \"content\": 5}], \"ideal\": \"b\"}\n", nil, "x.jsonl:1", "input[0].content: found the number 5"},
		{oa, "x.jsonl", "{\"input\": [{\"role\": \"user\", \"content\": [{\"type\": \"image_url\", \"image_url\": {\"url\": \"https://x/y.png\"}}]}], \"ideal\": \"b\"}\n", nil, "x.jsonl:1", "nothing is fetched"},
		{oa, "x.yaml", "x: [", nil, "x.yaml:1", "YAML"},
		{oa, "x.yaml", "x:\n  id: x.v0\n  metrics: [accuracy]\n", nil, "x.yaml", "there is no eval with a class"},
		{oa, "x.yaml", registry("{}"), nil, "x.yaml", "x.v0.args.samples_jsonl: found nothing"},
		{oa, "x.yaml", registry("{samples_jsonl: nothing.jsonl}"), nil, "x.yaml", "\"nothing.jsonl\" is not there, nor below data"},
		{oa, "x.yaml", registry("{samples_jsonl: /etc/passwd}"), nil, "x.yaml", "is an absolute path"},

		{hf, "x.jsonl", "{\"q\": \"a\", \"answer\": \"1\"}\n", nil, "x.jsonl:1", "no column is the prompt; say which it is: --map prompt=COLUMN; there are answer, q"},
		{hf, "x.jsonl", "{\"question\": \"a\", \"a\": \"1\"}\n", nil, "x.jsonl:1", "no column is the gold"},
		{hf, "x.jsonl", gold(""), map[string]string{"gold": "anser"}, "x.jsonl:1", `there is no column "anser" (did you mean "answer"?)`},
		{hf, "x.jsonl", gold(""), map[string]string{"promt": "question"}, "x.jsonl", `"promt" is no field of a task (did you mean "prompt"?)`},
		{hf, "x.jsonl", gold("{\"question\": \"b\", \"answer\": null}\n"), nil, "x.jsonl:2", "answer: entry 1: found nothing"},
		{hf, "x.jsonl", gold("{\"question\": null, \"answer\": \"1\"}\n"), nil, "x.jsonl:2", "question: found nothing"},
		{hf, "x.jsonl", gold("nothing\n"), nil, "x.jsonl:2", "JSON that cannot be read"},
		{hf, "x.json", `{"rows": 5}`, nil, "x.json", "found an object, allowed: a list"},
		{hf, "x.csv", "", nil, "x.csv", "has no header"},
		{hf, "x.csv", "question,answer,split\na,1,training set\n", nil, "x.csv:2", "split: found the split \"training set\""},
		{hf, "x.jsonl", "{\"question\": \"a\", \"answer\": \"1\", \"image\": \"../x.png\"}\n", nil, "x.jsonl:1", "leads out of the folder"},
		{hf, "x.jsonl", "{\"question\": \"a\", \"answer\": \"1\", \"image\": 5}\n", nil, "x.jsonl:1", "image[0]: found the number 5"},
		{hf, "x.parquet", "PAR1 and no more PAR1", nil, "x.parquet", ""},

		{as, "evals/evals.json", "[", nil, "evals/evals.json", "ends too early"},
		{as, "evals/evals.json", `{"skill_name": "x"}`, nil, "evals/evals.json", "evals: found an object, allowed: a list"},
		{as, "evals/evals.json", skill(`5`), nil, "evals/evals.json", "evals[0]: found the number 5"},
		{as, "evals/evals.json", skill(`{"id": 1, "expectations": ["x"]}`), nil, "evals/evals.json", "evals[0].prompt: found nothing"},
		{as, "evals/evals.json", skill(`{"id": 1, "prompt": "p"}`), nil, "evals/evals.json", "evals[0].expectations: there is nothing by which"},
		{as, "evals/evals.json", skill(`{"id": 1, "prompt": "p", "expectations": [5]}`), nil, "evals/evals.json", "evals[0].expectations[0]: found the number 5"},
		{as, "evals/evals.json", skill(`{"id": 1, "prompt": "p", "expectations": ["x"], "files": ["nothing.txt"]}`), nil, "evals/evals.json", "evals[0].files: nothing.txt: no such file"},
		{as, "evals/evals.json", skill(`{"id": 1, "prompt": "p", "expectations": ["x"], "files": ["../../etc/passwd"]}`), nil, "evals/evals.json", "leads out of the folder"},
		{as, "evals/evals.json", skill(`{"id": 1, "prompt": "p", "expectations": ["x"], "files": "a.txt"}`), nil, "evals/evals.json", "evals[0].files: found the text"},
		{as, "evals/evals.json", `[{"query": "q", "should_trigger": true}]`, nil, "evals/evals.json", "it is a trigger set"},
		{as, "evals/evals.json", skill(`{"id": 1, "prompt": "p", "expectations": ["x"]}`), nil, "evals/evals.json", "there are 1 tasks with checks in it, at least 3"},
	}
}
