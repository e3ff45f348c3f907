package view

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/clip"
	"ccbot/internal/git"
	"ccbot/internal/health"
	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/suspect"
	"ccbot/internal/wording"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// Observer looks at one session at a time: at its pane, at its agent, and at what they have
// written. It changes nothing.
type Observer struct {
	Panes     PaneReader
	Screens   Screens // nil: no screen is checked
	Processes Processes
	Relays    Relays // nil: none
	// Status returns what the last status line of a launch said, fs.ErrNotExist if there was none.
	// It may be nil.
	Status func(recordID uuid.UUID) (hookwire.Status, error)
	// Rows returns the last outputs of the person's status line command in a launch; it may be nil.
	Rows func(recordID uuid.UUID) []string
	// Git returns the state of the repository that contains a directory, nil if there is none. It
	// may be nil, and a call may take long.
	Git    func(ctx context.Context, dir string) (*git.State, error)
	Agents agent.Agents
	// Unread returns the transcripts that are left unread, because their read has ended ccbot; nil:
	// none.
	Unread func() []string
	Now    func() time.Time
	Log    *slog.Logger

	words  sync.Map // health.Word: those that are logged
	silent sync.Map // uuid.UUID: the sessions whose agent did not answer the last look
}

// IsSilent reports whether the agent of a session did not answer the last look, such as a server of
// Codex that is stopped.
func (o *Observer) IsSilent(id uuid.UUID) bool {
	_, is := o.silent.Load(id)
	return is
}

// silentAfter is longer than an agent that works needs for an answer.
const silentAfter = 2 * time.Second

// noteAnswer notes whether an agent has answered in the time that was spent. One whose socket takes no connection never answers.
func (o *Observer) noteAnswer(ctx context.Context, id uuid.UUID, spent time.Duration, err error) {
	_, cut := errors.AsType[*net.OpError](err)
	switch {
	case err != nil && (spent >= silentAfter || cut && ctx.Err() == nil):
		o.silent.Store(id, true)
	case err != nil && ctx.Err() != nil: // the look was too short to know
	default:
		o.silent.Delete(id)
	}
}

// Words returns the words of agents that ccbot does not know, since its start.
func (o *Observer) Words() (all []health.Word) {
	for word := range o.words.Range {
		all = append(all, word.(health.Word))
	}
	slices.SortFunc(all, health.Word.Compare)
	return all
}

// noteWord logs a word of an agent that ccbot does not know, once.
func (o *Observer) noteWord(product, version, word string) {
	w := health.Word{Agent: product, Version: clip.Runes(version, maxWord), Word: word}
	if _, known := o.words.LoadOrStore(w, true); !known {
		o.Log.Warn("agent_word_unknown", logkey.Agent, w.Agent, logkey.Version, w.Version, logkey.Word, w.Word)
	}
}

// View looks at the session's pane and agent.
func (o *Observer) View(ctx context.Context, r session.Record) View {
	by := o.Agents.Of(r.AgentName)
	v := View{Now: o.Now(), Reader: by.Reader, ByCall: by.Delivery != nil, ByHook: by.Asks != nil, ByServer: by.Requests != nil, Pursues: r.Progress.Pursues}
	if r.Binding == nil {
		return v
	}
	if v.Adopted = r.Binding.Adopted; o.IsUnread(r) { // unknown: nothing is concluded, ended or typed
		return v
	}
	b := *r.Binding
	v.Agent, v.Half = evidence.AgentOf(b, o.Processes.Liveness(b.Agent), o.Processes.Liveness)
	if v.Agent == process.Alive {
		asked := o.Now()
		f, err := by.Presence(ctx, b.Writer().PID)
		o.noteAnswer(ctx, r.ID, o.Now().Sub(asked), err)
		if v.State = StateOf(b.Writer(), f, err); v.State.Word != "" {
			o.noteWord(by.Product, f.Version, v.State.Word)
		}
	}
	// It comes after the presence file: that one is a little ahead of the screen.
	look := o.readPane(ctx, b)
	v.Fate, v.Pane, v.Silent = look.fate, look.pane, look.silent
	text, shown := look.screen, look.shown
	if !r.Binding.Agent.Valid() && v.Fate != PaneUnknown && v.Fate != PaneOurs {
		v.Agent = process.Gone // it had ended before it could be identified
	}
	v.InBackground = !o.IsInFront(b)
	o.readRequests(ctx, r, &v)
	// Otherwise the screen may show a shell, or belong to another process.
	if shown && v.Fate == PaneDead {
		var err error
		text, err = o.Screens.Capture(ctx, v.Pane.ID, screenLines) // tmux scrolls a dead pane to say that it is dead
		shown = err == nil
	}
	shown = shown && len(text) <= maxScreen && (v.Fate == PaneDead || v.Fate == PaneOurs && !v.InBackground)
	if shown { // without a capture nothing is typed
		v.Screen, v.Styled, v.Captured = o.read(r, text), text, true
	}
	v.HooksShut = by.HooksShut != nil && asksPermission(v) && by.HooksShut() // it reads files
	return v
}

