package repotest

import "strings"

// scenario writes the 40 commits. Functions and what they are called in messages are the same in all languages.
func (b *builder) scenario() {
	b.commit("first", "Begin")
	b.fix("text/slug", "Leave out repeated spaces")
	b.doc("README.md", "\nUse it as you like.\n", "Say how to use it")
	b.fix("numbers/clamp", "Limit large numbers as well")
	b.code("text/title", "Large letters", "no tests")
	b.fix("dates/leap", "Years that end a century")
	b.fix("money/format", "Cents below ten have two digits")
	b.test("text/title", "Test large letters", "no code")
	b.rename()
	b.fix("lists/chunk", "Keep the rest of a list")
	b.fix("text/initials", "Names in small letters")
	b.both("text/repeat", "Repeat by the library", "no test fails")
	b.interfaces()
	b.doc("README.md", "\nThere are texts.\n", "Say that there are texts")
	b.fix("numbers/median", "Lists of even length")
	b.merge()
	b.fix("dates/days", "Months after July")
	b.broken()
	b.fix("money/share", "Lose no cent")
	b.fix("lists/unique", "Numbers that are apart")
	b.both("clock/tick", "Slower ticks", "flaking")
	b.fix("text/shorten", "Dots after what is cut")
	b.both("remote/ping", "An address to ask", "network")
	b.revert()
	b.doc("README.md", "\nThere are numbers.\n", "Say that there are numbers")
	b.fix("numbers/digits", "Digits below zero")
	b.both("lists/last", "Shorter last", "no test fails")
	b.fix("dates/weekday", "Days of the next week")
	b.dependency()
	b.fix("money/percent", "Round percentages")
	b.obeyed()
	b.lock()
	b.doc("README.md", "\nThere are lists.\n", "Say that there are lists")
	b.doc("CLAUDE.md", "Write small functions.\n", "Advice to agents")
	b.fix("lists/rotate", "Rotate by more than the length")
}

// both changes a function and adds a test.
func (b *builder) both(name, subject, kind string) {
	b.state[name] = "more"
	b.commit(kind, subject)
}

func (b *builder) fix(name, subject string) { b.both(name, subject, "usable") }

// code changes a function alone.
func (b *builder) code(name, subject, kind string) {
	b.state[name] = "fixed"
	b.commit(kind, subject)
}

// test adds a test to a function that was changed before.
func (b *builder) test(name, subject, kind string) { b.both(name, subject, kind) }

func (b *builder) doc(path, text, subject string) {
	b.extra[path] += text
	b.commit("no tests", subject)
}

func (b *builder) rename() {
	from, to := b.path("old", ""), b.path("new", "")
	b.extra[to] = b.extra[from]
	delete(b.extra, from)
	b.commit("rename only", "Another name for the file of words")
}

// interfaces adds a function that its test calls by a name which nothing says.
func (b *builder) interfaces() {
	for name, text := range b.parts {
		if path, ok := strings.CutPrefix(name, "interface/"); ok {
			b.extra[path] = text
		}
	}
	b.commit("interface", "Averages")
}

// merge has a branch with a change of documents.
func (b *builder) merge() {
	before := b.extra["README.md"]
	b.extra["README.md"] += "\nSee the tests.\n"
	b.on("side", "no tests", "See the tests")
	side := b.made.Commits
	b.extra["README.md"] = before
	b.commit("no tests", "Notes")
	b.extra["README.md"] += "\nSee the tests.\n"
	b.on("main", "merge", "Merge branch side", side)
}

// broken breaks the build with a change of code, and mends it together with a test.
func (b *builder) broken() {
	fixed := b.parts["fixed/text/repeat"]
	b.parts["fixed/text/repeat"] = fixed + b.parts["broken"]
	b.commit("no tests", "Work on texts")
	b.parts["fixed/text/repeat"] = fixed
	b.parts["more/text/repeat"] += b.parts["again/text/repeat"]
	b.commit("broken parent", "Texts work again")
}

// revert takes back a change of code and tests.
func (b *builder) revert() {
	b.state["remote/ping"] = ""
	b.commit("revert", "Revert \"An address to ask\"")
	b.state["remote/ping"] = "more"
	b.commit("network", "An address to ask after all")
}

// dependency uses a library that no machine has, and leaves it again.
func (b *builder) dependency() {
	files := map[string]string{}
	for name, text := range b.parts {
		if path, ok := strings.CutPrefix(name, "needs/"); ok && path != "head" {
			files[path] = b.extra[path]
			b.extra[path] = text
		}
	}
	b.needs = true
	b.both("paint/red", "Names of colours", "dependencies")
	for path, text := range files {
		if b.extra[path] = text; text == "" {
			delete(b.extra, path)
		}
	}
	b.needs, b.state["paint/red"] = false, ""
	b.commit("broken parent", "No library for colours")
}

// obeyed changes what the run of tests obeys together with a function.
func (b *builder) obeyed() {
	b.extra[b.path("obeyed", "")] += b.parts["obeyed"]
	b.state["paint/blue"] = "more"
	b.commit("obeyed", "Blue, and how tests run")
}

func (b *builder) lock() {
	b.extra[b.path("lock", "")] += b.parts["locked"]
	b.commit("lock files", "Newer libraries")
}
