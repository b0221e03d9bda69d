//go:build unix

package gateway

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkCPU has 200 requests a second sent for three seconds and tells what
// the gateway took of one core. The client is a process of its own, so that the
// figures are the processor time of this process alone, user and system: what
// serves HTTP, reads and translates the request, keeps the accounts and writes
// the answer. The model is a function that answers at once.
//
// "%core" is all of it; "added-%core" is what is left when that of a server is
// taken off which reads the same bodies over HTTP and does nothing with them.
func BenchmarkCPU(b *testing.B) {
	for _, kind := range []string{growing, fresh} {
		for _, size := range []int{1 << 10, 8 << 10, 20 << 10, 100 << 10} {
			for _, wire := range []Wire{Chat, Responses, Messages, Gemini} {
				b.Run(fmt.Sprintf("%s/%dKB/%s", kind, size>>10, wire), func(b *testing.B) { benchCPU(b, wire, kind, size) })
			}
		}
	}
}

func benchCPU(b *testing.B, wire Wire, kind string, size int) {
	g := testGateway(b, Options{})
	path, _ := requestTo(wire)
	plain, with, without := direct(b), 0.0, 0.0
	for b.Loop() {
		h := open(b, g, Session{Client: benchClient()}) // one that has seen nothing
		l := load{Key: h.Key(), Wire: wire, Kind: kind, Size: size}
		l.URL = plain
		without += share(b, l)
		l.URL = g.URL() + path
		with += share(b, l)
		h.Close()
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(with/float64(b.N), "%core")
	b.ReportMetric((with-without)/float64(b.N), "added-%core")
}

// load is what the client's process is told.
type load struct {
	URL, Key string
	Wire     Wire
	Kind     string
	Size     int
}

// share has the load sent and returns the processor time of this process as a
// part of the time that passed, in percent of one core.
func share(b *testing.B, l load) float64 {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), exe, "-test.run=^TestLoad$", "load")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if err := json.NewEncoder(in).Encode(l); err != nil {
		b.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	told := func(want string) {
		if line, err := out.ReadString('\n'); err != nil || line != want+"\n" {
			b.Fatalf("the client says %q (%v), want %q", line, err, want)
		}
	}
	told("ready") // its start is no part of what is measured
	started, before := time.Now(), processor(b)
	fmt.Fprintln(in, "go")
	told("done")
	share := 100 * (processor(b) - before).Seconds() / time.Since(started).Seconds()
	in.Close()
	if _, err := io.Copy(io.Discard, out); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return share
}

// TestLoad is the client of BenchmarkCPU when it runs in a process of its own.
func TestLoad(t *testing.T) {
	if flag.Arg(0) != "load" {
		t.Skip("it is the client of BenchmarkCPU, which starts it")
	}
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var l load
	if err := json.Unmarshal(line, &l); err != nil {
		t.Fatal(err)
	}
	c, bodies := agent(t), make([][]byte, rate*seconds)
	for i := range bodies {
		bodies[i] = asking(t, l.Wire, l.Kind, l.Size, i)
	}
	send(t, c, l.URL, l.Key, asking(t, l.Wire, fresh, 100, -1)) // opens a connection
	fmt.Println("ready")
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	pace(t, c, l, bodies)
	fmt.Println("done")
}

// How many requests are sent, and for how long.
const rate, seconds = 200, 3

// pace sends the bodies, rate of them a second.
func pace(t *testing.T, c *http.Client, l load, bodies [][]byte) {
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	var wg sync.WaitGroup
	for _, body := range bodies {
		<-tick.C
		wg.Go(func() { send(t, c, l.URL, l.Key, body) })
	}
	wg.Wait()
}

func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
