package demoagent

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
)

const (
	// early is how long after its start the real CLI loses an Enter: text reaches the box, the
	// Enter does not.
	early = 150 * time.Millisecond
	// escapeWait tells the Escape key from the beginning of a sequence.
	escapeWait = 30 * time.Millisecond
	// twice is the time in which a second Esc or C-c belongs to the first.
	twice = time.Second
)

// agent is one running session. All its fields belong to the goroutine of [agent.run]; others send
// it functions through post.
type agent struct {
	*start
	term     *terminal
	hooks    hookRunner
	presence *presence
	loop     chan func()
	ctx      context.Context // ends with the session; what runs for it is killed then
	tasks    sync.WaitGroup

	entries    []entry
	box        box
	dialog     dialog
	onClose    func(*outcome) // handles the dialog's end
	behind     []hidden       // dialogs that wait until that one is closed
	startup    []func()       // dialogs to answer before the session starts
	live       bool           // the session has started: presence is written
	ready      bool           // Enter is accepted
	opened     bool           // the SessionStart hooks are done
	turn       *turn
	queue      []prompt
	always     bool   // "always allow" was chosen
	rules      []rule // allowed for the session by a hook's answer
	beforePlan string // the mode that plan mode goes back to
	subagents  []*subagent
	armed      bool      // the next paste opens a dialog
	pasted     time.Time // when the last paste came
	hint       string
	statusLine []string // nil: none is configured
	promptID   string
	model      string // as the list of models names it; empty: the default
	begun      time.Time
	lastEscape time.Time
	lastCtrlC  time.Time
	keys       decoder
	suspended  bool // C-z gave the terminal back; SIGCONT takes it again
	exit       *exit
}

// exit is the end of the session.
type exit struct {
	code   int
	reason string // of SessionEnd; "" for a crash: nothing is cleaned up
}

func newAgent(ctx context.Context, s *start, stdin, stdout *os.File) *agent {
	a := &agent{
		start: s, loop: make(chan func(), 64), entries: s.entries, begun: time.Now(),
		hooks: hookRunner{settings: s.settings, off: s.env.get("DEMOAGENT_NO_HOOKS") != "", cwd: s.cwd, env: s.env},
		term:  &terminal{in: stdin, out: stdout},
	}
	if s.env.get("DEMOAGENT_NO_PRESENCE") == "" && !s.nested() {
		a.presence = newPresence(ctx, s)
	}
	return a
}

// run plays the session to its end.
func (a *agent) run(ctx context.Context) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.ctx = ctx
	var err error
	if a.term, err = openTerminal(a.term.in, a.term.out); err != nil {
		return fail(a.term.out, err)
	}
	stop := a.watchSignals()
	defer stop()
	go a.read(a.term.in) // ends with the process: a read of a terminal cannot be cancelled
	a.open()
	for a.exit == nil {
		a.show()
		(<-a.loop)()
		for a.exit == nil && len(a.loop) > 0 {
			(<-a.loop)()
		}
	}
	cancel()
	return a.end()
}

// post hands a function to the session's goroutine; after the end it is dropped.
func (a *agent) post(f func()) {
	select {
	case a.loop <- f:
	case <-a.ctx.Done():
	}
}

// async runs work in a goroutine and then, in the session's goroutine, done.
func (a *agent) async(work, done func()) {
	a.tasks.Go(func() {
		work()
		a.post(done)
	})
}

func (a *agent) after(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { a.post(f) })
}

func (a *agent) watchSignals() (stop func()) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	if a.env.get("DEMOAGENT_IGNORE_SIGNALS") != "" {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	}
	a.tasks.Go(func() {
		for {
			select {
			case <-a.ctx.Done():
				return
			case s := <-signals:
				a.post(func() { a.signalled(s) })
			}
		}
	})
	return func() { signal.Stop(signals) }
}

