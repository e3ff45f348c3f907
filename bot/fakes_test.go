package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/alias"
	"ccbot/bot/ask"
	"ccbot/bot/card"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/decisions"
	"ccbot/bot/port/files"
	"ccbot/bot/port/places"
	"ccbot/hooks"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

const (
	alice = int64(7)  // allowed
	bob   = int64(8)  // allowed
	eve   = int64(13) // a stranger
	ours  = int64(-100)
)

var (
	atAlice = session.Conversation{ChatID: alice}
	inGroup = session.Conversation{ChatID: ours}
	started = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
)

// world is a Bot among fakes; its inbox and chats are real folders.
type world struct {
	*Bot
	records  *fakeRecords
	sessions *fakeSessions
	windows  *fakeWindows
	hosted   *host.Sessions // the sessions and windows as the chat sees them
	sender   *fakeSender
	entries  *fakeEntries
	relay    *fakeRelay
	talk     *transcripts
	dir      string // of what is on disk
	home     string
	Home     string   // as the chat knows it
	Roots    []string // that sessions may be opened in; none: anywhere
	updates  int64
	events   chan string // "send …" and "advance …", in the order in which they were done
	inBubble bool        // its bot runs, or has run, in a bubble
	cancel   func()      // tells the bot that runs to end
	ended    chan error  // what its Run returns; nil where none runs
}

