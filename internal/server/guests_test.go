package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/result"
)

// pipes is a listener in memory: who dials waits behind those that dialled before.
type pipes struct {
	conns chan net.Conn
	end   chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.end:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.end) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8675} }

func (p *pipes) dial() net.Conn {
	mine, theirs := net.Pipe()
	p.conns <- theirs
	return mine
}

// asks sends a request over a connection and returns the status of its answer, 0 if it is closed instead.
func asks(c net.Conn, path, header string) int {
	go fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:8675\r\n%s\r\n", path, header) // until it is read, or closed
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0
	}
	return resp.StatusCode
}

// More connections than there may be, of strangers who ask for nothing, for the page, again and again, or with a token
// that is none, keep the owner waiting for a few seconds at most.
func TestStrangersGiveWay(t *testing.T) {
	t.Parallel()
	for name, stranger := range map[string]func(net.Conn){
		"silent": func(net.Conn) {},
		"half":   func(c net.Conn) { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\nX-") },
		"page":   func(c net.Conn) { asks(c, "/", "") },
		"guess":  func(c net.Conn) { asks(c, prefix+"/server", "Authorization: Bearer guess\r\n") },
		"again and again": func(c net.Conn) {
			for asks(c, "/", "") == http.StatusOK {
				time.Sleep(3 * time.Second)
			}
		},
		"does not listen": func(c net.Conn) { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1:8675\r\n\r\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, err := New(Options{Folders: []string{t.TempDir()}, Build: result.Build{Version: "test"}, Addr: "127.0.0.1:8675", Token: testToken, Key: []byte("a key that signs sessions in tests"), Now: time.Now})
				if err != nil {
					t.Fatal(err)
				}
				l := &pipes{conns: make(chan net.Conn, 2000), end: make(chan struct{})}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- s.Serve(ctx, l) }()
				var open []net.Conn
				defer func() {
					cancel()
					for _, c := range open {
						_ = c.Close()
					}
					if err := <-ended; err != nil {
						t.Error(err)
					}
				}()
				for range 1100 {
					c := l.dial()
					open = append(open, c)
					go stranger(c)
				}
				synctest.Wait()
				owner, began := l.dial(), time.Now()
				open = append(open, owner)
				for range 3 {
					if status := asks(owner, prefix+"/server", "Authorization: Bearer "+testToken+"\r\n"); status != http.StatusOK {
						t.Fatalf("%d after %v", status, time.Since(began))
					}
					if waited := time.Since(began); waited > 6*time.Second {
						t.Fatalf("the owner is answered after %v", waited)
					}
				}
				w := httptest.NewRecorder()
				if err := s.door.Enter(w, httptest.NewRequest(http.MethodPost, "/", nil), testToken); err != nil {
					t.Fatal(err)
				}
				page, cookie := l.dial(), "Cookie: "+w.Result().Cookies()[0].String()+"\r\n"
				open = append(open, page)
				asks(page, "/", cookie)
				time.Sleep(30 * time.Second) // one who is known may think
				if status := asks(page, "/", cookie); status != http.StatusOK {
					t.Errorf("%d half a minute after the page was read with a session", status)
				}
				if status := asks(owner, prefix+"/server", "Authorization: Bearer "+testToken+"\r\n"); status != http.StatusOK {
					t.Errorf("%d half a minute later", status)
				}
			})
		})
	}
}

// A refusal ends its connection, and an answer does not.
func TestRefusalsEndConnections(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, t.TempDir())
	for path, closes := range map[string]bool{"/": false, prefix + "/server": true} {
		resp, err := s.web.Do(s.request(http.MethodGet, path, ""))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.Close != closes {
			t.Errorf("%s: %d, closes %v %v", path, resp.StatusCode, resp.Close, err)
		}
	}
}
