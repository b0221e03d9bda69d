package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/config"
)

// uiFolder returns the folder that holds the run that train carries out.
func (o *trainOptions) uiFolder(a *app, l *config.Loaded) string {
	for _, dir := range []string{o.fork, o.runDir} {
		if dir != "" {
			return filepath.Dir(a.absolute(dir))
		}
	}
	return a.absolute(l.Config.Run.Dir)
}

// sidePage is a page that is served next to a run. Nil: there is none.
type sidePage struct {
	app    *app
	folder string
	at     *serving
	cancel func()
	ended  chan error
}

// serveNext serves a folder of runs until end is called. It is no reason to fail: where it cannot be served, that
// is said, and training continues.
func (a *app) serveNext(ctx context.Context, folder string) *sidePage {
	at, err := (&serveOptions{addr: serveAddr}).listen(ctx, a, []string{folder}, "")
	if err != nil { // the port is that of another server, perhaps
		at, err = (&serveOptions{addr: "127.0.0.1:0"}).listen(ctx, a, []string{folder}, "")
	}
	if err != nil {
		fmt.Fprintln(a.Err, "warning: --ui: "+printable(err.Error())+"; the run continues without a page")
		return nil
	}
	out := a.printer(a.Err)
	out.line("watch it in a browser:")
	fmt.Fprintf(out, "\n  %s\n\n", at.link())
	b := &sidePage{app: a, folder: folder, at: at, ended: make(chan error, 1)}
	ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() { b.ended <- at.server.Serve(ctx, at.listener) }()
	return b
}

// end ends the page and returns the error of the run. On a terminal the page is served until the user interrupts it,
// unless that is how the run has ended; the error is printed before.
func (b *sidePage) end(err error) error {
	if b == nil {
		return err
	}
	a, out := b.app, b.app.printer(b.app.Err)
	if a.Terminal && !a.interrupted {
		if err != nil {
			printError(out, err, a.json)
			err = &shownError{err}
		}
		out.line("the page is still served; Ctrl-C ends it: " + b.at.link())
		<-a.Signals
	}
	b.cancel()
	if err := <-b.ended; err != nil {
		fmt.Fprintln(a.Err, "warning: --ui: "+printable(err.Error()))
	}
	out.line(fmt.Sprintf("the page has ended; skillopt serve %s shows the run again", shellWord(a.relative(b.folder))))
	return err
}
