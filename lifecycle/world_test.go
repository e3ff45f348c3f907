package lifecycle

import (
	coding "ccbot/agent"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude"
	"ccbot/agent/claude/claudekeys"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// world is a Service with everything around it in memory, but for the records,
// the program file and transcripts, which are real files.
type world struct {
	log logBuffer
	*Service
	Queues
	*core     // of the Service
	t         *testing.T
	ctx       context.Context
	base      string
	tmux      *fakeDesk
	processes *tabletest.Table
	presences *presences
	prompts   *promptStore
	news      *heardNews
	bindings  *bindings
	relays    *relays
	status    *statuses
	order     *order
	git       *repository
	saves     *saves
	come      func(evidence.Writer) bool // Came; nil: nothing is handled
	stop      func()                     // ends the Service that runs
	others    coding.Agents              // besides Claude Code
	served    bool                       // the agent runs in two processes
	calls     *callee                    // the agent takes texts by a call; nil: it does not
}

// boot is the boot of all processes.
const boot = tabletest.Boot

// newProcesses is a table whose steps are in the order.
func newProcesses(o *order) *tabletest.Table {
	t := tabletest.New()
	t.Noted = func(id process.Identity, how process.How) { o.add("%s %d", how, id.PID) }
	return t
}

// order holds the events of all parts, one word each.
type order struct {
	mu    sync.Mutex
	what  []string
	point func(name string) // called at each failpoint
}

// at is every failpoint.
func (o *order) at(name string) {
	o.add("at %s", name)
	o.mu.Lock()
	point := o.point
	o.mu.Unlock()
	if point != nil {
		point(name)
	}
}

// onPoint has a function called at each failpoint; nil ends that.
func (o *order) onPoint(point func(name string)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.point = point
}

func (o *order) add(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.what = append(o.what, fmt.Sprintf(format, args...))
}

func (o *order) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.what)
}

// after returns what happened from the first word on.
func (o *order) after(word string) []string {
	all := o.all()
	return all[max(0, slices.Index(all, word)):]
}

// inWorld runs a test in a bubble in which time passes only when all wait. The
// Service runs.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	inWorldAt(t, t.TempDir(), test)
}

// inWorldAt is inWorld with a folder for the disk.
func inWorldAt(t *testing.T, base string, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, base)
		w.run()
		test(t, w)
	})
}

