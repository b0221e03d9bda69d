// Package browser holds the tests of the page that `skillopt serve` shows, in a real
// Chromium that is driven over its own protocol.
//
// It knows the program as a user does: by its commands, its page and its API. It knows
// nothing of the packages behind them. The module tools has its dependencies, so that the
// program does not.
package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// patience bounds how long a test waits for what a page is to show.
const patience = 30 * time.Second

// tab is a tab of the browser, with what went wrong in it.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex
	errors  []string // of the console, and exceptions
	foreign []string // requests to other hosts
	allowed []string // parts of errors that a test expects
}

// openBrowser starts Chromium with an empty profile, and ends it with the test.
func openBrowser(t *testing.T) context.Context {
	t.Helper()
	path := chromium(t)
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.WindowSize(1280, 900), chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"))...)
	t.Cleanup(cancel)
	return alloc
}

// open opens an address in a new tab of the browser.
func open(t *testing.T, browser context.Context, address string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx}
	// The tab is opened with its own context: it would end with one that has a deadline.
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	if address != "about:blank" {
		p.listenAt(address)
	}
	return p
}

// listenAt opens an address, and notes what goes wrong there.
func (p *tab) listenAt(address string) {
	p.t.Helper()
	p.listen(address)
	p.do(chromedp.Navigate(address))
}

// listen notes errors of the console and requests to other hosts.
func (p *tab) listen(address string) {
	p.t.Helper()
	home, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	var listening sync.WaitGroup
	ctx, cancel := context.WithCancel(p.ctx)
	p.t.Cleanup(func() { cancel(); listening.Wait() })
	messages, requests := chromedp.Console(ctx), chromedp.Events(ctx, network.RequestWillBeSent)
	listening.Go(func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == "error" || m.IsException() {
				p.note(&p.errors, m.String())
			}
		}
	})
	listening.Go(func() {
		for r, err := range requests {
			if err != nil {
				return
			}
			if u, err := url.Parse(r.Request.URL); err != nil || u.Host != home.Host && u.Scheme != "data" && u.Scheme != "blob" && u.Scheme != "about" {
				p.note(&p.foreign, r.Request.URL)
			}
		}
	})
}

func (p *tab) note(to *[]string, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*to = append(*to, text)
}

// allow has errors that contain a text be expected from here on.
func (p *tab) allow(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = append(p.allowed, part)
}

// clean fails the test for what went wrong in the page.
func (p *tab) clean() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.errors {
		if !p.expects(text) {
			p.t.Errorf("console: %s", text)
		}
	}
	for _, to := range p.foreign {
		p.t.Errorf("a request to another host: %s", to)
	}
}

func (p *tab) expects(text string) bool {
	for _, part := range p.allowed {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// do carries out steps.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%v; the page says:\n%s", err, p.text())
	}
}

// eval evaluates an expression of JavaScript.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("evaluate %s: %v", short(expression), err)
	}
	return v
}

func short(text string) string {
	if len(text) > 200 {
		return text[:200] + "..."
	}
	return text
}

// text is what the page says.
func (p *tab) text() string {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
	if err != nil {
		return fmt.Sprintf("(%v)", err)
	}
	return text
}

// until waits until an expression is true. What cannot be evaluated, since the page is being
// loaded, is tried again.
func (p *tab) until(what, expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		if err == nil && ok {
			return
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			p.t.Fatalf("waiting for %s: %v; the page says:\n%s", what, cmp.Or(err, ctx.Err()), p.text())
		}
	}
}

// shows waits until the page says something.
func (p *tab) shows(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.until("the words "+text, fmt.Sprintf(`document.body.innerText.replace(/(\d)[\u2009\u202f,](?=\d)/g, "$1").toLowerCase().includes(%s.toLowerCase())`, quoted(text)))
	}
}

// press clicks the visible button or link that is called so.
func (p *tab) press(name string) {
	p.t.Helper()
	find := fmt.Sprintf(`(() => {
		const name = %s.toLowerCase()
		const called = e => (e.getAttribute("aria-label") || e.innerText || e.title || "").trim().toLowerCase()
		const all = [...document.querySelectorAll("button, a[href], [role=button], [role=tab], summary, label, input[type=submit]")].filter(e => e.offsetParent !== null && !e.disabled)
		return all.find(e => called(e) === name) || all.find(e => called(e).includes(name))
	})()`, quoted(name))
	p.until("a button "+name, "!!"+find)
	eval[bool](p, "("+find+".click(), true)")
}

// fill writes into the field with this label.
func (p *tab) fill(label, value string) {
	p.t.Helper()
	find := fmt.Sprintf(`(() => {
		const name = %s.toLowerCase()
		const called = e => ((e.labels && e.labels[0] ? e.labels[0].innerText : "") || e.getAttribute("aria-label") || e.placeholder || "").trim().toLowerCase()
		return [...document.querySelectorAll("input, textarea, select")].find(e => called(e).includes(name))
	})()`, quoted(label))
	p.until("a field "+label, "!!"+find)
	eval[bool](p, fmt.Sprintf(`(e => { e.focus(); e.value = %s; e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true})); return true })(%s)`, quoted(value), find))
}

// go goes to a view by its address within the page.
func (p *tab) goTo(hash string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(location.hash = %s, true)`, quoted(hash)))
}

// settled waits until nothing is being loaded.
func (p *tab) settled() {
	p.t.Helper()
	p.until("the view to be loaded", `document.readyState === "complete" && !document.querySelector("[aria-busy=true]")`)
}

// size makes the window so large; a narrow one is that of a phone.
func (p *tab) size(width, height int64) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
}

// theme has the page believe that the system is light or dark.
func (p *tab) theme(scheme string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		p.t.Fatal(err)
	}
}

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always can
	}
	return string(data)
}