func newWorld(t *testing.T) *world {
	t.Helper()
	words, err := i18n.Load(glyph.Name)
	require.NoError(t, err)
	dir := t.TempDir()
	chats, err := OpenChats(filepath.Join(dir, "chats"))
	require.NoError(t, err)
	store, err := inbox.OpenStore(filepath.Join(dir, "inbox"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	w := &world{records: &fakeRecords{all: make(map[uuid.UUID]session.Record)}, entries: &fakeEntries{Store: store},
		relay: &fakeRelay{waiting: make(map[string]hooks.Request)}, dir: dir,
		talk: &transcripts{Transcripts: host.Transcripts{Log: slog.New(slog.DiscardHandler)}},
		home: "/home/alice", Home: "/home/alice", events: make(chan string, 10_000)}
	w.sessions = &fakeSessions{records: w.records, entries: w.entries, events: w.events}
	w.windows = &fakeWindows{told: make(map[string]bool)}
	w.hosted = &host.Sessions{Lifecycle: w.sessions, Windows: w.windows, Records: w.records}
	w.sender = &fakeSender{events: w.events, busy: make(map[int64]bool), aliases: func() *alias.Table { return w.Chats.Aliases }}
	w.Bot = &Bot{
		Config: Config{Allowed: map[int64]bool{alice: true, bob: true}, Groups: map[int64]bool{ours: true},
			Username: "cc_bot", Lang: "en", StateDir: filepath.Join(w.home, ".ccbot")},
		Deps: Deps{
			Machine: Machine{Sessions: w.hosted, Records: host.Views{Records: w.records},
				Decisions: project{host.Decisions{Relay: w.relay, Records: w.records}, w.sessions},
				Places:    machine{w}, Files: machine{w}, Transcripts: w.talk},
			Kept:   Kept{Entries: w.entries, Chats: chats},
			Sender: w.sender, Words: words,
			Now: func() time.Time { return started.Add(2 * time.Hour) }, Log: slog.New(slog.DiscardHandler)},
	}
	w.open(t)
	w.entries.Inside = func(chat int64, message int) (int64, int) { return w.Chats.Aliases.In(chat, message) }
	w.again()
	return w
}

// project has in its settings what a test says.
type project struct {
	host.Decisions
	sessions *fakeSessions
}

func (p project) Answerers(uuid.UUID) []decisions.Answerer {
	p.sessions.wait()
	return p.sessions.answerers
}

// Connect makes the features anew, with what a test has put in place.
func (w *world) Connect(*fakeSessions, *fakeWindows) {
	w.Install(w.Features())
}

// machine is the machine of the agents as the world has it now.
type machine struct{ *world }

func (m machine) now() *host.Machine {
	return &host.Machine{Home: m.Home, Roots: m.Roots, StateDir: m.StateDir, Records: m.records}
}

func (m machine) Bounds() places.Bounds { return m.now().Bounds() }

func (m machine) Resolve(base, path string) (string, error) { return m.now().Resolve(base, path) }

func (m machine) Make(dir string) error { return m.now().Make(dir) }

func (m machine) Open(session uuid.UUID, path string) (files.File, error) {
	return m.now().Open(session, path)
}

func (m machine) Put(session uuid.UUID, id string, fill func(io.Writer) (string, error)) (files.Received, error) {
	return m.now().Put(session, id, fill)
}

func (m machine) Read(transcript, path string, most int64) (string, error) {
	return m.now().Read(transcript, path, most)
}

// again is the same world after a restart of the program.
func (w *world) again() {
	w.openCards()
	w.Bot = New(w.Config, w.Deps)
}

func (w *world) openCards() {
	cards, err := card.Open(filepath.Join(w.dir, "cards"), filepath.Join(w.dir, "quarantine"), w.sender,
		func(to session.Conversation) bool { return w.MayShow(to) }, w.Log)
	if err != nil {
		panic(err) // a folder of the test cannot be read
	}
	cards.Failpoint = func(name string) {
		if w.Failpoint != nil {
			w.Failpoint(name)
		}
	}
	w.Deps.Cards, w.sender.named, w.sender.cards = cards, cards, filepath.Join(w.dir, "cards")
}

// open reads the folders that a start reads.
func (w *world) open(t *testing.T) {
	t.Helper()
	var err error
	w.Asks, err = ask.Open(filepath.Join(w.dir, "asks"), filepath.Join(w.dir, "quarantine"), w.Log)
	require.NoError(t, err)
}

// session puts a record there, the newest of all, and makes it nobody's current.
func (w *world) session(t *testing.T, name string, state session.State, cursors ...transcript.Cursor) session.Record {
	t.Helper()
	n := len(w.records.List())
	r := session.Record{ID: uuid.New(), ClaudeSessionID: uuid.New(), Name: name, Dir: filepath.Join(w.home, name), State: state,
		Conversation: atAlice, Owner: alice, Cursors: cursors, CreatedAt: started.Add(time.Duration(n) * time.Minute)}
	if !state.Live() {
		r.EndedAt = started.Add(time.Duration(n) * time.Hour)
	}
	w.records.put(r)
	return r
}

// currentSession is session, made current in Alice's chat.
func (w *world) currentSession(t *testing.T, name string, state session.State, cursors ...transcript.Cursor) session.Record {
	t.Helper()
	r := w.session(t, name, state, cursors...)
	require.NoError(t, w.Chats.SetCurrent(atAlice, r.ID))
	return r
}

// Handle and the other doors are those of the bot; named posts are sent then.
func (w *world) Handle(ctx context.Context, key string, u *models.Update, rest ...*models.Update) error {
	defer w.sender.deliver(context.WithoutCancel(ctx))
	if u == nil || u.CallbackQuery == nil {
		return w.Bot.Handle(ctx, key, u, rest...)
	}
	then, err := w.Tap(ctx, u)
	if err != nil || then == nil {
		return err
	}
	return then(ctx)
}

func (w *world) SessionNews(ctx context.Context, n lifecycle.Note) error {
	err := w.Bot.SessionNews(ctx, w.hosted.Note(n))
	w.sender.deliver(context.WithoutCancel(ctx))
	return err
}

func (w *world) Recovered(ctx context.Context, rep recovery.Report) error {
	err := w.Reports.Tell(ctx, host.StartOf(rep))
	w.sender.deliver(context.WithoutCancel(ctx))
	return err
}

func (w *world) Review(ctx context.Context, away time.Duration) error {
	err := w.Prompts.Review(ctx, away)
	w.sender.deliver(context.WithoutCancel(ctx))
	return err
}

// record is a session as it is now.
func (w *world) record(t *testing.T, id uuid.UUID) session.Record {
	t.Helper()
	r, ok := w.records.Get(id)
	require.True(t, ok)
	return r
}

func privateChat(id int64) models.Chat { return models.Chat{ID: id, Type: models.ChatTypePrivate} }
func groupChat(id int64) models.Chat   { return models.Chat{ID: id, Type: models.ChatTypeSupergroup} }

// accept puts a message into the inbox, as the intake does.
func (w *world) accept(t *testing.T, m *models.Message) (key string, u *models.Update) {
	t.Helper()
	w.updates++
	if m.ID == 0 {
		m.ID = int(1000 + w.updates)
	}
	key, u = inbox.UpdateKey(w.updates), &models.Update{ID: w.updates, Message: m}
	raw, err := json.Marshal(u)
	require.NoError(t, err)
	fresh, err := w.entries.Accept(key, raw)
	require.NoError(t, err)
	require.True(t, fresh)
	return key, u
}

// acceptText puts a text of Alice's into the inbox.
func (w *world) acceptText(t *testing.T, text string) (key string, u *models.Update) {
	t.Helper()
	return w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: text})
}

// hear handles a text of Alice's in her own chat and returns its inbox key.
func (w *world) hear(t *testing.T, text string) (key string, err error) {
	t.Helper()
	key, u := w.acceptText(t, text)
	return key, w.handle(t, key, u)
}

// handle is Handle as the inbox does it: what has to wait is tried again.
func (w *world) handle(t *testing.T, key string, u *models.Update) error {
	t.Helper()
	err := w.Handle(t.Context(), key, u)
	if errors.Is(err, inbox.ErrLater) {
		err = w.Handle(t.Context(), key, u)
	}
	return err
}