func (a *agent) signalled(s os.Signal) {
	switch s {
	case syscall.SIGWINCH:
		a.term.forget()
	case syscall.SIGCONT:
		a.continued()
	case syscall.SIGINT:
		a.quit(0, "other")
	case syscall.SIGTERM:
		a.quit(143, "other")
	case syscall.SIGHUP:
		a.quit(129, "other")
	}
}

func (a *agent) quit(code int, reason string) {
	if a.exit == nil {
		a.exit = &exit{code: code, reason: reason}
	}
}

// read feeds the keyboard into the session. The terminal itself belongs to the
// session's goroutine.
func (a *agent) read(keyboard io.Reader) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := keyboard.Read(buffer)
		if data := append([]byte(nil), buffer[:n]...); n > 0 {
			a.post(func() { a.typed(a.keys.feed(data)) })
		}
		if err != nil {
			// The terminal is gone, as after a hang-up; whoever ignores that one lives on.
			if a.env.get("DEMOAGENT_IGNORE_SIGNALS") == "" {
				a.post(func() { a.quit(129, "other") })
			}
			return
		}
	}
}

func (a *agent) typed(inputs []input) {
	for _, in := range inputs {
		if a.exit == nil {
			a.press(in)
		}
	}
	if a.keys.waiting() {
		a.after(escapeWait, func() {
			for _, in := range a.keys.flush() {
				a.press(in)
			}
		})
	}
}

// press passes one input to the dialog or to the box; a suspended session ignores it.
func (a *agent) press(in input) {
	if a.suspended {
		return
	}
	a.hint = ""
	if in.key == keySuspend {
		a.suspend()
		return
	}
	if a.dialog == nil {
		a.pressBox(in)
		return
	}
	if out := a.dialog.press(in); out != nil {
		done := a.onClose
		a.dialog, a.onClose = nil, nil
		done(out)
		a.showBehind()
	}
}

func (a *agent) pressBox(in input) {
	switch in.key {
	case keyText:
		a.box.insert(in.text)
	case keyPaste:
		a.pasted = time.Now().UTC()
		a.box.paste(in.text)
		a.spring()
	case keyNewline:
		a.box.insert("\n")
	case keyEnter:
		a.enter()
	case keyBackspace:
		a.box.backspace()
	case keyKillLine:
		width, _ := a.term.size()
		a.box.killLine(width - 3)
	case keyEscape:
		a.escape()
	case keyInterrupt:
		a.interruptKey()
	case keyMode:
		a.nextMode()
	case keyModels:
		a.openModels()
	}
}

// escape interrupts a turn; twice it clears a draft, and on an empty box it opens a dialog.
func (a *agent) escape() {
	second := time.Since(a.lastEscape) < twice
	a.lastEscape = time.Now()
	switch {
	case a.turn != nil:
		a.interrupt()
	case !second:
	case !a.box.empty():
		a.box.clear()
	default:
		a.openDialog(&page{text: []string{bold + "Rewind" + plain, "", "Restore the code and/or conversation to the point before…", "",
			"❯ (current)"}, foot: "Enter to continue · Esc to cancel"}, func(*outcome) {})
	}
}

// interruptKey is C-c: like Esc, then clears the box, then ends the program when it comes twice.
func (a *agent) interruptKey() {
	second := time.Since(a.lastCtrlC) < twice
	switch {
	case a.turn != nil:
		a.interrupt()
	case !a.box.empty():
		a.box.clear()
	case second:
		a.quit(0, "prompt_input_exit")
	default:
		a.lastCtrlC = time.Now()
		a.hint = "Press Ctrl-C again to exit"
	}
}

// hidden is a dialog that another one covers.
type hidden struct {
	dialog  dialog
	onClose func(*outcome)
}

// openDialog shows d, or keeps it until the one that is open was answered.
func (a *agent) openDialog(d dialog, onClose func(*outcome)) {
	a.behind = append(a.behind, hidden{d, onClose})
	a.showBehind()
}

