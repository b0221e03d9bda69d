//go:build unix

package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/internal/testing/sandboxtest"
)

// actVar tells the test binary to be a program under test instead.
const actVar = "SANDBOX_TEST_ACT"

func TestMain(m *testing.M) {
	Main(os.Args)
	if code, is := sandboxtest.Main(os.Getenv(sandboxtest.Var), os.Args, os.Stdout); is {
		os.Exit(code)
	}
	if act := os.Getenv(actVar); act != "" {
		os.Exit(perform(act, os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// perform is what the programs under test do. Some of it is what a program
// should not do.
func perform(act string, args []string) int {
	switch act {
	case "say":
		fmt.Println(strings.Join(args, "\n"))
	case "fail":
		fmt.Fprint(os.Stderr, "it went \xff wrong")
		return 3
	case "environ":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "cat":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "hang":
		forever()
	case "deaf":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("deaf")
		forever()
	case "polite":
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Println("ready")
		<-asked
		fmt.Println("goodbye")
	case "flood":
		return flood(os.Stdout)
	case "flood-stderr":
		return flood(os.Stderr)
	case "crash":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		forever()
	case "close":
		_ = os.Stdout.Close()
		_ = os.Stderr.Close()
		forever()
	case "brood":
		return brood(args)
	case "apart":
		return apart()
	case "write":
		return tell(os.WriteFile(args[0], []byte("here"), 0o600))
	case "read":
		return tell(readAll(args[0]))
	case "list":
		_, err := os.ReadDir(args[0])
		return tell(err)
	case "rename":
		return tell(os.Rename(args[0], args[1]))
	case "truncate":
		return tell(os.Truncate(args[0], 0))
	case "link":
		return tell(os.Symlink(args[0], args[1]))
	case "remove":
		return tell(emptyFolder(args[0]))
	case "connect":
		return tell(connect(args[0], args[1]))
	case "exchange":
		return tell(exchange(args[0]))
	case "listen":
		return tell(listen(args[0], args[1]))
	case "socket":
		return tell(socket(args))
	case "kill":
		pid, _ := strconv.Atoi(args[0])
		return tell(syscall.Kill(pid, 0))
	case "kill-parent":
		return tell(syscall.Kill(os.Getppid(), syscall.SIGKILL))
	case "confine":
		return confineBrood(args[0], args[1] == "true")
	case "confine-status":
		_, err := Run(context.Background(), Spec{
			Argv: []string{"/bin/cat", "/proc/self/status"}, Dir: args[0], Stdout: os.Stdout,
			Confine: &Confine{Write: []string{args[0]}, Plain: args[1] == "true"},
		})
		return tell(err)
	case "run":
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		fmt.Printf("%s", out)
		return tell(err)
	}
	return 0
}

// tell prints what came of an attempt: "done", or the error.
func tell(err error) int {
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("done")
	return 0
}

func forever() {
	<-time.After(time.Hour)
}

func flood(f *os.File) int {
	block := make([]byte, 1<<20)
	for range 1 << 10 {
		if _, err := f.Write(block); err != nil {
			return 1
		}
	}
	return 0
}

// brood starts children that ignore SIGTERM, one in its own session, says their
// numbers, and ends or hangs.
func brood(args []string) int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	for _, setsid := range []bool{false, true} {
		child := exec.Command(self)
		child.Env = append(os.Environ(), actVar+"=deaf")
		if slices.Contains(args, "hidden") {
			child.Env = []string{actVar + "=deaf"} // no marker
		}
		if len(args) > 1 && args[1] == "hold" {
			child.Stdout, child.Stderr = os.Stdout, os.Stderr
		}
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: setsid}
		if len(args) <= 1 || args[1] != "hold" {
			out, err := child.StdoutPipe()
			if err != nil {
				return 1
			}
			if err := child.Start(); err != nil {
				return 1
			}
			_, _ = bufio.NewReader(out).ReadString('\n') // until it is deaf
		} else if err := child.Start(); err != nil {
			return 1
		}
		fmt.Println(child.Process.Pid)
	}
	if args[0] == "hang" {
		forever()
	}
	return 0
}

// apart leaves a child in a process group of its own that does not have our mark.
func apart() int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	child := exec.Command(self)
	child.Env = []string{actVar + "=hang"}
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := child.Start(); err != nil {
		return 1
	}
	fmt.Println(child.Process.Pid)
	return 0
}

func readAll(path string) error {
	_, err := os.ReadFile(path)
	return err
}

func emptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return os.Remove(dir)
}

func connect(network, address string) error {
	c, err := net.DialTimeout(network, address, 5*time.Second)
	if err != nil {
		return err
	}
	if network == "udp" {
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
	}
	return c.Close()
}

// exchange sends 16 MB to a server that repeats what it hears, over four connections
// at once, and reads them again after it has said that this was all.
func exchange(address string) error {
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	errs := make(chan error)
	for range 4 {
		go func() { errs <- echoed(address, data) }()
	}
	var all error
	for range 4 {
		all = errors.Join(all, <-errs)
	}
	return all
}

func echoed(address string, data []byte) error {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	go func() {
		_, err := c.Write(data)
		sent <- errors.Join(err, c.(*net.TCPConn).CloseWrite())
	}()
	got, err := io.ReadAll(c)
	if err == nil && !bytes.Equal(got, data) {
		err = fmt.Errorf("%d bytes came back", len(got))
	}
	return errors.Join(err, <-sent, c.Close())
}

func listen(network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	return l.Close()
}

// socket makes a socket of a family, a type and a protocol, given as numbers.
func socket(args []string) error {
	var n [3]int
	for i, arg := range args {
		var err error
		if n[i], err = strconv.Atoi(arg); err != nil {
			return err
		}
	}
	fd, err := syscall.Socket(n[0], n[1], n[2])
	if err != nil {
		return err
	}
	return syscall.Close(fd)
}

// confineBrood runs a brood that hangs, and says what it says.
func confineBrood(dir string, plain bool) int {
	self, err := os.Executable()
	if err != nil {
		return 1
	}
	_, err = Run(context.Background(), Spec{
		Argv: []string{self, "hang", "hidden"}, Dir: dir, Env: []string{actVar + "=brood"}, Stdout: os.Stdout,
		Confine: &Confine{Write: []string{dir}, Plain: plain},
	})
	return tell(err)
}