// read parses a screen, without the person's status line if that could be mistaken for something
// else.
func (o *Observer) read(r session.Record, text string) agent.Screen {
	reader := o.Agents.Of(r.AgentName).Reader
	if o.Rows == nil || r.Binding.Adopted { // the rows are of an agent that ccbot launched
		return reader.Read(text)
	}
	return reader.Read(text, o.Rows(r.ID)...)
}

// boundPane is one reading of the bound pane.
type boundPane struct {
	fate   PaneFate
	pane   tmux.Pane // valid with PaneOurs and PaneDead
	screen string    // valid if shown
	shown  bool
	silent bool // tmux did not answer
}

// readPane reads the bound pane and its content. A pane id proves nothing by itself: the tmux
// server and the pane's process must also match the binding.
func (o *Observer) readPane(ctx context.Context, b session.Binding) (look boundPane) {
	boot := o.Processes.Self().Boot
	absent := func() boundPane { // no server of the binding listens on the socket
		fate := FateOf(b, process.No, o.Processes.Liveness(ServerOf(b, boot)) == process.Gone, nil)
		return boundPane{fate: fate, silent: fate == PaneUnknown}
	}
	server, err := o.Panes.Server(ctx)
	switch {
	case errors.Is(err, tmux.ErrNoServer):
		return absent()
	case err != nil:
		return boundPane{silent: true}
	}
	same := SameServer(server, boot, b)
	id, err := tmux.ParsePaneID(b.Pane)
	switch {
	case same == process.No:
		return absent()
	case same == process.Maybe || err != nil: // the second case: a file that was edited, no pane has such an id
		return boundPane{fate: FateOf(b, same, false, nil)}
	}
	p := &look.pane
	if o.Screens == nil {
		*p, err = o.Panes.Pane(ctx, id)
	} else {
		*p, look.screen, look.shown, err = o.Screens.PaneAndScreen(ctx, id)
	}
	switch {
	case errors.Is(err, tmux.ErrNoPane):
		p = nil
	case errors.Is(err, tmux.ErrNoServer):
		return absent()
	case err != nil:
		return boundPane{silent: true}
	}
	if look.fate = FateOf(b, same, false, p); look.fate != PaneOurs && look.fate != PaneDead {
		return boundPane{fate: look.fate} // ccbot neither reads nor closes another pane
	}
	return look
}

// BoundPane returns the fate of the bound pane, and the pane. The pane is valid with PaneOurs and
// PaneDead.
func (o *Observer) BoundPane(ctx context.Context, b session.Binding) (PaneFate, tmux.Pane) {
	look := o.readPane(ctx, b)
	return look.fate, look.pane
}

