package chattest

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// fakeSessions calls the functions of a test. Without one it succeeds; Move, Rename and Advance
// change the record as lifecycle does.
type fakeSessions struct {
	*gate
	Answerers []talk.Answerer
	log
	records        *fakeRecords
	entries        *fakeEntries
	events         chan string
	deliver        func(ctx context.Context)
	Starts         []port.Start // all requests
	OnStart        func(q port.Start) (session.Record, error)
	OnRestore      func(id uuid.UUID) (session.Record, error)
	ByWindow       bool            // Attach names the window, as the real one does
	Leftovers      []ending.Ending // that a restore ends first
	OnArchive      func(id uuid.UUID) error
	OnArchiveQuiet func(id uuid.UUID, q port.Silence) error
	Doing          map[uuid.UUID]view.Status // the activity of a session; of others it is OnLook
	OnForget       func(id uuid.UUID) error
	AllGone        map[uuid.UUID]bool // sessions of which no process can be alive
	OnWriters      func(id uuid.UUID) ([]evidence.Writer, error)
	Ends           func(who []process.Identity) ([]ending.Ending, error)
	OnAdopt        func(q lifecycle.AdoptRequest) error
	Shell          int // below which an adopted agent runs
	OnReported     func(id uuid.UUID) error
	OnQueue        func(id uuid.UUID, key string) error
	Offered        map[string]talk.Offer // the last offer of each prompt
	OnToFront      func(key string) error
	Decide         func(id uuid.UUID, key string) error // SendAgain, SendAnyway and Drop
	OnReword       func(key, text string) error
	OnIdleAfter    func(id uuid.UUID) error
	OnMove         func(id uuid.UUID, to session.Conversation) error
	OnRename       func(id uuid.UUID, name string) error
	OnEndTurn      func(id uuid.UUID) error
	OnInterrupt    func(id uuid.UUID) (reported bool, err error)
	OnLook         view.Status
	Rounds         int   // calls of a check, of one session or of several
	Looked         int   // checked sessions
	Processes      []int // of each agent
	OnAdvance      func(id uuid.UUID, c talk.Cursor) error
	Late           bool // records do not show the positions that they get
	Busy           bool // with an end: Advance waits as long as it may
	OnWithdraw     func(id uuid.UUID, key string) error
	OnSendNow      func(id uuid.UUID, key string) (reported bool, err error)
	OnDialog       port.Dialog // the terminal's content
	DialogErr      error       // why it cannot be seen
	OnPress        func(mark string) (port.Dialog, error)
	screens
	OnOutput func() port.Output
	OnModes  port.ModeState
	ModesErr error // of Switch
}

// gate is the way to the agents' machine, which a test shuts. Facts about sessions are on this side
// of it: package views waits for nothing.
type gate struct {
	mu     sync.Mutex
	hangs  chan struct{} // each call waits for its end; nil: none does
	closed bool          // each call is a mistake
}

// wait keeps a call until the machine answers.
func (g *gate) wait() {
	g.mu.Lock()
	hangs, closed := g.hangs, g.closed
	g.mu.Unlock()
	if closed {
		panic("a port is called")
	}
	if hangs != nil {
		<-hangs
	}
}

func (g *gate) set(hangs chan struct{}, closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hangs, g.closed = hangs, closed
}

func (f *fakeSessions) Start(_ context.Context, q port.Start) (session.Record, error) {
	f.wait()
	f.Add("start %q in %s", q.Name, q.Dir)
	if q.ForkOf != uuid.Nil {
		f.Add("fork of %s", q.ForkOf)
	}
	f.Starts = append(f.Starts, q)
	if f.OnStart != nil {
		return f.OnStart(q)
	}
	r := session.Record{ID: uuid.New(), Name: q.Name, Dir: q.Dir, State: session.Starting, Conversation: q.Conversation,
		Owner: q.Owner, Origin: q.Origin, AgentName: q.Agent}
	f.records.Put(r)
	return r, nil
}