func (w *world) mustHear(t *testing.T, text string) string {
	t.Helper()
	key, err := w.hear(t, text)
	require.NoError(t, err)
	return key
}

// tap taps a button in Alice's chat.
func (w *world) tap(t *testing.T, from int64, data string) error {
	t.Helper()
	m := &models.Message{ID: w.idOf(data), Chat: privateChat(alice), Text: "the question"}
	return w.Handle(t.Context(), "1", tapOn(from, m, data))
}

// idOf is the id of the message whose card has a button with these data, 55 of any other message.
func (w *world) idOf(data string) int {
	if !card.IsButton(data) {
		return 55
	}
	id, _, _ := strings.Cut(data, ":")
	w.sender.mu.Lock()
	defer w.sender.mu.Unlock()
	return 1 + slices.IndexFunc(w.sender.sent, func(m outbox.Message) bool { return strings.HasPrefix(m.Name, id) })
}

// tapOn is a tap on a button of a message, which gets it if it has none at all.
func tapOn(from int64, m *models.Message, data string) *models.Update {
	if m.ReplyMarkup == nil {
		m.ReplyMarkup = &models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{{{Text: "x", CallbackData: data}}}}
	}
	return &models.Update{CallbackQuery: &models.CallbackQuery{ID: "query", From: models.User{ID: from}, Data: data,
		Message: models.MaybeInaccessibleMessage{Message: m}}}
}

// word is a sentence as the bot says it.
func (w *world) word(key i18n.Key, args ...i18n.Args) string { return w.Chat.Words.Say(key, args...) }

// named is the sentence with a session's name.
func (w *world) named(key i18n.Key, name string) string { return w.word(key, i18n.Args{"Name": name}) }

// toldOfError requires that a person was told in the chat that a tap failed: the tap itself had its
// answer before.
func (w *world) toldOfError(t *testing.T, err error) {
	t.Helper()
	require.NoError(t, err)
	assert.Contains(t, w.sender.texts(), w.word(i18n.InternalError))
}

// dies ends what is done at a failpoint, as a kill of the program does there: nothing of it goes on.
func (w *world) dies(t *testing.T, at string, do func() error) {
	t.Helper()
	died := false
	w.Failpoint = func(name string) {
		if name == at {
			died = true
			runtime.Goexit()
		}
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = do()
	}()
	<-over
	w.Failpoint = nil
	require.True(t, died)
}

// silent requires that nothing at all was said or shown.
func (w *world) silent(t *testing.T) {
	t.Helper()
	require.Empty(t, w.sender.done(), "strangers get silence")
	require.Empty(t, w.sessions.done())
}

type fakeRecords struct {
	mu  sync.Mutex
	all map[uuid.UUID]session.Record
}

func (f *fakeRecords) put(r session.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all[r.ID] = r.Clone()
}

func (f *fakeRecords) forget(id uuid.UUID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, id)
}

func (f *fakeRecords) change(id uuid.UUID, change func(*session.Record)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.all[id].Clone()
	change(&r)
	f.all[id] = r
}

func (f *fakeRecords) Get(id uuid.UUID) (session.Record, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.all[id]
	return r.Clone(), ok
}

func (f *fakeRecords) List() []session.Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []session.Record
	for _, r := range f.all {
		list = append(list, r.Clone())
	}
	slices.SortFunc(list, func(a, b session.Record) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list
}

// log is what was asked of a fake, a line each.
type log struct {
	mu    sync.Mutex
	lines []string
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *log) done() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// fakeSessions does what a test gives it. Without that it says yes; Move and Advance change the
// record as lifecycle does.
type fakeSessions struct {
	hangs     chan struct{} // every call waits for its end
	answerers []decisions.Answerer
	log
	records   *fakeRecords
	entries   *fakeEntries
	events    chan string
	start     func(q lifecycle.StartRequest) (session.Record, error)
	restore   func(id uuid.UUID) (session.Record, error)
	byWindow  bool               // Attach names the window, as the real one does
	leftovers []lifecycle.Ending // that a restore ends first
	archive   func(id uuid.UUID) error
	writers   func(id uuid.UUID) ([]lifecycle.Writer, error)
	ends      func(who []process.Identity) ([]lifecycle.Ending, error)
	adopt     func(q lifecycle.AdoptRequest) error
	shell     int // below which an adopted agent runs
	reported  func(id uuid.UUID) error
	queue     func(id uuid.UUID, key string) error
	decide    func(id uuid.UUID, key string) error // SendAgain, SendAnyway and Drop
	reword    func(key, text string) error
	move      func(id uuid.UUID, to session.Conversation) error
	interrupt func(id uuid.UUID) error
	look      lifecycle.Look
	looks     int // how often somebody looked
	advance   func(id uuid.UUID, c transcript.Cursor) error
	withdraw  func(id uuid.UUID, key string) error
	dialog    lifecycle.Dialog // what the terminal shows
	dialogErr error            // why it cannot be seen
	press     func(mark string) (lifecycle.Dialog, error)
	output    func() lifecycle.Output
}