// FateOf returns the fate of a bound pane. same reports whether the tmux server that was asked is
// the binding's, and gone whether the binding's server is proven to have ended. A missing socket
// proves nothing, and neither does another server that listens on it. p is the pane with the
// binding's id, nil if that server has none. It is pure.
func FateOf(b session.Binding, same process.Answer, gone bool, p *tmux.Pane) PaneFate {
	switch {
	case same == process.No && gone:
		return PaneGone
	case same != process.Yes:
		return PaneUnknown
	case p == nil:
		return PaneGone
	case p.PID != b.PanePID():
		return PaneForeign // the pane belongs to the person who respawned it
	case p.Dead:
		return PaneDead
	}
	return PaneOurs
}

// IsInFront reports whether keys would reach the bound agent, as far as the kernel knows. In an
// adopted pane they could reach the shell or a program that runs in it, and next to an agent with
// two processes another one of them: there the bound process must be in the foreground of the
// terminal. In any other pane tmux itself checks the process.
func (o *Observer) IsInFront(b session.Binding) bool {
	if !b.Adopted && !b.AgentServer.Valid() {
		return true
	}
	p, err := o.Processes.Inspect(b.Agent.PID)
	return err == nil && p.Identity == b.Agent && p.TTY != 0 && p.PGID == p.Foreground
}

// Usage returns what the last status line of the bound agent said; nil means that this is unknown.
func (o *Observer) Usage(r session.Record) *port.Usage {
	if o.Status == nil || r.Binding == nil {
		return nil
	}
	st, err := o.Status(r.ID)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			o.Log.Debug("status_unreadable", logkey.SessionID, r.ID.String(), logkey.Error, err)
		}
		return nil
	}
	if !r.HasAgent(process.Identity{PID: st.AgentPID, Start: st.AgentStart, Boot: st.Boot}) {
		return nil // the status line is of a previous launch, or of a nested agent
	}
	return &port.Usage{Model: st.Model, Context: st.ContextPercent, Cost: st.CostUSD, At: st.At.UTC()}
}

// TranscriptPath is the file in which the session's conversation is written; empty if nothing was
// ever said.
func (o *Observer) TranscriptPath(r session.Record) string {
	files := o.Agents.Of(r.AgentName).Transcripts
	if c, ok := r.Cursor(); ok && files.Sibling(c.Path, r.AgentSessionID) == c.Path {
		return c.Path
	}
	path, _ := files.Find(r.AgentSessionID) // a missing file has not grown, so the error does not matter
	return path
}

// IsUnread reports whether a transcript of the session is left unread.
func (o *Observer) IsUnread(r session.Record) bool { return len(o.UnreadOf(r)) > 0 }

// UnreadOf returns the transcripts of a session that are left unread. Nothing is known of such a
// session.
func (o *Observer) UnreadOf(r session.Record) (paths []string) {
	if o.Unread == nil {
		return nil
	}
	unread := o.Unread()
	if len(unread) == 0 {
		return nil
	}
	paths = []string{o.TranscriptPath(r)}
	for _, c := range r.Cursors {
		paths = append(paths, c.Path)
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !slices.Contains(unread, path) })
}

// CheckUnread returns a refusal if a transcript of the session is left unread.
func (o *Observer) CheckUnread(r session.Record) error {
	if paths := o.UnreadOf(r); len(paths) > 0 {
		return &refusal.Error{Code: refusal.Unread, Dir: paths[0], Err: suspect.ErrUnread}
	}
	return nil
}

// TranscriptSize returns the bytes of the session's transcript: 0 if there is none, math.MaxInt64
// if the size is unknown.
func (o *Observer) TranscriptSize(r session.Record) int64 {
	info, err := os.Stat(o.TranscriptPath(r))
	switch {
	case err == nil:
		return info.Size()
	case errors.Is(err, fs.ErrNotExist):
		return 0
	}
	return math.MaxInt64 // unknown: with this size, nothing counts as growth
}

// readRequests notes which permission requests of the session's agent wait in the chat. A
// subagent's request is noted separately: its dialog is drawn only after its hook has ended, so the
// request shows nothing about the terminal.
func (o *Observer) readRequests(ctx context.Context, r session.Record, v *View) {
	if o.Relays == nil {
		return
	}
	for _, q := range o.Relays.Waiting(ctx, r.ID) {
		switch {
		case !r.HasAgent(process.ParseIdentity(q.Agent)): // a request of an earlier launch: its hook outlived that agent
		case q.SubagentID != "":
			v.SubagentTool = cmp.Or(v.SubagentTool, q.Tool)
		default:
			if q.RequestedAt.After(v.RequestedAt) || !v.Relayed {
				v.Relayed, v.RequestedAt, v.Tool = true, q.RequestedAt, q.Tool
			}
		}
	}
}