func (f *fakeSessions) Restore(_ context.Context, q port.Restore) (lifecycle.Restored, error) {
	f.wait()
	line := "restore " + q.Session.String()
	if q.Dir != "" {
		line += " in " + q.Dir
	}
	if q.Damaged != "" {
		line += " as " + string(q.Damaged)
	}
	f.Add("%s", line)
	if f.OnRestore != nil {
		r, err := f.OnRestore(q.Session)
		return lifecycle.Restored{Record: r, Ended: f.Leftovers}, err
	}
	if r, _ := f.records.Get(q.Session); !r.State.HasEnded() && !r.Interrupted() && r.State != session.Lost {
		return lifecycle.Restored{Record: r}, Deep(&lifecycle.StateError{State: r.State, Want: "resumed"})
	}
	f.records.Change(q.Session, func(r *session.Record) {
		r.State = session.Restoring
		r.Dir = cmp.Or(q.Dir, r.Dir)
	})
	r, _ := f.records.Get(q.Session)
	return lifecycle.Restored{Record: r, Ended: f.Leftovers}, nil
}

func (f *fakeSessions) Writers(_ context.Context, id uuid.UUID) ([]evidence.Writer, error) {
	f.wait()
	if f.OnWriters != nil {
		return f.OnWriters(id)
	}
	return nil, nil
}

func (f *fakeSessions) EndWriters(_ context.Context, id uuid.UUID, who []process.Identity) ([]ending.Ending, error) {
	f.wait()
	f.Add("end %v of %s", who, id)
	if f.Ends != nil {
		return f.Ends(who)
	}
	var ended []ending.Ending
	for _, one := range who {
		ended = append(ended, ending.Ending{Outcome: process.Outcome{Process: process.Process{Identity: one},
			How: process.HowTerm, Ended: true, Verified: true}})
	}
	return ended, nil
}

// Adopt binds the session to the agent, or makes one for it.
func (f *fakeSessions) Adopt(_ context.Context, q lifecycle.AdoptRequest) (session.Record, error) {
	f.wait()
	f.Add("adopt %s from %s", q.Agent, q.From)
	if f.OnAdopt != nil {
		if err := f.OnAdopt(q); err != nil {
			return session.Record{}, err
		}
	}
	r := session.Record{ID: uuid.New(), AgentSessionID: q.AgentSessionID, Name: "mine", Conversation: q.Conversation, Owner: q.Owner}
	if from, ok := f.records.Get(q.From); ok {
		r = from
	}
	r.State, r.CreatedAt = session.Running, Started.Add(24*time.Hour)
	r.Binding = &session.Binding{Adopted: true, Shell: f.Shell, Window: "@4"}
	f.records.Put(r)
	return r, nil
}

func (f *fakeSessions) Reported(_ context.Context, id uuid.UUID) error {
	f.wait()
	f.Add("reported %s", id)
	if f.OnReported != nil {
		return f.OnReported(id)
	}
	f.records.Change(id, func(r *session.Record) { r.Unreported = false })
	return nil
}

func (f *fakeSessions) Archive(_ context.Context, id uuid.UUID, final session.State, _ port.Cause) error {
	f.wait()
	f.Add("archive %s as %s", id, final)
	if f.OnArchive != nil {
		return f.OnArchive(id)
	}
	return nil
}

// BeginEnd ends a session at once.
func (f *fakeSessions) BeginEnd(ctx context.Context, id uuid.UUID, final session.State, why port.Cause) error {
	return f.Archive(ctx, id, final, why)
}

func (f *fakeSessions) ArchiveQuiet(_ context.Context, id uuid.UUID, q port.Silence) error {
	f.wait()
	f.Add("archive %s when quiet", id)
	if f.OnArchiveQuiet != nil {
		return f.OnArchiveQuiet(id, q)
	}
	return nil
}

