package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/clip"
	"ccbot/internal/logkey"
	"ccbot/internal/naming"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// adoption binds a session to an agent that a person started in a terminal.
type adoption struct {
	*turn
	term    *typing.Terminal
	records *records
	prompts *typing.Session
	closing *closing
	writers *writers
	host    string
}

// AdoptRequest asks to make a session of a window in which a person runs an agent.
type AdoptRequest struct {
	Agent          process.Identity
	AgentSessionID uuid.UUID // the conversation that it must be proven to write
	From           uuid.UUID // the session that has the conversation; nil: none
	// Confirmed says that a person has decided. Then the record may also be archived or completed, and
	// the agent may be one that was reported as a second writer.
	Confirmed    bool
	Conversation session.Conversation // the session's conversation in the chat, if there is no From
	Owner        int64
	Rule         session.Rule
	Why          string
	// Timeout limits the wait for the worker of From; after it the error is ErrBusy. 0: the wait
	// lasts as long as ctx.
	Timeout time.Duration
}

// adopt runs on the worker of the session that had the conversation. Without such a session it runs
// on no worker.
func (w *adoption) adopt(ctx, wait context.Context, q AdoptRequest) (session.Record, error) {
	release, err := w.agenda.holdConversation(wait, q.AgentSessionID)
	if err != nil {
		return session.Record{}, waitError(ctx, wait, err)
	}
	defer release()
	has := func(r session.Record) bool {
		return r.State.Live() && r.AgentSessionID == q.AgentSessionID && r.Agent() == q.Agent && q.Agent.Valid()
	}
	if r, ok := w.records.find(has); ok { // bound by another call, or by a call that was cut short
		return r, nil
	}
	if err := w.adoptable(q); err != nil {
		return session.Record{}, err
	}
	agent, err := w.chosen(ctx, q)
	if err != nil {
		return session.Record{}, err
	}
	if err := w.prompts.SettlePrompts(ctx); err != nil { // while the record still has the agent that they were typed to
		return session.Record{}, err
	}
	server, err := w.Panes.Server(ctx)
	if err != nil {
		return session.Record{}, fmt.Errorf("adopt: %w", err)
	}
	if q.From == uuid.Nil {
		w.r.AgentName = w.Evidence.AgentName(agent.Process)
		return w.create(ctx, q, server, agent)
	}
	return w.bindAgain(ctx, q, server, agent)
}

// waitError distinguishes a wait that took too long from one that the caller ended.
func waitError(ctx, wait context.Context, err error) error {
	if err != nil && ctx.Err() == nil && wait.Err() != nil {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}

// adoptable returns the reason why this session may not continue with another agent.
func (w *adoption) adoptable(q AdoptRequest) error {
	if q.From == uuid.Nil {
		return nil
	}
	if w.r.AgentSessionID != q.AgentSessionID {
		return ErrChanged
	}
	mayMove := session.MayMove(w.r.State, w.OwnAgent(*w.r)) || q.Confirmed && w.r.State.EndedOnPurpose()
	if !mayMove {
		return &StateError{State: w.r.State, Want: "adopted"}
	}
	return nil
}

// chosen returns the writer that the request names, if it is the only writer.
func (w *adoption) chosen(ctx context.Context, q AdoptRequest) (evidence.Writer, error) {
	found, err := w.Evidence.Settled(ctx, q.AgentSessionID)
	if err != nil {
		return evidence.Writer{}, err
	}
	var chosen, others []evidence.Writer
	for _, one := range found.Writers(ctx, *w.r) {
		if one.Identity == q.Agent {
			chosen = append(chosen, one)
		} else {
			others = append(others, one)
		}
	}
	switch {
	case len(chosen) == 0 || !chosen[0].Endable():
		return evidence.Writer{}, ErrChanged
	case len(others) > 0 && q.Confirmed:
		return evidence.Writer{}, errors.Join(&WriterError{Writers: others}, w.writers.noteUnreported(found))
	case len(others) > 0:
		return evidence.Writer{}, &WriterError{Writers: others}
	case !chosen[0].Adoptable():
		return evidence.Writer{}, ErrNoTerminal
	case q.Confirmed:
		return chosen[0], nil
	case slices.Contains(w.r.SecondWriters, q.Agent):
		return evidence.Writer{}, &WriterError{Writers: chosen}
	case chosen[0].Source == process.SourceArgv: // a command line may be out of date
		return evidence.Writer{}, ErrChanged
	}
	return chosen[0], nil
}

// create puts a session for an adopted agent on disk. ccbot has not launched the agent, so only the
// transcript proves that a prompt arrived.
func (w *adoption) create(ctx context.Context, q AdoptRequest, server tmux.ServerID, agent evidence.Writer) (session.Record, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return session.Record{}, err
	}
	now, dir := w.Now().UTC(), cmp.Or(agent.Cwd, agent.Pane.Path)
	if !folders.IsText(dir) {
		return session.Record{}, &DirError{Dir: dir, Why: DirNotText}
	}
	r := &session.Record{ID: id, Host: w.host, AgentName: w.r.AgentName, AgentSessionID: q.AgentSessionID, CreatedAt: now, Dir: dir,
		Name: clip.Runes(cmp.Or(agent.Pane.WindowName, filepath.Base(dir)), naming.MaxName), Conversation: q.Conversation, Owner: q.Owner}
	if r.Cursors, err = w.cursorsFromHere(); err != nil {
		return session.Record{}, fmt.Errorf("adopt: %w", err)
	}
	why := cmp.Or(q.Why, fmt.Sprintf("process %d writes its conversation: %s", agent.PID, agent.Why))
	(&turn{base: w.base, r: r}).bindAdopted(server, agent)
	if err := r.Become(session.Running, now, cmp.Or(q.Rule, ruleAdopt), why); err != nil {
		return session.Record{}, err
	}
	if err := w.records.createNamed(*r); err != nil {
		return session.Record{}, err
	}
	w.watchAgent(*r)
	w.agenda.wake(r.ID)
	made, _ := w.records.Get(r.ID)
	return made, (&turn{base: w.base, r: &made}).notify(ctx, news.Transcript{})
}