// wait keeps a call until the machine answers.
func (f *fakeSessions) wait() {
	if f.hangs != nil {
		<-f.hangs
	}
}

func (f *fakeSessions) Start(_ context.Context, q lifecycle.StartRequest) (session.Record, error) {
	f.wait()
	f.add("start %q in %s", q.Name, q.Dir)
	if q.ForkOf != uuid.Nil {
		f.add("fork of %s", q.ForkOf)
	}
	if f.start != nil {
		return f.start(q)
	}
	r := session.Record{ID: uuid.New(), Name: q.Name, Dir: q.Dir, State: session.Starting, Conversation: q.Conversation,
		Owner: q.Owner, Origin: q.Origin}
	f.records.put(r)
	return r, nil
}

func (f *fakeSessions) Restore(_ context.Context, q lifecycle.RestoreRequest) (lifecycle.Restored, error) {
	f.wait()
	line := "restore " + q.Session.String()
	if q.Dir != "" {
		line += " in " + q.Dir
	}
	if q.Damaged != "" {
		line += " as " + string(q.Damaged)
	}
	f.add("%s", line)
	if f.restore != nil {
		r, err := f.restore(q.Session)
		return lifecycle.Restored{Record: r, Ended: f.leftovers}, err
	}
	if r, _ := f.records.Get(q.Session); !r.Resumable() && !r.Interrupted() && r.State != session.Lost {
		return lifecycle.Restored{Record: r}, deep(&lifecycle.StateError{State: r.State, Want: "resumed"})
	}
	f.records.change(q.Session, func(r *session.Record) {
		r.State = session.Restoring
		r.Dir = cmp.Or(q.Dir, r.Dir)
	})
	r, _ := f.records.Get(q.Session)
	return lifecycle.Restored{Record: r, Ended: f.leftovers}, nil
}

func (f *fakeSessions) Writers(_ context.Context, id uuid.UUID) ([]lifecycle.Writer, error) {
	f.wait()
	if f.writers != nil {
		return f.writers(id)
	}
	return nil, nil
}

func (f *fakeSessions) EndWriters(_ context.Context, id uuid.UUID, who []process.Identity) ([]lifecycle.Ending, error) {
	f.wait()
	f.add("end %v of %s", who, id)
	if f.ends != nil {
		return f.ends(who)
	}
	var ended []lifecycle.Ending
	for _, one := range who {
		ended = append(ended, lifecycle.Ending{Outcome: process.Outcome{Process: process.Process{Identity: one},
			How: process.HowTerm, Ended: true, Verified: true}})
	}
	return ended, nil
}

// Adopt makes a record for the agent and closes the one that it took over from.
func (f *fakeSessions) Adopt(_ context.Context, q lifecycle.AdoptRequest) (session.Record, error) {
	f.wait()
	f.add("adopt %s from %s", q.Agent, q.From)
	if f.adopt != nil {
		if err := f.adopt(q); err != nil {
			return session.Record{}, err
		}
	}
	r := session.Record{ID: uuid.New(), ClaudeSessionID: q.Claude, Name: "mine", Conversation: q.Conversation, Owner: q.Owner}
	if from, ok := f.records.Get(q.From); ok {
		r.Name, r.Conversation, r.TookOver = from.Name, from.Conversation, from.ID
		f.records.change(from.ID, func(r *session.Record) { r.Closed = session.ClosedTransferred })
	}
	r.State, r.CreatedAt = session.Running, started.Add(24*time.Hour)
	r.Binding = &session.Binding{Adopted: true, Shell: f.shell, Window: "@4"}
	f.records.put(r)
	return r, nil
}

func (f *fakeSessions) Reported(_ context.Context, id uuid.UUID) error {
	f.wait()
	f.add("reported %s", id)
	if f.reported != nil {
		return f.reported(id)
	}
	f.records.change(id, func(r *session.Record) { r.Unreported = false })
	return nil
}

func (f *fakeSessions) Archive(_ context.Context, id uuid.UUID, final session.State, _ string) error {
	f.wait()
	f.add("archive %s as %s", id, final)
	if f.archive != nil {
		return f.archive(id)
	}
	return nil
}

func (f *fakeSessions) Queue(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.add("queue %s for %s", key, id)
	return f.hold(id, key)
}