func (f *fakeSessions) Queue(_ context.Context, id uuid.UUID, o talk.Offer) error {
	f.wait()
	f.Add("queue %s for %s", o.Key, id)
	f.note(o)
	return f.hold(id, o.Key)
}

func (f *fakeSessions) note(o talk.Offer) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if f.Offered == nil {
		f.Offered = make(map[string]talk.Offer)
	}
	f.Offered[o.Key] = o
}

// hold has the inbox hold a prompt, as lifecycle does when the record is written.
func (f *fakeSessions) hold(id uuid.UUID, key string) error {
	if f.OnQueue != nil {
		if err := f.OnQueue(id, key); err != nil {
			return err
		}
	}
	if r, ok := f.records.Get(id); ok && !slices.Contains(r.Prompts, key) {
		f.records.Change(id, func(r *session.Record) { r.Prompts = append(r.Prompts, key) })
	}
	return f.entries.Change(key, func(e *inbox.Entry) error {
		if e.State == inbox.Typing {
			return typing.ErrNoPrompt
		}
		e.State, e.Session, e.Reported = inbox.Held, id, nil
		return nil
	})
}

func (f *fakeSessions) Keep(_ context.Context, id uuid.UUID, o talk.Offer) error {
	f.wait()
	f.Add("keep %s for %s", o.Key, id)
	f.note(o)
	return f.hold(id, o.Key)
}

func (f *fakeSessions) SendAgain(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.Add("send again %s for %s", key, id)
	if f.Decide != nil {
		return f.Decide(id, key)
	}
	return nil
}

func (f *fakeSessions) LeaveView(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.Add("leave view for %s for %s", key, id)
	if f.Decide != nil {
		return f.Decide(id, key)
	}
	return nil
}

func (f *fakeSessions) SendAnyway(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.Add("send anyway %s for %s", key, id)
	if f.Decide != nil {
		return f.Decide(id, key)
	}
	return nil
}

func (f *fakeSessions) Drop(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.Add("drop %s for %s", key, id)
	if f.Decide != nil {
		return f.Decide(id, key)
	}
	return nil
}

func (f *fakeSessions) Move(_ context.Context, id uuid.UUID, to session.Conversation, since port.MoveSince) error {
	f.wait()
	f.Add("move %s to %d", id, to.ChatID)
	if f.OnMove != nil {
		return f.OnMove(id, to)
	}
	f.records.Change(id, func(r *session.Record) {
		if r.Next = (session.Conversation{}); since == port.AtOnce || r.Phase != string(talk.PhaseWorking) {
			r.Conversation = to
		} else if to != r.Conversation {
			r.Next = to
		}
	})
	return nil
}

func (f *fakeSessions) Rename(_ context.Context, id uuid.UUID, name string) error {
	f.wait()
	f.Add("rename %s to %s", id, name)
	if f.OnRename != nil {
		return f.OnRename(id, name)
	}
	f.records.Change(id, func(r *session.Record) { r.Rename(name, "") })
	return nil
}

func (f *fakeSessions) Interrupt(_ context.Context, id uuid.UUID) (reported bool, err error) {
	f.wait()
	f.Add("interrupt %s", id)
	if f.OnInterrupt != nil {
		return f.OnInterrupt(id)
	}
	return true, nil
}

func (f *fakeSessions) Inspector(context.Context) func(session.Record) view.Status {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Rounds++
	return func(r session.Record) view.Status {
		f.wait()
		f.Mu.Lock()
		defer f.Mu.Unlock()
		f.Looked++
		if l, ok := f.Doing[r.ID]; ok {
			return l
		}
		return f.OnLook
	}
}