func newWorld(t *testing.T, base string) *world {
	w := &world{t: t, base: base, order: &order{}, ctx: t.Context()}
	w.processes = newProcesses(w.order)
	w.tmux = newDesk(w.order, w.processes)
	w.presences, w.bindings = &presences{desk: w.tmux}, &bindings{}
	w.relays, w.status = &relays{}, &statuses{}
	w.prompts = &promptStore{all: map[string]typing.Prompt{}, order: w.order}
	w.news = &heardNews{order: w.order, last: map[uuid.UUID]int64{}}
	w.git, w.saves = &repository{}, &saves{}
	for _, dir := range []string{"src", "state", "projects/-src"} {
		require.NoError(t, os.MkdirAll(filepath.Join(base, dir), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(base, "claude"), []byte("#!/bin/sh\n"), 0o700))
	w.restart()
	t.Cleanup(w.sharedAsOnDisk)
	return w
}

// Queue is Queues.Queue for a prompt in the store.
func (w *world) Queue(ctx context.Context, id uuid.UUID, key string) error {
	return w.Queues.Queue(ctx, id, talk.Offer{Key: key})
}

// Keep is Queues.Keep for a prompt in the store.
func (w *world) Keep(ctx context.Context, id uuid.UUID, key string) error {
	return w.Queues.Keep(ctx, id, talk.Offer{Key: key})
}

// sharedAsOnDisk finds whoever has changed a record that is only to be read: all readers share it.
func (w *world) sharedAsOnDisk() {
	for _, r := range w.Store.Shared() {
		data, err := os.ReadFile(filepath.Join(w.base, "state", "sessions", r.ID.String()+".json"))
		require.NoError(w.t, err)
		type fields session.Record // without its methods: a record without its history is not written
		var disk session.Record
		require.NoError(w.t, json.Unmarshal(data, &disk))
		if disk.State.HasEnded() {
			disk.History = nil
		} else {
			disk.News = r.News // the next save removes those that the chat has
			// A prompt that is typed at once comes with the next save.
			disk.Prompts, disk.ActiveAt = r.Prompts, r.ActiveAt
		}
		want, err := json.Marshal(fields(disk))
		require.NoError(w.t, err)
		shared, err := json.Marshal(fields(r))
		require.NoError(w.t, err)
		assert.JSONEq(w.t, string(want), string(shared))
	}
}

// restart makes a new Service over the same disk and the same machine; it does
// not run yet.
func (w *world) restart() {
	if w.stop != nil {
		w.stop()
	}
	if w.Service != nil {
		w.processes.RestartSelf()
		w.pass(2 * tabletest.Tick)
	}
	log := slog.New(slog.NewTextHandler(&w.log, nil))
	store, err := session.Open(filepath.Join(w.base, "state", "sessions"), filepath.Join(w.base, "state", "quarantine"), w.saves.now, log, slices.Collect(maps.Keys(w.others)))
	require.NoError(w.t, err)
	agents := coding.Agents{coding.Default: claude.New(filepath.Join(w.base, "projects"),
		coding.Launch{Command: filepath.Join(w.base, "claude"), PermissionMode: coding.ModeAsk}, claudekeys.Source{ConfigDir: w.base}.Box)}
	by := agents.Of("")
	by.Settings, by.Presences = launches{w.base}, w.presences
	agents[coding.Default] = by
	if w.served {
		by := agents.Of("")
		by.Witness = servedWitness{claude.Witness{Command: by.Launch.Command}}
		agents[coding.Default] = by
	}
	if w.calls != nil {
		by := agents.Of("")
		by.Delivery = w.calls
		agents[coding.Default] = by
	}
	maps.Copy(agents, w.others)
	seen := &evidence.Sources{Instance: "4f0c", Agents: agents, Records: store, Processes: w.processes,
		Bindings: w.bindings.read, Panes: w.tmux.Panes, Log: log}
	observer := &view.Observer{Panes: w.tmux, Screens: w.tmux, Processes: w.processes, Relays: w.relays,
		Status: w.status.read, Git: w.git.look, Agents: agents, Now: time.Now, Log: log}
	w.Service = New(
		Config{Host: "here", StateDir: filepath.Join(w.base, "state"), Env: map[string]string{"HOME": "/home/u"}, Unset: []string{"CLAUDECODE"},
			OrphanGrace: 30 * time.Second},
		Deps{Store: store, Typist: typing.New(observer, w.tmux, w.prompts, launches{w.base}.HasPendingEvents), News: w.news, Callbacks: &Callbacks{Came: w.came, Failpoint: w.order.at},
			Windows: w.tmux,
			Ender:   &ending.Ender{Processes: w.processes, Panes: w.tmux, Evidence: seen, KillGrace: 12 * time.Second, Log: log}})
	w.core, w.Queues = w.Service.core, w.Service.Queues()
}

// command is the configured command of the agent.
func (w *world) command() string { return w.Agents.Of("").Launch.Command }

// configure changes how new sessions are started.
func (w *world) configure(change func(l *coding.Launch)) {
	w.change(func(by *coding.Agent) { change(&by.Launch) })
}

// change changes the default agent.
func (w *world) change(change func(by *coding.Agent)) {
	by := w.Agents.Of("")
	change(&by)
	w.Agents[coding.Default] = by
}

// logBuffer is a log that tests read.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logBuffer) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (w *world) logged() string {
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	return w.log.text.String()
}

func (w *world) came(_ context.Context, who evidence.Writer) bool {
	if w.come == nil {
		return false
	}
	return w.come(who)
}

// run lets the Service run until the test ends or a restart.
func (w *world) run() {
	ctx, cancel := context.WithCancel(w.ctx)
	done := make(chan struct{})
	s := w.Service
	go func() { defer close(done); _ = s.Run(ctx) }()
	w.stop = sync.OnceFunc(func() { cancel(); <-done })
	w.t.Cleanup(w.stop)
}

// crash lets ccbot die at a point of what do does, and starts it again; the new
// Service does not run yet.
func (w *world) crash(point string, do func()) {
	w.t.Helper()
	w.restart()
	died := false
	w.order.onPoint(func(name string) {
		if name == point {
			died = true
			panic("killed at " + point)
		}
	})
	do()
	w.order.onPoint(nil)
	require.True(w.t, died, "it never came to %s", point)
	w.restart()
}

// comeBack does what start-up does, and lets the Service run.
func (w *world) comeBack() {
	w.t.Helper()
	for _, r := range w.Store.List() {
		switch {
		case r.State == session.Stopping:
			require.NoError(w.t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "an archive was interrupted"}))
		case r.State.Live() && r.Binding != nil:
			require.NoError(w.t, w.Reattach(r.ID))
		}
	}
	w.run()
	w.pass(time.Second)
}