// hold has the inbox hold a prompt, as lifecycle does when the record is written.
func (f *fakeSessions) hold(id uuid.UUID, key string) error {
	if f.queue != nil {
		if err := f.queue(id, key); err != nil {
			return err
		}
	}
	return f.entries.Change(key, func(e *inbox.Entry) error {
		if e.State == inbox.Typing {
			return fs.ErrNotExist
		}
		e.State, e.Session, e.Told = inbox.Held, id, nil
		return nil
	})
}

func (f *fakeSessions) Keep(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.add("keep %s for %s", key, id)
	return f.hold(id, key)
}

func (f *fakeSessions) SendAgain(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.add("send again %s for %s", key, id)
	if f.decide != nil {
		return f.decide(id, key)
	}
	return nil
}

func (f *fakeSessions) SendAnyway(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.add("send anyway %s for %s", key, id)
	if f.decide != nil {
		return f.decide(id, key)
	}
	return nil
}

func (f *fakeSessions) Drop(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.add("drop %s for %s", key, id)
	if f.decide != nil {
		return f.decide(id, key)
	}
	return nil
}

func (f *fakeSessions) Move(_ context.Context, id uuid.UUID, to session.Conversation) error {
	f.wait()
	f.add("move %s to %d", id, to.ChatID)
	if f.move != nil {
		return f.move(id, to)
	}
	f.records.change(id, func(r *session.Record) { r.Conversation = to })
	return nil
}

func (f *fakeSessions) Interrupt(_ context.Context, id uuid.UUID) error {
	f.wait()
	f.add("interrupt %s", id)
	if f.interrupt != nil {
		return f.interrupt(id)
	}
	return nil
}

func (f *fakeSessions) Look(context.Context, session.Record) lifecycle.Look {
	f.wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	return f.look
}

func (f *fakeSessions) Advance(_ context.Context, id uuid.UUID, c transcript.Cursor) error {
	f.wait()
	if f.advance != nil {
		if err := f.advance(id, c); err != nil {
			return err
		}
	}
	f.records.change(id, func(r *session.Record) {
		if i := slices.IndexFunc(r.Cursors, func(k transcript.Cursor) bool { return k.Path == c.Path }); i >= 0 {
			r.Cursors = slices.Delete(r.Cursors, 0, i)
			r.Cursors[0] = c
		}
	})
	f.events <- fmt.Sprintf("advance %s %d/%d/%d", filepath.Base(c.Path), c.Offset, c.Block, c.Part)
	return nil
}

func (f *fakeSessions) Withdraw(_ context.Context, id uuid.UUID, key string) error {
	f.wait()
	f.add("withdraw %s of %s", key, id)
	if f.withdraw != nil {
		return f.withdraw(id, key)
	}
	return nil
}

func (f *fakeSessions) Reword(_ context.Context, id uuid.UUID, key, text string, class lifecycle.Class) error {
	f.wait()
	f.add("reword %s of %s as %s %q", key, id, class, text)
	if f.reword != nil {
		return f.reword(key, text)
	}
	return nil
}

func (f *fakeSessions) Output(context.Context, session.Record, string) lifecycle.Output {
	f.wait()
	if f.output != nil {
		return f.output()
	}
	return lifecycle.Output{}
}

func (f *fakeSessions) Wake(id uuid.UUID) {
	f.wait()
	f.add("wake %s", id)
}

func (f *fakeSessions) Dialog(context.Context, uuid.UUID) (lifecycle.Dialog, error) {
	f.wait()
	return f.dialog, f.dialogErr
}

func (f *fakeSessions) Press(_ context.Context, id uuid.UUID, mark, key string) (lifecycle.Dialog, error) {
	f.wait()
	f.add("press %s of %s for %s", key, id, mark)
	return f.pressed(mark)
}

func (f *fakeSessions) Choose(_ context.Context, id uuid.UUID, mark string, option int) (lifecycle.Dialog, error) {
	f.wait()
	f.add("choose %d of %s for %s", option, id, mark)
	return f.pressed(mark)
}

func (f *fakeSessions) pressed(mark string) (lifecycle.Dialog, error) {
	if f.press != nil {
		return f.press(mark)
	}
	return f.dialog, nil
}

func (f *fakeSessions) Attach(r session.Record) string {
	f.wait()
	if f.byWindow && r.Binding != nil {
		return "tmux attach -t " + r.Binding.Window
	}
	return "tmux attach -t " + r.Name
}

// fakeWindows are windows that belong to no session.
type fakeWindows struct {
	hangs chan struct{} // every look waits for its end
	all   []lifecycle.Window
	told  map[string]bool
	err   error // of every method
}

func (f *fakeWindows) Orphans(context.Context) ([]lifecycle.Window, error) {
	if f.hangs != nil {
		<-f.hangs
	}
	return slices.Clone(f.all), f.err
}

func (f *fakeWindows) Ignore(_ context.Context, w lifecycle.Window) error {
	f.all = slices.DeleteFunc(f.all, func(k lifecycle.Window) bool { return k.Pane.Window == w.Pane.Window })
	return f.err
}