func (f *fakeSessions) Advance(ctx context.Context, id uuid.UUID, c talk.Cursor) error {
	f.wait()
	if f.Busy && ctx.Done() != nil {
		<-ctx.Done()
		return ctx.Err()
	}
	f.deliver(ctx) // the notice in place of the skipped items is on disk
	if f.OnAdvance != nil {
		if err := f.OnAdvance(id, c); err != nil {
			return err
		}
	}
	f.records.Change(id, func(r *session.Record) {
		if i := slices.IndexFunc(r.Cursors, func(k talk.Cursor) bool { return k.Path == c.Path }); i >= 0 && !f.Late {
			r.Cursors = append([]talk.Cursor{c}, r.Cursors[i+1:]...)
		}
	})
	f.events <- fmt.Sprintf("advance %s %d/%d/%d", filepath.Base(c.Path), c.Offset, c.Block, c.Part)
	return nil
}

func (*fakeSessions) TakeBack(context.Context, uuid.UUID, string, int64, bool) error { return nil }
func (f *fakeSessions) Withdraw(_ context.Context, id uuid.UUID, key string, _ int64) error {
	f.wait()
	f.Add("withdraw %s of %s", key, id)
	if f.OnWithdraw != nil {
		return f.OnWithdraw(id, key)
	}
	if _, ok := f.records.Get(id); ok {
		f.records.Change(id, func(r *session.Record) {
			r.Prompts = slices.DeleteFunc(r.Prompts, func(one string) bool { return one == key })
		})
	}
	return nil
}

// ToFront changes the record as lifecycle does.
func (f *fakeSessions) ToFront(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.Add("to front %s of %s", key, id)
	if f.OnToFront != nil {
		return f.OnToFront(key)
	}
	f.records.Change(id, func(r *session.Record) {
		rest := slices.DeleteFunc(slices.Clone(r.Prompts), func(one string) bool { return one == key })
		r.Prompts = slices.Insert(rest, 0, key)
	})
	return nil
}

func (f *fakeSessions) SendNow(_ context.Context, id uuid.UUID, key string) (reported bool, err error) {
	f.wait()
	f.Add("send now %s of %s", key, id)
	if f.OnSendNow != nil {
		return f.OnSendNow(id, key)
	}
	return true, nil
}

func (f *fakeSessions) Reword(_ context.Context, id uuid.UUID, key string, _ int64, text string, class talk.PromptClass) error {
	f.wait()
	f.Add("reword %s of %s as %s %q", key, id, class, text)
	if f.OnReword != nil {
		return f.OnReword(key, text)
	}
	return nil
}

// forget removes a record.
func (f *fakeSessions) forget(_ context.Context, id uuid.UUID) error {
	f.wait()
	f.Add("forget %s", id)
	if f.OnForget != nil {
		if err := f.OnForget(id); err != nil {
			return err
		}
	}
	f.records.Forget(id)
	return nil
}

func (f *fakeSessions) Attach(r session.Record) string {
	if f.ByWindow && r.Binding != nil {
		return "tmux attach -t " + r.Binding.Window
	}
	return "tmux attach -t " + r.Name
}

// fakeWindows are windows that belong to no session.
type fakeWindows struct {
	*gate
	All      []evidence.Window
	WereTold map[string]bool
	Err      error // of every method
}

func (f *fakeWindows) Orphans(context.Context) ([]evidence.Window, error) {
	f.wait()
	return slices.Clone(f.All), f.Err
}

func (f *fakeWindows) Ignore(_ context.Context, w evidence.Window) error {
	f.wait()
	f.All = slices.DeleteFunc(f.All, func(k evidence.Window) bool { return k.Pane.Window == w.Pane.Window })
	return f.Err
}

func (f *fakeWindows) NewOrphans(_ context.Context, of []evidence.Window) ([]evidence.Window, error) {
	f.wait()
	return slices.DeleteFunc(slices.Clone(of), func(w evidence.Window) bool { return f.WereTold[w.Pane.Window.String()] }), f.Err
}

func (f *fakeWindows) MarkReported(_ context.Context, all []evidence.Window) error {
	f.wait()
	for _, w := range all {
		f.WereTold[w.Pane.Window.String()] = true
	}
	return f.Err
}