// closeDialog takes d away without an answer of the person.
func (a *agent) closeDialog(d dialog) {
	if d != nil && a.dialog == d {
		a.dialog, a.onClose = nil, nil
	}
	a.behind = slices.DeleteFunc(a.behind, func(h hidden) bool { return h.dialog == d })
	a.showBehind()
}

func (a *agent) showBehind() {
	if a.dialog != nil || len(a.behind) == 0 {
		return
	}
	a.dialog, a.onClose = a.behind[0].dialog, a.behind[0].onClose
	a.behind = a.behind[1:]
}

// show updates presence file and screen, in this order: a reader of "waiting" may not see the
// dialog yet, never the other way round.
func (a *agent) show() {
	if a.live && a.ready && a.presence != nil {
		status, waitingFor := a.status()
		if err := a.presence.update(a.id, status, waitingFor); err != nil {
			a.note(err)
		}
	}
	if a.suspended {
		return
	}
	width, height := a.term.size()
	v := view{
		width: width, height: height, cwd: a.cwd, entries: a.recent(), busy: a.turn != nil, box: &a.box, dialog: a.dialog,
		mode: a.mode, hint: a.hint, statusLine: a.statusLine, background: len(a.subagents), unsaved: a.nested(), starting: !a.live && a.dialog != nil,
	}
	for _, p := range a.queue {
		if p.kind != "notice" {
			v.queued = append(v.queued, p.plain)
		}
	}
	if a.turn != nil {
		v.streaming, v.working, v.waitingHook = a.turn.streamed, time.Since(a.turn.started), a.turn.hook
		v.shell = a.turn.shell.view()
	}
	a.term.paint(v.lines())
}

func (a *agent) status() (status, waitingFor string) {
	switch {
	case a.dialog != nil && a.dialog.waitingFor() != "":
		return "waiting", a.dialog.waitingFor()
	case a.turn != nil || len(a.subagents) > 0:
		return "busy", ""
	}
	return "idle", ""
}

// recent bounds what is drawn again at every key.
func (a *agent) recent() []entry { return a.entries[max(len(a.entries)-200, 0):] }

func (a *agent) say(kind entryKind, text string) { a.entries = append(a.entries, entry{kind, text}) }

// note shows an error of a file: the session continues without it.
func (a *agent) note(err error) { a.say(errorEntry, err.Error()) }

func (a *agent) write(lines ...line) {
	if err := a.transcript.append(lines...); err != nil {
		a.note(err)
	}
}

// payload returns the input of every hook, with more added.
func (a *agent) payload(event string, more map[string]any) map[string]any {
	p := map[string]any{
		"session_id": a.id.String(), "transcript_path": a.transcript.path, "cwd": a.cwd, "hook_event_name": event,
	}
	if a.promptID != "" {
		p["prompt_id"] = a.promptID
	}
	for name, value := range more {
		p[name] = value
	}
	return p
}

// end cleans up as the real CLI does, unless this is a crash.
func (a *agent) end() int {
	a.term.close()
	if a.exit.reason == "" {
		_, _ = fmt.Fprintln(a.term.out, "The demo agent crashed, as you asked.")
		return a.exit.code
	}
	a.tasks.Wait()
	if a.live {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), endTimeout)
		defer cancel()
		a.hooks.run(ctx, "SessionEnd", a.exit.reason, a.payload("SessionEnd", map[string]any{"reason": a.exit.reason}))
		_, _ = fmt.Fprintf(a.term.out, "\nResume this session with:\n%s\n", a.options.resumeCommand(a.id))
	}
	if a.presence != nil {
		a.presence.remove()
	}
	return a.exit.code
}

// changeID starts a new id and an empty transcript, as /clear does.
func (a *agent) changeID() {
	a.id = uuid.New()
	a.transcript = a.newTranscript(a.id)
	a.transcript.mode = a.mode
	a.entries, a.promptID = nil, ""
}