func (f *fakeWindows) NewOrphans(_ context.Context, of []lifecycle.Window) ([]lifecycle.Window, error) {
	return slices.DeleteFunc(slices.Clone(of), func(w lifecycle.Window) bool { return f.told[w.Pane.Window.String()] }), f.err
}

func (f *fakeWindows) Told(_ context.Context, all []lifecycle.Window) error {
	for _, w := range all {
		f.told[w.Pane.Window.String()] = true
	}
	return f.err
}

// fakeRelay has the hooks that a test lets wait. A decision or a leave ends the wait.
type fakeRelay struct {
	log
	waiting map[string]hooks.Request
	decide  func() error // comes before a decision is taken; may be nil
}

// decides sets what comes before a decision is taken; nil: nothing.
func (f *fakeRelay) decides(do func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decide = do
}

func (f *fakeRelay) end(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.waiting[id]
	delete(f.waiting, id)
	return ok
}

func (f *fakeRelay) Decide(id string, d hooks.Decision) error {
	f.mu.Lock()
	decide := f.decide
	f.mu.Unlock()
	if decide != nil {
		if err := decide(); err != nil {
			return err
		}
	}
	if !f.end(id) {
		return hooks.ErrNotWaiting
	}
	f.add("%s %s", d.Behavior, d.Message)
	return nil
}

func (f *fakeRelay) Leave(id string) {
	if f.end(id) {
		f.add("leave")
	}
}

func (f *fakeRelay) Waiting(id uuid.UUID) []hooks.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []hooks.Request
	for _, q := range f.waiting {
		if q.Session == id {
			all = append(all, q)
		}
	}
	return all
}

// deliver sends the named posts that wait, as the outbox does when their turn comes: one after the
// other in each chat, and what fails is tried again later.
func (f *fakeSender) deliver(ctx context.Context) {
	tried := make(map[string]bool)
	for post, ok := f.nextPost(tried); ok; post, ok = f.nextPost(tried) {
		f.deliverPost(ctx, post)
	}
}

// deliverEach is deliver in which no chat waits for another.
func (f *fakeSender) deliverEach(ctx context.Context) {
	f.mu.Lock()
	chats := make(map[int64]bool)
	for _, m := range f.waiting {
		chats[m.To.ChatID] = true
	}
	f.mu.Unlock()
	for range chats {
		go f.deliver(ctx)
	}
}

// nextPost takes the first post that was not tried yet, of a chat to which nothing is being sent.
func (f *fakeSender) nextPost(tried map[string]bool) (outbox.Message, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.waiting, func(m outbox.Message) bool { return !tried[m.Name] && !f.busy[m.To.ChatID] })
	if i < 0 {
		return outbox.Message{}, false
	}
	post := f.waiting[i]
	f.waiting = slices.Delete(f.waiting, i, i+1)
	tried[post.Name] = true
	f.busy[post.To.ChatID] = true
	return post, true
}

func (f *fakeSender) deliverPost(ctx context.Context, post outbox.Message) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.busy, post.To.ChatID)
	}()
	again := func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !slices.ContainsFunc(f.waiting, func(k outbox.Message) bool { return k.Name == post.Name }) {
			f.waiting = append(f.waiting, post)
		}
	}
	m, wanted := f.named.Current(post.Name, post.To)
	switch {
	case !wanted:
		return
	case f.Parked(m.To.ChatID):
		again()
		return
	}
	send := f.Send
	if f.posts(m.Name) {
		send = f.sendPost
	}
	id, err := send(ctx, m)
	refused := (*outbox.Refused)(nil)
	switch {
	case err == nil:
		_ = f.named.Sent(ctx, post.Name, m.To, id, m) // the next run tells of it
	case errors.As(err, &refused) && !errors.Is(err, outbox.ErrBlocked):
		f.named.Refused(ctx, post.Name, err)
	default: // the post waits on
		again()
	}
}

// fakeSender keeps what it is given; a function of the test may refuse it.
type fakeSender struct {
	log
	events chan string
	send   func(ctx context.Context, m outbox.Message) error
	post   func(m outbox.Message) error
	edit   func(m outbox.Message) error
	upload func(f outbox.File) error
	typing func()

	editNow func(m outbox.Message) error

	aliases func() *alias.Table // what is kept is as people see it: in the newest chat
	named   outbox.Owner
	waiting []outbox.Message // named posts whose turn has not come
	busy    map[int64]bool   // chats to which a named post is being sent
	cards   string           // the folder of the cards
	asPosts map[int]bool     // ids of messages in sent that count as posted

	sent, posted, edited []outbox.Message
	ended                []outbox.Message // of EditNow
	files                []outbox.File
	buttons              [][]outbox.Button // that a message lost or got last
	spent                int               // how often buttons were taken off
	alerts               int               // how often a person had to close a sentence
	parked               map[int64]bool
	rich                 bool
}

