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

	"ccbot/bot/port/news"
	"ccbot/internal/clip"
	"ccbot/internal/logkey"
	"ccbot/internal/naming"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle/evidence"
)

// handover gives a session's conversation, and all that belongs to it, to a new session.
type handover struct {
	*turn
	term    *terminal
	records *records
	prompts *delivery
	closing *closing
	writers *writers
	host    string
	take    func(ctx context.Context, id uuid.UUID, keys []string) error // see kit.take
}

// AdoptRequest asks to make a session of a window in which a person runs Claude Code.
type AdoptRequest struct {
	Agent  process.Identity
	Claude uuid.UUID // the conversation that it must be proven to write
	From   uuid.UUID // the record that had the conversation; nil: none
	// Asked says that a person has decided. Then the record may also be archived or completed, and
	// the agent may be one that was reported as a second writer.
	Asked        bool
	Conversation session.Conversation // where the session is shown if there is no From
	Owner        int64
	Rule         session.Rule
	Why          string
	// Patience limits the wait for the worker of From; after it the error is ErrBusy. 0: the wait
	// lasts as long as ctx.
	Patience time.Duration
}

// Adopt makes a session of an agent that a person runs, in the terminal where the agent runs. If
// the conversation belonged to a session that is over, the new session continues it: with the same
// name, the same place in the chat and the prompts that wait. The pane is the person's and stays
// theirs. If a session has that agent already, Adopt returns that session unchanged.
//
// Errors: ErrChanged means that the agent is no longer the proven writer; ErrNoTerminal that it
// runs where ccbot cannot type; ErrBusy that another change of From took too long; a WriterError
// that another process writes the conversation too, or that the agent was reported as a second
// writer and no person has decided; a StateError that From is not over; a MovedError that From has
// a successor.
func (s *Service) Adopt(ctx context.Context, q AdoptRequest) (adopted session.Record, err error) {
	if err := s.kit.answers(ctx); err != nil { // otherwise the agent would seem to run outside of tmux
		return session.Record{}, err
	}
	wait, done := patience(ctx, q.Patience)
	defer done()
	if q.From == uuid.Nil {
		none := &session.Record{ID: uuid.New(), ClaudeSessionID: q.Claude}
		return s.kit.work(none, func() error { return nil }).handover.adopt(ctx, wait, q)
	}
	begun := false
	err = s.kit.do(wait, q.From, func(w *work) (err error) {
		begun = true
		adopted, err = w.handover.adopt(ctx, wait, q)
		return err
	})
	if !begun {
		err = outOfPatience(ctx, wait, err)
	}
	return adopted, err
}

func patience(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// outOfPatience distinguishes a wait that took too long from one that the caller ended.
func outOfPatience(ctx, wait context.Context, err error) error {
	if err != nil && ctx.Err() == nil && wait.Err() != nil {
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}

// adopt runs on the worker of the session that had the conversation. Without such a session it runs
// on no worker.
func (w *handover) adopt(ctx, wait context.Context, q AdoptRequest) (session.Record, error) {
	release, err := w.agenda.holdConversation(wait, q.Claude)
	if err != nil {
		return session.Record{}, outOfPatience(ctx, wait, err)
	}
	defer release()
	has := func(r session.Record) bool {
		return r.State.Live() && r.ClaudeSessionID == q.Claude && r.Agent() == q.Agent && q.Agent.Valid()
	}
	if r, ok := w.records.find(has); ok { // bound by another call, or by a call that was cut short
		return r, w.finishTransfer(ctx, r)
	}
	if err := w.adoptable(q); err != nil {
		return session.Record{}, err
	}
	agent, err := w.chosen(ctx, q)
	if err != nil {
		return session.Record{}, err
	}
	if err := w.prompts.settlePrompts(ctx); err != nil { // while the record still has the agent that they were typed to
		return session.Record{}, err
	}
	target, err := w.target(ctx, q, agent)
	if err != nil {
		return session.Record{}, fmt.Errorf("adopt: %w", err)
	}
	return w.create(ctx, target, q.Asked)
}

// adoptable says why no other session may continue the conversation of this session.
func (w *handover) adoptable(q AdoptRequest) error {
	if q.From == uuid.Nil {
		return nil
	}
	if to, moved := session.Successor(w.records.Shared(), w.r.ID); moved {
		return &MovedError{To: to.ID}
	}
	if w.r.ClaudeSessionID != q.Claude {
		return ErrChanged
	}
	mayMove := w.r.State.MayMove(w.ownAgent(*w.r)) || q.Asked && w.r.State.EndedOnPurpose()
	if w.r.HandedOver() || !mayMove { // it was handed over to a session that was purged since
		return &StateError{State: w.r.State, Want: "adopted"}
	}
	return nil
}

// chosen returns the writer that the request names, if it is the only writer.
func (w *handover) chosen(ctx context.Context, q AdoptRequest) (evidence.Writer, error) {
	found, err := w.Evidence.Settled(ctx, q.Claude)
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
	case len(others) > 0 && q.Asked:
		return evidence.Writer{}, errors.Join(&WriterError{Writers: others}, w.writers.noteShown(found))
	case len(others) > 0:
		return evidence.Writer{}, &WriterError{Writers: others}
	case !chosen[0].InTmux:
		return evidence.Writer{}, ErrNoTerminal
	case q.Asked:
		return chosen[0], nil
	case slices.Contains(w.r.Seconds, q.Agent):
		return evidence.Writer{}, &WriterError{Writers: chosen}
	case chosen[0].Source == process.SourceArgv: // a command line may be out of date
		return evidence.Writer{}, ErrChanged
	}
	return chosen[0], nil
}

// target builds the record of the session that an agent becomes.
func (w *handover) target(ctx context.Context, q AdoptRequest, agent evidence.Writer) (*session.Record, error) {
	server, err := w.Panes.Server(ctx)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, err
	}
	now := w.Now().UTC()
	// The agent has no launch settings of ccbot: only the transcript proves that a prompt arrived.
	t := &session.Record{ID: id, Host: w.host, ClaudeSessionID: q.Claude, CreatedAt: now, Run: session.Run{StartedAt: now, ReadyAt: now}, Since: w.moment()}
	if q.From != uuid.Nil {
		w.bequeath(t, q.Agent)
	} else {
		t.Dir = cmp.Or(agent.Cwd, agent.Pane.Path)
		t.Name = clip.Runes(cmp.Or(agent.Pane.WindowName, filepath.Base(t.Dir)), naming.MaxName)
		t.Conversation, t.Owner = q.Conversation, q.Owner
	}
	if t.Cursors, err = w.cursorsFromHere(); err != nil {
		return nil, err
	}
	(&turn{base: w.base, r: t}).bindTo(server, agent.Pane, agent.Identity)
	t.Binding.Adopted, t.Binding.Command = true, agent.Pane.Command
	if agent.Pane.PID != agent.PID {
		t.Binding.Shell = agent.Pane.PID
	}
	why := cmp.Or(q.Why, fmt.Sprintf("process %d writes its conversation: %s", agent.PID, agent.Why))
	return t, t.Become(session.Running, now, cmp.Or(q.Rule, ruleAdopt), why)
}

