package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/config"
)

// uiFolder is the folder of the run that train carries out.
func (o *trainOptions) uiFolder(a *app, l *config.Loaded) string {
	for _, dir := range []string{o.fork, o.runDir} {
		if dir != "" {
			return filepath.Dir(a.absolute(dir))
		}
	}
	return a.absolute(l.Config.Run.Dir)
}

// serveBeside serves a folder of runs until the function that it returns is called. It is
// no reason to fail: where it cannot be served, that is said, and training continues.
func (a *app) serveBeside(ctx context.Context, folder string) (end func()) {
	at, err := (&serveOptions{addr: serveAddr}).listen(ctx, a, []string{folder}, "")
	if err != nil { // the port is that of another server, perhaps
		at, err = (&serveOptions{addr: "127.0.0.1:0"}).listen(ctx, a, []string{folder}, "")
	}
	if err != nil {
		fmt.Fprintln(a.Err, "warning: --ui: "+printable(err.Error())+"; the run continues without a page")
		return func() {}
	}
	out := a.printer(a.Err)
	out.line("watch it in a browser, as long as it runs:")
	fmt.Fprintf(out, "\n  %s\n\n", at.link())
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- at.server.Serve(ctx, at.listener) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			fmt.Fprintln(a.Err, "warning: --ui: "+printable(err.Error()))
		}
		out.line(fmt.Sprintf("the page ended with the command; skillopt serve %s shows the run again", shellWord(a.relative(folder))))
	}
}