// outward is a message as Telegram knows it, see package alias.
func (f *fakeSender) outward(to session.Conversation, id int) (session.Conversation, int, error) {
	lost := f.aliases().Lost(to.ChatID, id)
	to.ChatID, id = f.aliases().Out(to.ChatID, id)
	if lost {
		return to, 0, &outbox.Refused{Err: outbox.ErrMoved}
	}
	return to, id, nil
}

func (f *fakeSender) keep(list *[]outbox.Message, what string, m outbox.Message) {
	f.add("%s %s", what, m.Text.Text)
	if list != &f.edited && list != &f.ended {
		m.To, m.ReplyTo, _ = f.outward(m.To, m.ReplyTo)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	*list = append(*list, m)
}

func (f *fakeSender) Send(ctx context.Context, m outbox.Message) (int, error) {
	if f.send != nil {
		if err := f.send(ctx, m); err != nil {
			return 0, err
		}
	}
	f.keep(&f.sent, "send", m)
	f.events <- "send " + m.Text.Text
	chat, _ := f.aliases().Out(m.To.ChatID, 0)
	_, id := f.aliases().In(chat, f.lastID())
	return id, nil
}

// posts reports whether a named post is of a card that is posted once, as other messages are. Tests
// look for these among the messages posted.
func (f *fakeSender) posts(name string) bool {
	id, _, _ := strings.Cut(name, "@")
	data, err := os.ReadFile(filepath.Join(f.cards, id+".json"))
	var c struct{ Kind string }
	return err == nil && json.Unmarshal(data, &c) == nil &&
		slices.Contains([]string{"list", "end", "resume", "writers", "windows", "report"}, c.Kind)
}

// sendPost sends what counts as posted. It has an id all the same.
func (f *fakeSender) sendPost(ctx context.Context, m outbox.Message) (int, error) {
	if f.send != nil {
		if err := f.send(ctx, m); err != nil {
			return 0, err
		}
	}
	f.keep(&f.posted, "post", m)
	f.events <- "post " + m.Text.Text
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asPosts == nil {
		f.asPosts = make(map[int]bool)
	}
	f.sent = append(f.sent, m)
	f.asPosts[len(f.sent)] = true
	return len(f.sent), nil
}

// lastID is the id of the message sent last: the first has 1.
func (f *fakeSender) lastID() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.sent)
}

func (f *fakeSender) SendFile(_ context.Context, m outbox.File) (int, error) {
	if f.upload != nil {
		if err := f.upload(m); err != nil {
			return 0, err
		}
	}
	f.add("file %s", m.Name)
	f.mu.Lock()
	f.files = append(f.files, m)
	f.mu.Unlock()
	f.events <- "file " + m.Name
	return 1, nil
}

func (f *fakeSender) Post(ctx context.Context, m outbox.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.post != nil {
		if err := f.post(m); err != nil {
			return err
		}
	}
	if m.Name != "" {
		f.mu.Lock()
		defer f.mu.Unlock()
		if !slices.ContainsFunc(f.waiting, func(k outbox.Message) bool { return k.Name == m.Name }) {
			f.waiting = append(f.waiting, m)
		}
		return nil
	}
	for _, part := range outbox.Parts(m) { // as the outbox does
		f.keep(&f.posted, "post", part)
	}
	f.events <- "post " + m.Text.Text
	return nil
}

func (f *fakeSender) Edit(_ context.Context, to session.Conversation, id int, m outbox.Message) error {
	if f.edit != nil {
		if err := f.edit(m); err != nil {
			return err
		}
	}
	var err error
	if m.To, m.ReplyTo, err = f.outward(to, id); err != nil {
		return err
	}
	f.keep(&f.edited, "edit", m)
	if m.Name != "" {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.draws(m.Buttons)
	}
	return nil
}

// draws notes the buttons that a message has now.
func (f *fakeSender) draws(buttons [][]outbox.Button) {
	f.buttons = buttons
	if len(buttons) == 0 {
		f.spent++
	}
}

func (f *fakeSender) EditNow(_ context.Context, to session.Conversation, id int, m outbox.Message) error {
	if f.editNow != nil {
		if err := f.editNow(m); err != nil {
			return err
		}
	}
	var err error
	if m.To, m.ReplyTo, err = f.outward(to, id); err != nil {
		return err
	}
	f.keep(&f.ended, "edit now", m)
	f.events <- "edit now " + m.Text.Text
	return nil
}