// cursorsFromHere returns cursors that show the conversation from its present end on: what was said
// in the terminal before is history. If the chat has not yet shown everything from before the
// session's end, it continues there (P5), because a second cursor of the same file would never be
// passed. If the session was not known to be over, all of the conversation is shown.
func (w *handover) cursorsFromHere() ([]transcript.Cursor, error) {
	cursors, tail := slices.Clone(w.r.Cursors), w.r.Tail
	if w.r.State.Live() {
		tail = math.MaxInt64
	}
	end, err := transcript.EndOf(w.Observer.ProjectsDir, w.r.ClaudeSessionID)
	if errors.Is(err, fs.ErrNotExist) {
		return cursors, nil
	}
	if err != nil {
		return nil, err
	}
	if c, ok := w.r.Cursor(); ok && c.Path == end.Path {
		if c.Unsaid(tail) {
			return cursors, nil
		}
		cursors = cursors[:len(cursors)-1]
	}
	return append(cursors, end), nil
}

// keepUp follows an adopted agent into another conversation, after /clear or an in-TUI /resume. An
// adopted agent has no launch settings of ccbot, so no hook reports the change.
func (w *work) keepUp(ctx context.Context) error {
	id := w.term.State.Conversation
	here := w.r.State == session.Running && w.term.Adopted
	if !here || id == uuid.Nil || id == w.r.ClaudeSessionID {
		return nil
	}
	last, followed := w.r.Cursor()
	w.followTo(id)
	end, err := transcript.EndOf(w.Observer.ProjectsDir, id)
	switch {
	case err == nil: // a conversation that existed before: what was said there is history
		w.r.Cursors = append(w.r.Cursors, end)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("keep up: %w", err)
	case followed: // Claude Code makes the file at the first prompt, beside the previous file
		w.r.Cursors = append(w.r.Cursors, transcript.Cursor{Path: filepath.Join(filepath.Dir(last.Path), id.String()+".jsonl")})
	}
	return w.saveAndFollow(ctx)
}

// bequeath copies to a new record what this session passes on. The new record must be complete,
// because it is written only once, with everything.
func (w *handover) bequeath(t *session.Record, agent process.Identity) {
	w.keepUsage() // while the binding still says to which agent the usage belongs
	from := w.r.Clone()
	t.TookOver = from.ID
	t.Name, t.NamedBy, t.FormerNames = from.Name, from.NamedBy, from.FormerNames
	t.Dir, t.Conversation, t.Owner = from.Dir, from.Conversation, from.Owner
	t.EarlierClaudeIDs, t.ForkOf = from.EarlierClaudeIDs, from.ForkOf
	t.Prompts = from.Prompts
	t.Launch, t.Progress, t.Usage, t.GitStart, t.GitNow = from.Launch, from.Progress, from.Usage, from.GitStart, from.GitNow
	t.Seconds = slices.DeleteFunc(w.Evidence.Living(from.Seconds), func(id process.Identity) bool { return id == agent })
}

