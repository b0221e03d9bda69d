//go:build unix

package gateway

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkCPU sends 200 requests a second for three seconds, to the gateway and
// to a server that does nothing, and tells what each took of one core. Both
// figures hold the client's share; their difference is what the gateway adds.
func BenchmarkCPU(b *testing.B) {
	for _, size := range []int{1 << 10, 8 << 10, 100 << 10} {
		for _, wire := range []Wire{Chat, Messages} {
			b.Run(fmt.Sprintf("%s/%dKB", wire, size>>10), func(b *testing.B) { benchCPU(b, wire, size) })
		}
	}
}

func benchCPU(b *testing.B, wire Wire, size int) {
	g := testGateway(b, Options{})
	h := open(b, g, Session{Client: benchClient()})
	path, _ := question4(wire)
	body, plain, c := benchBody(b, wire, size), direct(b), agent(b)
	var with, without float64
	for b.Loop() {
		without += share(b, func() { send(b, c, plain, h.Key(), body) })
		with += share(b, func() { send(b, c, g.URL()+path, h.Key(), body) })
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(with/float64(b.N), "%core")
	b.ReportMetric((with-without)/float64(b.N), "added-%core")
}

// share calls do at a steady pace and returns the processor time of it as a part
// of the time that passed, in percent of one core.
func share(b *testing.B, do func()) float64 {
	const rate, lasts = 200, 3 * time.Second
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	var wg sync.WaitGroup
	started, before := time.Now(), processor(b)
	for range int(lasts.Seconds() * rate) {
		<-tick.C
		wg.Go(do)
	}
	wg.Wait()
	return 100 * (processor(b) - before).Seconds() / time.Since(started).Seconds()
}

func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