// SameServer reports whether a tmux server is the binding's. Every new server starts its ids again.
// The answer is Maybe if boot, which names the clock of s.Start, is of another clock than the
// binding.
func SameServer(s tmux.ServerID, boot string, b session.Binding) process.Answer {
	switch {
	case s.PID != b.Server.PID:
		return process.No
	case process.OtherClock(b.Agent.Boot, boot):
		return process.Maybe
	case s.Start != b.Server.Start:
		return process.No
	}
	return process.Yes
}

// ServerOf returns the process of a binding's tmux server. An agent that ended before it was
// identified has no boot; its binding is then of this one.
func ServerOf(b session.Binding, boot string) process.Identity {
	return process.Identity{PID: b.Server.PID, Start: b.Server.Start, Boot: cmp.Or(b.Agent.Boot, boot)}
}

// screenLines is the number of lines that scrolled off a dead pane are kept with its screen.
const screenLines = 40

// maxScreen is the number of bytes of a screen are read. It is many times what any terminal shows;
// a pane can be made so large that its cells would not fit into memory.
const maxScreen = 1 << 20

// Moment returns the present time on the kernel's clock. If the clock cannot be read, it is zero:
// with that, no process counts as a leftover.
func (o *Observer) Moment() process.Moment {
	now, err := o.Processes.Moment()
	if err != nil {
		o.Log.Warn("clock_unreadable", logkey.Error, err)
		return process.Moment{}
	}
	return now
}

// OwnAgent reports whether a session's agent lives. An agent that ended before it could be
// identified, or that never was, is gone.
func (o *Observer) OwnAgent(r session.Record) process.Liveness {
	if !r.Agent().Valid() {
		return process.Gone
	}
	return o.Processes.Liveness(r.Agent())
}

// TranscriptEnd returns the end of the transcript of a conversation with the session's agent.
func (o *Observer) TranscriptEnd(r session.Record, conversation uuid.UUID) (talk.Cursor, error) {
	files := o.Agents.Of(r.AgentName).Transcripts
	path, err := files.Find(conversation)
	if err != nil {
		return talk.Cursor{}, err
	}
	return files.End(path)
}

// HasTranscript reports whether a conversation with the session's agent has a transcript.
func (o *Observer) HasTranscript(r session.Record, conversation uuid.UUID) (bool, error) {
	_, err := o.Agents.Of(r.AgentName).Transcripts.Find(conversation)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// ReadGit returns the state of a session's repository; known is false if git gave no answer.
func (o *Observer) ReadGit(ctx context.Context, r session.Record) (state *git.State, known bool) {
	if o.Git == nil {
		return nil, false
	}
	state, err := o.Git(ctx, r.Folder())
	if err != nil {
		o.Log.Debug("git_unknown", logkey.SessionID, r.ID.String(), logkey.Error, err)
		return nil, false
	}
	return state, true
}

// HasGrown reports whether the conversation of an ended session has grown without a report. If the
// session is not proven to have ended, its own agent may write.
func (o *Observer) HasGrown(r session.Record, known int64) bool {
	unknown := r.TranscriptEnd == 0 && !r.EndedMoment.Valid() // no position was noted at its end
	if !r.State.HasEnded() || r.GrowthReported || unknown {
		return false
	}
	path := o.TranscriptPath(r)
	info, err := os.Stat(path)
	if err != nil || info.Size() <= known {
		return false
	}
	grew, err := o.Agents.Of(r.AgentName).Proof.Grew(path, known)
	if err != nil {
		o.Log.Warn("transcript_unreadable", logkey.Path, wording.Path(path), logkey.Error, err)
	}
	return grew
}
