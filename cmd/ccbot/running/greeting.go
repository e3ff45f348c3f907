package running

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// greetTimeout is how long the log of a start is held back at most.
const greetTimeout = 10 * time.Second

// greeting is a terminal that holds back the log of a start, so that the first line a person reads
// is that the bot is ready.
type greeting struct {
	out   *os.File
	timer *time.Timer

	mu      sync.Mutex
	held    []byte
	passes  bool // nothing is held back any longer
	greeted bool
}

// Fd returns the descriptor of the terminal.
func (g *greeting) Fd() uintptr { return g.out.Fd() }

// greetingAt returns out itself, and a function without effect, unless out is a terminal. ready
// writes a line, if it is not empty and the first one, and then the log that was held back.
func greetingAt(out io.Writer) (log io.Writer, ready func(line string)) {
	f, isFile := out.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return out, func(string) {}
	}
	g := &greeting{out: f}
	g.timer = time.AfterFunc(greetTimeout, func() { g.ready("") })
	return g, g.ready
}

// Write holds back p until ready.
func (g *greeting) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.passes {
		return g.out.Write(p)
	}
	g.held = append(g.held, p...)
	return len(p), nil
}

func (g *greeting) ready(line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer.Stop()
	if line != "" && !g.greeted {
		fmt.Fprintln(g.out, line)
		g.greeted = true
	}
	_, _ = g.out.Write(g.held) // like any other line of the log
	g.passes, g.held = true, nil
}
