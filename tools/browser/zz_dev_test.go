package browser

import (
	"os"
	"testing"
)

func TestDev(t *testing.T) {
	addr := os.Getenv("DEV_ADDR")
	if addr == "" {
		t.Skip()
	}
	p := open(t, openBrowser(t), addr)
	for _, look := range []struct {
		name, theme   string
		width, height int64
	}{{"light", "light", 1280, 900}, {"dark", "dark", 1280, 900}, {"phone", "light", 360, 740}} {
		p.size(look.width, look.height)
		p.theme(look.theme)
		p.goTo("#/")
		p.shows("New run")
		p.accessible("runs")
		p.fits("runs", look.width)
		p.shot("list-" + look.name)
		p.goTo("#/new")
		p.shows("Begin with")
		p.accessible("new")
		p.fits("new", look.width)
		p.shot("new-" + look.name)
		p.press("my own files")
		p.shows("carries out the tasks")
		p.accessible("own")
		p.fits("own", look.width)
		p.shot("own-" + look.name)
		p.goTo("#/config/my-skill")
		p.shows("Settings")
		p.fill("train.epochs", "many")
		p.shows("no whole number")
		p.accessible("form")
		p.fits("form", look.width)
		p.shot("form-" + look.name)
		p.fill("train.epochs", "2")
		p.press("All settings")
		p.fill("Search settings", "seed")
		p.shows("split.seed")
		p.accessible("form-all")
		p.shot("form-all-" + look.name)
		for _, s := range [][2]string{{"Plan and price", "at most"}, {"Doctor", "edition"}, {"Check tasks", "to learn from"}, {"Try three", "answered"}} {
			p.until("rest", `!document.querySelector("[aria-busy=true]")`)
			p.press(s[0])
			p.shows(s[1])
		}
		p.accessible("steps")
		p.fits("steps", look.width)
		p.shot("steps-" + look.name)
	}
	p.clean()
}