// pass lets time go by, and everything come to rest.
func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *world) get(id uuid.UUID) session.Record {
	w.t.Helper()
	r, err := w.Store.Whole(id)
	require.NoError(w.t, err)
	return r
}

// edit changes a record as an earlier run, or another program, has left it.
func (w *world) edit(id uuid.UUID, change func(r *session.Record)) {
	w.t.Helper()
	require.NoError(w.t, w.Store.Do(w.ctx, id, func(r *session.Record, save func() error) error {
		change(r)
		return save()
	}))
}

// resume is the command line of a person who continues with a conversation.
func resume(id uuid.UUID) []string { return []string{"claude", "--resume", id.String()} }

// restoreIt resumes a session as /resume does.
func (w *world) restoreIt(id uuid.UUID) (session.Record, error) {
	back, err := w.Restore(w.ctx, port.Restore{Session: id})
	return back.Record, err
}

func (w *world) request() port.Start {
	return port.Start{Dir: filepath.Join(w.base, "src"), Owner: 7, Conversation: session.Conversation{ChatID: 7}}
}

// started starts a session and waits until it runs.
func (w *world) started() (session.Record, *agent) {
	w.t.Helper()
	r, a := w.starting()
	w.report(r)
	w.pass(time.Second)
	r = w.get(r.ID)
	require.Equal(w.t, session.Running, r.State)
	return r, a
}

func (w *world) starting() (session.Record, *agent) {
	w.t.Helper()
	r, err := w.Start(w.ctx, w.request())
	require.NoError(w.t, err)
	return r, w.tmux.agentOf(r)
}

// hook returns an event of the bound agent.
func (w *world) hook(r session.Record, name string, change ...func(*hookwire.Event)) {
	w.t.Helper()
	require.NoError(w.t, w.HookEvent(w.ctx, w.event(r, name, change...)))
	synctest.Wait()
}

func (w *world) event(r session.Record, name string, change ...func(*hookwire.Event)) hookwire.Event {
	now := w.get(r.ID)
	e := hookwire.Event{Version: 1, Name: name, Received: time.Now().Add(time.Millisecond), Launch: r.ID.String(),
		SessionID: now.AgentSessionID.String(), TranscriptPath: w.transcript(now.AgentSessionID)}
	if b := r.Binding; b != nil {
		who := b.Writer()
		e.AgentPID, e.AgentStart, e.Boot = who.PID, who.Start, who.Boot
	}
	for _, c := range change {
		c(&e)
	}
	return e
}

// present makes the presence file of the session's agent name a conversation.
func (w *world) present(r session.Record, id uuid.UUID) {
	a := w.tmux.byPID(r.Agent().PID)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.session = id
}

func (w *world) report(r session.Record) {
	w.t.Helper()
	w.hook(r, hookwire.SessionStart, func(e *hookwire.Event) { e.Source = "startup" })
}

func prompted(text string) func(*hookwire.Event) {
	return func(e *hookwire.Event) { e.Prompt = text }
}

func (w *world) transcript(id uuid.UUID) string {
	return filepath.Join(w.base, "projects", "-src", id.String()+".jsonl")
}

// write adds a line to the session's transcript.
func (w *world) write(r session.Record, line string) {
	w.t.Helper()
	f, err := os.OpenFile(w.transcript(r.AgentSessionID), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(w.t, err)
	_, err = f.WriteString(line + "\n")
	require.NoError(w.t, errors.Join(err, f.Close()))
}

// userLine returns the line of a prompt that is submitted after everything in a test.
func userLine(text string) string {
	return datedLine(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC), text)
}

func datedLine(at time.Time, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"timestamp":%q,"message":{"role":"user","content":%q}}`, uuid.NewString(), at.Format(time.RFC3339Nano), text)
}

// held puts a prompt on disk and into the session's queue.
func (w *world) held(r session.Record, key, text string) {
	w.t.Helper()
	typed, class, ok := talk.Normalise(text)
	require.True(w.t, ok)
	w.prompts.put(typing.Prompt{Key: key, Text: typed, Class: class, State: typing.Held})
	require.NoError(w.t, w.prompts.HoldPrompt(key, r.ID))
	require.NoError(w.t, w.SettlePrompts(w.ctx, r.ID, []string{key})) // Queue would type it at once
}

// budget is what the chat tells after the present turn.
func (w *world) budget(r session.Record, state port.BudgetState) {
	w.t.Helper()
	require.NoError(w.t, w.SetBudget(w.ctx, r.ID, port.Budget{State: state, Turn: w.get(r.ID).Budget.Turn}))
}
