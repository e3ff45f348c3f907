package demoagent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/try/demoagent/brain"
	"ccbot/try/demoagent/terminal"
)

const (
	// early is how long after its start the real CLI loses an Enter: text reaches the box, the
	// Enter does not.
	early = 150 * time.Millisecond
	// twice is the time in which a second Esc or C-c belongs to the first.
	twice = time.Second
)

// agent is the outside of one running session, and the [brain.Skin] of its brain.
type agent struct {
	*start
	brain    *brain.Brain
	hooks    hookRunner
	presence *presence

	entries    []entry
	box        box
	dialog     dialog
	onClose    func(*outcome) // handles the dialog's end
	behind     []hidden       // dialogs that wait until that one is closed
	startup    []func()       // dialogs to answer before the session starts
	live       bool           // the session has started: presence is written
	ready      bool           // Enter is accepted
	opened     bool           // the SessionStart hooks are done
	current    turnState
	always     bool   // "always allow" was chosen
	rules      []rule // allowed for the session by a hook's answer
	beforePlan string // the mode that plan mode goes back to
	subagents  []*subagent
	pasted     time.Time // when the last paste came
	hint       string
	statusLine []string // nil: none is configured
	promptID   string
	model      string // as the list of models names it; empty: the default
	begun      time.Time
	lastEscape time.Time
	lastCtrlC  time.Time
}

// turnState holds the skin's part of one turn.
type turnState struct {
	turn     *brain.Turn
	onOpened func() // waits for the SessionStart hooks
	hook     string // the event whose hooks it waits for

	callID   string // of the tool call that waits for permission or runs; "" for none
	callLine any    // its line in the transcript
	byHook   string // a hook's decision about it, "" for none
	decided  string // when, as a line's timestamp
	dialog   dialog
	stopHook context.CancelFunc
}

// state returns the skin's part of a turn.
func (a *agent) state(t *brain.Turn) *turnState {
	if a.current.turn != t {
		a.current = turnState{turn: t}
	}
	return &a.current
}

func newAgent(ctx context.Context, s *start, b *brain.Brain) *agent {
	a := &agent{
		start: s, brain: b, entries: s.entries, begun: time.Now(),
		hooks: hookRunner{settings: s.settings, off: s.env.get("DEMOAGENT_NO_HOOKS") != "",
			log: s.env.get("DEMOAGENT_HOOKS"), cwd: s.cwd, env: s.env},
	}
	if s.env.get("DEMOAGENT_NO_PRESENCE") == "" && !s.nested() {
		a.presence = newPresence(ctx, s)
	}
	return a
}

// Press passes one input to the dialog or to the box.
func (a *agent) Press(in terminal.Input) {
	a.hint = ""
	if in.Key == terminal.Suspend {
		a.brain.Suspend("\nClaude Code is suspended. Run `fg` to bring it back.\nTo undo typing, press ctrl+_.\n")
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

func (a *agent) pressBox(in terminal.Input) {
	switch in.Key {
	case terminal.Text:
		a.box.insert(in.Text)
	case terminal.Paste:
		a.pasted = time.Now().UTC()
		a.box.paste(in.Text)
		a.brain.Spring()
	case terminal.Newline:
		a.box.insert("\n")
	case terminal.Enter:
		a.enter()
	case terminal.Backspace:
		a.box.backspace()
	case terminal.KillLine:
		width, _ := a.brain.Size()
		a.box.killLine(width - 3)
	case terminal.Escape:
		a.escape()
	case terminal.Interrupt:
		a.interruptKey()
	case terminal.Mode:
		a.nextMode()
	case terminal.Models:
		a.openModels()
	}
}

// escape interrupts a turn; twice it clears a draft, and on an empty box it opens a dialog.
func (a *agent) escape() {
	second := time.Since(a.lastEscape) < twice
	a.lastEscape = time.Now()
	switch {
	case a.brain.Turn() != nil:
		a.brain.Interrupt()
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
	case a.brain.Turn() != nil:
		a.brain.Interrupt()
	case !a.box.empty():
		a.box.clear()
	case second:
		a.brain.Quit(0, "prompt_input_exit")
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

// Draw updates the presence file before the screen: a reader of "waiting" may not see the dialog
// yet, never the other way round.
func (a *agent) Draw(width, height int) []string {
	if a.live && a.ready && a.presence != nil {
		status, waitingFor := a.status()
		if err := a.presence.update(a.id, status, waitingFor); err != nil {
			a.note(err)
		}
	}
	t := a.brain.Turn()
	v := view{
		width: width, height: height, cwd: a.cwd, entries: a.recent(), busy: t != nil, box: &a.box, dialog: a.dialog,
		mode: a.mode, hint: a.hint, statusLine: a.statusLine, background: len(a.subagents), unsaved: a.nested(), starting: !a.live && a.dialog != nil,
	}
	for _, p := range a.brain.Queue() {
		if p.Kind != brain.Notice {
			v.queued = append(v.queued, p.Plain)
		}
	}
	if t != nil {
		v.streaming, v.working, v.waitingHook = t.Streamed, time.Since(t.Started), a.state(t).hook
		v.shell = viewOf(t.Shell)
	}
	return v.lines()
}

func (a *agent) status() (status, waitingFor string) {
	switch {
	case a.dialog != nil && a.dialog.waitingFor() != "":
		return "waiting", a.dialog.waitingFor()
	case a.brain.Turn() != nil || len(a.subagents) > 0:
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

// Close cleans up as the real CLI does.
func (a *agent) Close(reason string) (printed string) {
	if a.live {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.brain.Context()), endTimeout)
		defer cancel()
		a.hooks.run(ctx, "SessionEnd", reason, a.payload("SessionEnd", map[string]any{"reason": reason}))
		printed = fmt.Sprintf("\nResume this session with:\n%s\n", a.options.resumeCommand(a.id))
	}
	if a.presence != nil {
		a.presence.remove()
	}
	return printed
}

// changeID starts a new id and an empty transcript, as /clear does.
func (a *agent) changeID() {
	a.id = uuid.New()
	a.transcript = a.newTranscript(a.id)
	a.transcript.mode = a.mode
	a.entries, a.promptID = nil, ""
}