// create puts a session for an adopted agent on disk, and hands over to it. From the save on the
// new session exists, even if a crash or an error follows.
func (w *handover) create(ctx context.Context, t *session.Record, asked bool) (session.Record, error) {
	steps := w.agenda.holdSteps(t.ID) // nothing is typed while the prompts still belong to the other session
	defer steps()
	var err error
	if t.TookOver != uuid.Nil {
		err = w.records.Create(*t) // the name is taken over, too
	} else {
		err = w.records.createNamed(*t)
	}
	if err != nil {
		return session.Record{}, err
	}
	r, _ := w.records.Get(t.ID)
	w.at("target-recorded")
	w.watchAgent(r)
	w.agenda.wake(r.ID)
	if r.TookOver != uuid.Nil {
		if err := w.handOver(ctx, r, asked); err != nil {
			return r, err
		}
	}
	return r, w.tell(ctx, r, news.Transcript{})
}

// handOver hands over to the successor what this session still has, and closes this session. The
// prompts come first, so that after a crash at any point each prompt belongs to exactly one of the
// two.
func (w *handover) handOver(ctx context.Context, to session.Record, asked bool) error {
	var moved []string
	for _, key := range w.r.Prompts {
		p, err := w.prompts.Prompts.Prompt(key)
		if err == nil && p.Session != uuid.Nil && p.Session != w.r.ID && p.Session != to.ID {
			continue // the prompt is in the queue of a third session
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.Log.Error("prompt_unreadable", logkey.Key, key, logkey.Error, err)
			moved = append(moved, key) // an unreadable prompt must not prevent the handover
			continue
		}
		err = w.prompts.Prompts.MovePrompt(key, to.ID)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the prompt is finished
		}
		if err != nil {
			return fmt.Errorf("transfer session %s: %w", w.r.ID, err)
		}
		moved = append(moved, key)
	}
	if err := w.take(ctx, to.ID, moved); err != nil {
		return fmt.Errorf("transfer session %s: %w", w.r.ID, err)
	}
	w.at("prompts-moved")
	if err := w.closeMoved(ctx, to); err != nil {
		return err
	}
	if err := w.tell(ctx, to, news.Transferred{From: w.r.ID, Asked: asked}); err != nil {
		return err
	}
	if err := w.save(); err != nil {
		return err
	}
	w.at("source-closed")
	return w.tell(ctx, *w.r, news.Transcript{})
}

// take appends prompts to another session's queue if they are missing there: they were accepted
// after the record of that session was written.
func (k *kit) take(ctx context.Context, id uuid.UUID, keys []string) error {
	r, ok := k.Store.Get(id)
	if !ok || !slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(r.Prompts, key) }) {
		return nil
	}
	return k.change(ctx, id, func(w *work) error { return w.prompts.enqueue(keys...) })
}

// closeMoved closes the record in memory, and the dead pane of the session, if there is one: it is
// no longer needed.
func (w *handover) closeMoved(ctx context.Context, to session.Record) error {
	rule, why := w.records.madeBy(to.ID)
	why = fmt.Sprintf("session %s goes on with its conversation: %s", to.ID, why)
	if w.r.State == session.Running {
		if w.term.look(ctx); w.term.Fate == PaneDead {
			if err := w.closing.closeOwn(ctx); err != nil {
				w.Log.Info("window_not_closed", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
			}
		}
		if err := w.r.Become(session.Lost, w.Now(), rule, why); err != nil {
			return err
		}
		w.closing.over(w.endSeen())
	} else {
		w.r.Note(w.Now(), rule, why)
	}
	w.r.Closed, w.r.Unreported = session.ClosedTransferred, false
	w.r.Binding, w.r.Cleanup, w.r.Haunted = nil, nil, false
	w.r.Prompts, w.r.Cursors, w.r.Seconds = nil, nil, nil
	return nil
}

// TidyTransfer finishes an Adopt that was interrupted: the record that the target took over from is
// closed, and its prompts go to the target. Calling it again does nothing.
func (s *Service) TidyTransfer(ctx context.Context, target uuid.UUID) error {
	return s.kit.tidyTransfer(ctx, target)
}

func (k *kit) tidyTransfer(ctx context.Context, target uuid.UUID) error {
	t, ok := k.Store.Get(target)
	if !ok {
		return fmt.Errorf("tidy the transfer to session %s: %w", target, session.ErrNotFound)
	}
	if _, ok := k.source(t); !ok {
		return nil // the target took over from no session, or that session was purged
	}
	err := k.do(ctx, t.TookOver, func(w *work) error { return w.handover.finishTransfer(ctx, t) })
	if errors.Is(err, session.ErrNotFound) {
		return nil // the record was purged a moment ago
	}
	return err
}

// finishTransfer closes this session for its successor, unless that has been done.
func (w *handover) finishTransfer(ctx context.Context, to session.Record) error {
	if to.TookOver != w.r.ID || w.r.TransferDone() {
		return nil
	}
	if w.r.State.MayRun(w.ownAgent(*w.r)) {
		return &StateError{State: w.r.State, Want: "closed"}
	}
	return w.handOver(ctx, to, false)
}