func (f *fakeSender) EditButtons(_ context.Context, to session.Conversation, id int, buttons [][]outbox.Button) error {
	if f.edit != nil {
		if err := f.edit(outbox.Message{Buttons: buttons}); err != nil {
			return err
		}
	}
	_, id, err := f.outward(to, id)
	if err != nil {
		return err
	}
	f.add("buttons of %d: %d", id, len(buttons))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.draws(buttons)
	return nil
}

func (f *fakeSender) React(_ context.Context, to session.Conversation, id int, emoji string) {
	if to, id, err := f.outward(to, id); err == nil {
		f.add("react %s to %d in %d", emoji, id, to.ChatID)
	}
}

func (f *fakeSender) Typing(_ context.Context, to session.Conversation) {
	if f.typing != nil {
		f.typing()
	}
	f.add("typing in %d", to.ChatID)
}

// Parked says which chats take nothing.
func (f *fakeSender) Parked(chat int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.parked[chat]
}

func (f *fakeSender) Unpark(chat int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.parked, chat)
}

func (f *fakeSender) TakesRich() bool { return f.rich }

func (f *fakeSender) Answer(_ context.Context, _ session.Conversation, query, text string, alert bool) {
	if alert {
		f.mu.Lock()
		f.alerts++
		f.mu.Unlock()
	}
	f.add("answer %s: %s", query, text)
}

// reaction is the one that a message has; "none yet" where none was ever put there.
func (f *fakeSender) reaction(message int) string {
	all := f.reactions(message)
	if len(all) == 0 {
		return "none yet"
	}
	return all[len(all)-1]
}

// reactions are those that a message had, one after the other.
func (f *fakeSender) reactions(message int) (all []string) {
	for _, line := range f.done() {
		rest, ok := strings.CutPrefix(line, "react ")
		if emoji, at, _ := strings.Cut(rest, " to "); ok && strings.HasPrefix(at, strconv.Itoa(message)+" ") {
			all = append(all, emoji)
		}
	}
	return all
}

// texts are the messages posted so far.
func (f *fakeSender) texts() []string { return textsOf(f, &f.posted) }

// shownOnce are the messages posted and sent, each once.
func (f *fakeSender) shownOnce() []outbox.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Clone(f.posted)
	for i, m := range f.sent {
		if !f.asPosts[i+1] {
			all = append(all, m)
		}
	}
	return all
}

// answersSent are the messages sent so far.
func (f *fakeSender) answersSent() (texts []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, m := range f.sent {
		if !f.asPosts[i+1] {
			texts = append(texts, m.Text.Text)
		}
	}
	return texts
}

func textsOf(f *fakeSender, list *[]outbox.Message) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var texts []string
	for _, m := range *list {
		texts = append(texts, m.Text.Text)
	}
	return texts
}

// last is the newest message posted.
func (f *fakeSender) last(t *testing.T) outbox.Message {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.NotEmpty(t, f.posted, "nothing was posted")
	return f.posted[len(f.posted)-1]
}

func (f *fakeSender) lastEdit(t *testing.T) outbox.Message {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	require.NotEmpty(t, f.edited, "nothing was edited")
	return f.edited[len(f.edited)-1]
}

// data are the callback data of a message's buttons.
func data(m outbox.Message) []string {
	var all []string
	for _, row := range m.Buttons {
		for _, b := range row {
			all = append(all, b.Data)
		}
	}
	return all
}

// fakeEntries is a real inbox whose writes a test may refuse.
type fakeEntries struct {
	*inbox.Store
	save   func(e inbox.Entry) error
	finish func(key string) error
}

func (f *fakeEntries) Save(e inbox.Entry) error {
	if f.save != nil {
		if err := f.save(e); err != nil {
			return err
		}
	}
	return f.Store.Save(e)
}

func (f *fakeEntries) Finish(key string) error {
	if f.finish != nil {
		if err := f.finish(key); err != nil {
			return err
		}
	}
	return f.Store.Finish(key)
}

func (f *fakeEntries) FinishIn(key string, state inbox.State) error {
	if f.finish != nil {
		if err := f.finish(key); err != nil {
			return err
		}
	}
	return f.Store.FinishIn(key, state)
}

func (f *fakeEntries) Change(key string, change func(e *inbox.Entry) error) error {
	return f.Store.Change(key, func(e *inbox.Entry) error {
		if err := change(e); err != nil || f.save == nil {
			return err
		}
		return f.save(*e)
	})
}

// prompt puts an entry into the inbox that is a prompt of a session.
func (w *world) prompt(t *testing.T, r session.Record, text string, state inbox.State) inbox.Entry {
	t.Helper()
	w.updates++
	e := inbox.Entry{Key: inbox.UpdateKey(w.updates), Received: started, State: state, Session: r.ID,
		Conversation: atAlice, MessageID: 77, Text: text}
	_, err := w.entries.Add(e)
	require.NoError(t, err)
	return e
}

// lines joins what a message says.
func lines(text ...string) string { return strings.Join(text, "\n") }
