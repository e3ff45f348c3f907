package brain

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"ccbot/try/demoagent/terminal"
)

// escapeWait tells the Escape key from the beginning of a sequence.
const escapeWait = 30 * time.Millisecond

// Options are the surroundings of a session.
type Options struct {
	In, Out       *os.File // the terminal
	Title         string   // of the terminal
	Env           []string // of the commands that it runs
	Dir           string   // in which they run
	Log           string   // a file that gets a line for each submission; "" for none
	IgnoreSignals bool     // survives SIGHUP and SIGTERM
	// Outlives is how long it then survives its terminal; 0: for ever.
	Outlives time.Duration
}

// Brain is one running session. All its fields belong to the goroutine of [Brain.Run]; others send
// it functions.
type Brain struct {
	Options
	skin  Skin
	term  *terminal.Terminal
	loop  chan func()
	ctx   context.Context // ends with the session; what runs for it is killed then
	tasks sync.WaitGroup

	turn      *Turn
	queue     []Prompt
	armed     bool // the next paste opens a dialog
	keys      terminal.Decoder
	suspended bool // the terminal was given back; SIGCONT takes it again
	exit      *exit
}

// exit is the end of the session.
type exit struct {
	code   int
	reason string // "" for a crash: nothing is cleaned up
}

// New returns a session; its skin joins it in [Brain.Run].
func New(o Options) *Brain { return &Brain{Options: o, loop: make(chan func(), 64)} }

// Run plays the session to its end and returns the exit code: 143 after SIGTERM, 129 after SIGHUP,
// 1 when there is no terminal, 3 after a crash.
func (b *Brain) Run(ctx context.Context, skin Skin) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.ctx, b.skin = ctx, skin
	var err error
	if b.term, err = terminal.Open(b.In, b.Out, b.Title); err != nil {
		_, _ = fmt.Fprintln(b.Out, err)
		return 1
	}
	stop := b.watchSignals()
	defer stop()
	go b.read(b.In) // ends with the process: a read of a terminal cannot be cancelled
	b.skin.Open()
	for b.exit == nil {
		b.show()
		(<-b.loop)()
		for b.exit == nil && len(b.loop) > 0 {
			(<-b.loop)()
		}
	}
	cancel()
	return b.end()
}

func (b *Brain) show() {
	width, height := b.term.Size()
	if lines := b.skin.Draw(width, height); !b.suspended {
		b.term.Paint(lines)
	}
}

func (b *Brain) end() int {
	b.term.Close()
	if b.exit.reason == "" {
		_, _ = fmt.Fprintln(b.Out, "The demo agent crashed, as you asked.")
		return b.exit.code
	}
	b.tasks.Wait()
	_, _ = io.WriteString(b.Out, b.skin.Close(b.exit.reason))
	return b.exit.code
}

// Context returns the session's context. It ends with the session.
func (b *Brain) Context() context.Context { return b.ctx }

// Size returns the size of the terminal.
func (b *Brain) Size() (width, height int) { return b.term.Size() }

// post hands a function to the session's goroutine; after the end it is dropped.
func (b *Brain) post(f func()) {
	select {
	case b.loop <- f:
	case <-b.ctx.Done():
	}
}

// Async runs work in a goroutine and then, in the session's goroutine, done.
func (b *Brain) Async(work, done func()) {
	b.tasks.Go(func() {
		work()
		b.post(done)
	})
}

// After calls f in the session's goroutine after d.
func (b *Brain) After(d time.Duration, f func()) { time.AfterFunc(d, func() { b.post(f) }) }

func (b *Brain) watchSignals() (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if b.IgnoreSignals {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	}
	b.tasks.Go(func() {
		for {
			select {
			case <-b.ctx.Done():
				return
			case s := <-signals:
				b.post(func() { b.signalled(s) })
			}
		}
	})
	return func() { signal.Stop(signals) }
}

func (b *Brain) signalled(s os.Signal) {
	switch s {
	case syscall.SIGWINCH:
		b.term.Forget()
	case syscall.SIGCONT:
		b.continued()
	case syscall.SIGINT:
		b.Quit(0, "other")
	case syscall.SIGTERM:
		b.Quit(143, "other")
	case syscall.SIGHUP:
		b.Quit(129, "other")
	}
}

// Quit ends the session.
func (b *Brain) Quit(code int, reason string) {
	if b.exit == nil {
		b.exit = &exit{code: code, reason: reason}
	}
}

// read feeds the keyboard into the session. The terminal itself belongs to the
// session's goroutine.
func (b *Brain) read(keyboard io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := keyboard.Read(buffer)
		if data := append([]byte(nil), buffer[:n]...); n > 0 {
			b.post(func() { b.typed(data) })
		}
		if err != nil {
			// The terminal is gone, as after a hang-up; an agent that ignores that one lives on.
			switch quit := func() { b.Quit(129, "other") }; {
			case !b.IgnoreSignals:
				b.post(quit)
			case b.Outlives > 0:
				b.After(b.Outlives, quit)
			}
			return
		}
	}
}

func (b *Brain) typed(data []byte) {
	if b.suspended {
		b.record(Prompt{Kind: Dropped, Plain: string(data)})
		return
	}
	for _, in := range b.keys.Feed(data) {
		if b.exit == nil {
			b.press(in)
		}
	}
	if b.keys.Waiting() {
		b.After(escapeWait, func() {
			for _, in := range b.keys.Flush() {
				b.press(in)
			}
		})
	}
}

// press passes one input to the skin; a suspended session ignores it.
func (b *Brain) press(in terminal.Input) {
	if !b.suspended {
		b.skin.Press(in)
	}
}

// trouble reports an error of a file: the session continues without it.
func (b *Brain) trouble(err error) { b.note(Event{Kind: Trouble, Text: err.Error()}) }

// note is for events that nothing waits for.
func (b *Brain) note(e Event) { b.skin.Note(e, func() {}) }