// bindAgain binds this session to the agent that continues its conversation, and resets the state
// of the earlier agent.
func (w *adoption) bindAgain(ctx context.Context, q AdoptRequest, server tmux.ServerID, agent evidence.Writer) (session.Record, error) {
	cursors, err := w.cursorsFromHere()
	if err != nil {
		return session.Record{}, fmt.Errorf("adopt: %w", err)
	}
	var dead tmux.Pane // holds nothing but the end of the earlier agent
	if w.r.State == session.Running {
		if w.term.Refresh(ctx); w.term.Fate == view.PaneDead && !w.r.Binding.Adopted {
			dead = w.term.Pane
		}
		w.closing.noteEnded(w.endSeen())
	}
	w.r.Cursors = cursors
	w.r.Run, w.r.Closing, w.r.LastEnd = session.Run{}, session.Closing{}, session.LastEnd{}
	w.r.HookDigest, w.r.ModeRequest, w.r.Interruption, w.r.NameDue = "", nil, nil, false
	w.r.SecondWriters = slices.DeleteFunc(w.Evidence.Living(w.r.SecondWriters), func(id process.Identity) bool { return id == agent.Identity })
	w.bindAdopted(server, agent)
	rule := cmp.Or(q.Rule, ruleAdopt)
	why := cmp.Or(q.Why, fmt.Sprintf("process %d writes its conversation: %s", agent.PID, agent.Why))
	if w.r.State == session.Running {
		w.r.Note(w.Now(), rule, why)
	} else if err := w.r.Become(session.Running, w.Now(), rule, why); err != nil {
		return session.Record{}, err
	}
	if err := w.notify(ctx, news.Transferred{ByPerson: q.Confirmed}); err != nil {
		return session.Record{}, err
	}
	if err := w.save(); err != nil {
		return session.Record{}, err
	}
	w.at("adoption-saved")
	if err := w.closing.ender.ClosePane(ctx, dead); err != nil {
		w.Log.Info("window_not_closed", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
	}
	w.forget() // it was of the earlier agent
	w.watchAgent(*w.r)
	w.agenda.wake(w.r.ID)
	return w.r.Clone(), w.notify(ctx, news.Transcript{})
}

// cursorsFromHere returns cursors that show the conversation from its present end: earlier text in
// the terminal is history. If the chat lacks text from before the session's end, it continues there
// (P5), because a second cursor of the same file would never be passed. If the session was not
// known to have ended, the whole conversation is shown.
func (w *adoption) cursorsFromHere() ([]talk.Cursor, error) {
	cursors, tail := slices.Clone(w.r.Cursors), w.r.TranscriptEnd
	if w.r.State.Live() {
		tail = math.MaxInt64
	}
	end, err := w.Observer.TranscriptEnd(*w.r, w.r.AgentSessionID)
	if errors.Is(err, fs.ErrNotExist) {
		return cursors, nil
	}
	if err != nil {
		return nil, err
	}
	if c, ok := w.r.Cursor(); ok && c.Path == end.Path {
		if w.agent().Replies.Unsaid(c, tail) {
			return cursors, nil
		}
		cursors = cursors[:len(cursors)-1]
	}
	return append(cursors, end), nil
}

// Adopt makes a session of an agent that a person runs, in the terminal where the agent runs. A
// session whose conversation it is continues there: its record is bound to that agent, in one save.
// The pane is the person's and stays theirs. If a session has that agent already, Adopt returns
// that session unchanged.
//
// Errors: ErrChanged means that the agent is no longer the proven writer; ErrNoTerminal that it
// runs where ccbot cannot type; ErrBusy that another change of From took too long; a WriterError
// that another process writes the conversation too, or that the agent was reported as a second
// writer and no person has decided; a StateError that From may not continue elsewhere.
func (s *Service) Adopt(ctx context.Context, q AdoptRequest) (adopted session.Record, err error) {
	if err := s.core.answers(ctx); err != nil { // otherwise the agent would seem to run outside of tmux
		return session.Record{}, err
	}
	wait, done := withTimeout(ctx, q.Timeout)
	defer done()
	if q.From == uuid.Nil {
		none := &session.Record{ID: uuid.New(), AgentSessionID: q.AgentSessionID}
		return s.core.work(ctx, none, func() error { return nil }).adoption.adopt(ctx, wait, q)
	}
	begun := false
	err = s.core.do(wait, q.From, func(w *work) (err error) {
		begun = true
		adopted, err = w.adoption.adopt(ctx, wait, q)
		return err
	})
	if !begun {
		err = waitError(ctx, wait, err)
	}
	return adopted, err
}

func withTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}
