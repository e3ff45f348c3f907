package chattest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot"
	"ccbot/bot/alias"
	"ccbot/bot/ask"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	port "ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/fleet/router"
	"ccbot/fleet/wire"
	"ccbot/hooks"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/health"
	"ccbot/internal/session"
	"ccbot/internal/systemfont/fonttest"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/recovery"
)

const (
	Alice = int64(7)  // allowed
	Bob   = int64(8)  // allowed
	Eve   = int64(13) // a stranger
	Ours  = int64(-100)
)

var (
	AtAlice = session.Conversation{ChatID: Alice}
	InGroup = session.Conversation{ChatID: Ours}
	Started = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
)

// World is a Bot among fakes; its inbox and chats are real folders.
type World struct {
	*bot.Bot
	Chats      *conversation.Store
	Records    *fakeRecords
	Lifecycle  *fakeSessions
	Windows    *fakeWindows
	Hosted     *host.Sessions // the sessions and windows as the chat sees them
	Telegram   *FakeSender
	ports      *gate
	Fleet      *router.Router
	machine    *port.Machine // as the bot has it, but for the link
	Inbox      *fakeEntries
	Relay      *fakeRelay
	Talk       *transcripts
	Git        *FakeDiffs
	Spent      *FakeSpending
	Looping    *FakeLoops
	Tickets    host.Tickets
	Offers     host.Offers
	Figures    health.Figures // that /health is given
	Allowed    *AllowedGroups // the setting that names the allowed groups
	Dir        string         // of the state on disk
	AgentsHome string
	Home       string             // as the chat knows it
	Roots      []string           // that sessions may be opened in; none: anywhere
	Link       *wire.Loop         // to its machine; nil: the bot calls the machine itself
	Slow       bool               // its machine searches conversations no longer than it must
	Gone       map[string]bool    // folders that no longer exist
	Written    map[uuid.UUID]bool // conversations with a writer
	WrittenErr error              // why that cannot be seen
	Updates    int64
	Order      chan string // "send …" and "advance …", in the order in which they were done
	inBubble   bool        // its bot runs, or has run, in a bubble
	Stop       func()      // ends the running bot
	ended      chan error  // the result of its Run; nil if none runs
}

// sentences are read once for all worlds: nothing changes them.
var sentences = i18n.Load(glyph.Name)

func NewWorld(t *testing.T) *World {
	t.Helper()
	return newWorld(t, os.Getenv("CCBOT_WIRE") == "loop") // see `make test-wire`
}

func newWorld(t *testing.T, remote bool) *World {
	t.Helper()
	dir, agents := t.TempDir(), maps.Clone(agents) // a test adds others
	chats, err := OpenChats(filepath.Join(dir, "chats"))
	require.NoError(t, err)
	store, err := inbox.OpenStore(filepath.Join(dir, "inbox"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	records := &fakeRecords{all: make(map[uuid.UUID]session.Record)}
	ports := new(gate)
	room := watch.New(slog.New(slog.DiscardHandler))
	w := &World{ports: ports, Chats: chats, Records: records, Inbox: &fakeEntries{Store: store},
		Relay: &fakeRelay{gate: ports, waiting: make(map[string]hooks.Request)}, Dir: dir,
		Talk: &transcripts{gate: ports, Transcripts: &host.Transcripts{Agents: agents, Records: records, Watch: room, Log: slog.New(slog.DiscardHandler)},
			watch: sync.OnceFunc(func() { watchtest.Run(t, room) })},
		Git: &FakeDiffs{gate: ports}, Spent: newSpending(ports), Looping: &FakeLoops{},
		AgentsHome: "/home/alice", Home: "/home/alice", Order: make(chan string, 10_000)}
	t.Cleanup(w.Talk.Close)
	w.Talk.Transcripts.Tickets = &w.Tickets
	w.Lifecycle = &fakeSessions{gate: ports, records: w.Records, entries: w.Inbox, events: w.Order}
	w.Windows = &fakeWindows{gate: ports, WereTold: make(map[string]bool)}
	w.Hosted = &host.Sessions{Terminals: host.Terminals{Agents: agents, Lifecycle: w.Lifecycle, Panes: w.Lifecycle, Observer: w.Lifecycle, Windows: w.Windows, Records: w.Records},
		Queues: w.Lifecycle, Diffs: w.Git, Spending: w.Spent, Forgets: w.Lifecycle.forget}
	w.Lifecycle.deliver = func(ctx context.Context) { w.Telegram.Deliver(context.WithoutCancel(ctx)) }
	w.Allowed = &AllowedGroups{world: w}
	w.Telegram = &FakeSender{events: w.Order, busy: make(map[int64]bool), mayShow: func(to session.Conversation) bool { return w.MayShow(to) }, aliases: func() *alias.Table { return w.Chats.Aliases }}
	w.Bot = &bot.Bot{
		Config: bot.Config{Lists: conversation.Lists{People: map[int64]bool{Alice: true, Bob: true}, Groups: map[int64]bool{Ours: true}},
			Username: "cc_bot", ContinueText: GoOn, StateDir: filepath.Join(w.AgentsHome, ".ccbot")},
		Deps: bot.Deps{
			Machine: w.connect(remote, &port.Machine{Sessions: w.Hosted, Records: host.Views{Agents: agents, Records: w.Records, Attach: w.Lifecycle.Attach, Looped: w.Looping.live,
				MayForget: func(r session.Record) bool { return w.Lifecycle.AllGone[r.ID] }}, Loops: w.Looping, Templates: w.Looping,
				Schedules: w.openSchedules(t),
				Decisions: project{host.Decisions{Relay: w.Relay, Agents: agents, Records: w.Records}, w.Lifecycle},
				Places:    machine{w}, Files: machine{w}, Bodies: &w.Tickets, Transcripts: said{w.Talk, conversations{w}}, Fonts: fonttest.Fonts{}}),
			Chat: &chat.Chat{Speech: sentences, Lang: "en", Log: slog.New(slog.DiscardHandler),
				Facts: chat.Facts{Now: func() time.Time { return Started.Add(2 * time.Hour) }}},
			Entries: w.Inbox, Sender: w.Telegram, AllowedGroups: w.Allowed, Health: func(context.Context) health.Figures { return w.Figures }},
	}
	w.open(t)
	w.Inbox.Inside = func(chat int64, message int) (int64, int) { return w.Chats.Aliases.In(chat, message) }
	w.Again()
	return w
}

// connect returns the machine as the bot calls it. Each call of a remote machine passes through
// package wire.
func (w *World) connect(remote bool, m *port.Machine) *port.Machine {
	w.machine = m
	if remote {
		m, w.Link = wire.Loopback(context.Background(), m)
	}
	w.Fleet = router.New("attic", m)
	w.Fleet.OnChange = func(id string) { w.MachineChanged(id) }
	return w.Fleet.Machine()
}

// project has the settings of a test.
type project struct {
	host.Decisions
	sessions *fakeSessions
}

func (p project) Outcome(ctx context.Context, q talk.Request, a *talk.Answer) (talk.RequestOutcome, bool, error) {
	p.sessions.wait()
	return p.Decisions.Outcome(ctx, q, a)
}

func (p project) Answerers(context.Context, uuid.UUID) ([]talk.Answerer, error) {
	p.sessions.wait()
	return p.sessions.Answerers, nil
}

// Connect makes the features again, with a test's changes.
func (w *World) Connect(*fakeSessions, *fakeWindows) {
	w.Install(w.Features())
}

// Again is the same world after a restart of the program.
func (w *World) Again() {
	if w.inBubble {
		synctest.Wait() // the running goroutines have read the old world
	}
	w.openCards()
	was := w.Chat
	w.Deps.Chat = chat.New(chat.Deps{Machine: w.Machine, Machines: func() []port.Info { return w.Fleet.Machines() }, Sender: w.Deps.Sender, Chats: w.Chats, Cards: was.Cards, Speech: was.Speech,
		Lang: was.Lang, Host: w.MachineName, Dir: w.StateDir, Now: was.Now, Log: was.Log, Failpoint: was.Failpoint})
	w.Bot = bot.New(w.Config, w.Deps)
}

func (w *World) openCards() {
	cards, err := card.Open(filepath.Join(w.Dir, "cards"), filepath.Join(w.Dir, "quarantine"), w.Deps.Sender,
		func(to session.Conversation) bool { return w.MayShow(to) }, w.Log)
	if err != nil {
		panic(err) // a folder of the test cannot be read
	}
	cards.Failpoint = func(name string) {
		if w.Failpoint != nil {
			w.Failpoint(name)
		}
	}
	w.Deps.Cards, w.Telegram.named, w.Telegram.cards = cards, cards, filepath.Join(w.Dir, "cards")
}

// open reads the folders that a start reads.
func (w *World) open(t *testing.T) {
	t.Helper()
	var err error
	w.Asks, err = ask.Open(filepath.Join(w.Dir, "asks"), filepath.Join(w.Dir, "quarantine"), w.Log)
	require.NoError(t, err)
}

// Session adds a record, the newest of all, that is not current anywhere.
func (w *World) Session(t *testing.T, name string, state session.State, cursors ...talk.Cursor) session.Record {
	t.Helper()
	n := len(w.Records.List())
	r := session.Record{ID: uuid.New(), AgentSessionID: uuid.New(), Name: name, Dir: filepath.Join(w.AgentsHome, name), State: state,
		Conversation: AtAlice, Owner: Alice, Cursors: cursors, CreatedAt: Started.Add(time.Duration(n) * time.Minute)}
	if !state.Live() {
		r.EndedAt = Started.Add(time.Duration(n) * time.Hour)
	}
	w.Records.Put(r)
	return r
}

// NewCurrentSession is session, made current in Alice's chat.
func (w *World) NewCurrentSession(t *testing.T, name string, state session.State, cursors ...talk.Cursor) session.Record {
	t.Helper()
	r := w.Session(t, name, state, cursors...)
	require.NoError(t, w.Chats.SetCurrent(AtAlice, r.ID))
	return r
}

// Handle and the methods below call the bot; named posts are sent then.
func (w *World) Handle(ctx context.Context, key string, u *models.Update, rest ...*models.Update) error {
	defer w.Telegram.Deliver(context.WithoutCancel(ctx))
	if u == nil || u.CallbackQuery == nil {
		return w.Bot.Handle(ctx, key, u, rest...)
	}
	then, err := w.Tap(ctx, u)
	if err != nil || then == nil {
		return err
	}
	return then(ctx)
}

// WithoutPorts does something while a call of a port is a mistake.
func (w *World) WithoutPorts(do func()) {
	w.ports.set(nil, true)
	defer w.ports.set(nil, false)
	do()
}

// reader takes the news of the machine.
func (w *World) reader() wire.Chat {
	if w.Link == nil {
		return w.Bot
	}
	up := &wire.Loop{Answer: wire.Reader{Chat: w.Bot}.Answer}
	return &wire.Client{From: "machine", To: "chat", Transport: up.Call}
}

func (w *World) SessionNews(ctx context.Context, r session.Record, n news.News) error {
	reported := w.Hosted.News(r, n)
	if ready, ok := reported.(news.Ready); ok {
		ready.Answerers = w.Lifecycle.Answerers
		reported = ready
	}
	err := w.reader().SessionNews(ctx, host.View(w.agentsIn(""), r), reported)
	w.Telegram.Deliver(context.WithoutCancel(ctx))
	return err
}

// Forget reports that a session is about to be forgotten.
func (w *World) Forget(ctx context.Context, id uuid.UUID) error {
	return w.reader().SessionNews(ctx, ViewOf(session.Record{ID: id}), news.Forgotten{})
}

func (w *World) Recovered(ctx context.Context, rep recovery.Report) error {
	start := host.StartOf(rep)
	for _, n := range rep.Notices {
		if n.Kind == recovery.Unreadable {
			start.Unreadable++ // the real program finds a file in quarantine for each
		}
	}
	start.Dir = w.StateDir
	err := w.reader().SessionNews(ctx, ViewOf(session.Record{}), start)
	w.Telegram.Deliver(context.WithoutCancel(ctx))
	return err
}

func (w *World) Review(ctx context.Context, away time.Duration) error {
	err := w.Prompts.Review(ctx, away)
	w.Telegram.Deliver(context.WithoutCancel(ctx))
	return err
}

// Record is a session as it is now.
func (w *World) Record(t *testing.T, id uuid.UUID) session.Record {
	t.Helper()
	r, ok := w.Records.Get(id)
	require.True(t, ok)
	return r
}

func PrivateChat(id int64) models.Chat { return models.Chat{ID: id, Type: models.ChatTypePrivate} }

func GroupChat(id int64) models.Chat { return models.Chat{ID: id, Type: models.ChatTypeSupergroup} }

// Accept puts a message into the inbox, as the intake does.
func (w *World) Accept(t *testing.T, m *models.Message) (key string, u *models.Update) {
	t.Helper()
	w.Updates++
	if m.ID == 0 {
		m.ID = int(1000 + w.Updates)
	}
	key, u = inbox.UpdateKey(w.Updates), &models.Update{ID: w.Updates, Message: m}
	raw, err := json.Marshal(u)
	require.NoError(t, err)
	fresh, err := w.Inbox.Accept(key, raw)
	require.NoError(t, err)
	require.True(t, fresh)
	return key, u
}

// AcceptText puts a text of Alice's into the inbox.
func (w *World) AcceptText(t *testing.T, text string) (key string, u *models.Update) {
	t.Helper()
	return w.Accept(t, &models.Message{From: &models.User{ID: Alice}, Chat: PrivateChat(Alice), Text: text})
}

// Hear handles a text of Alice's in her private chat and returns its inbox key.
func (w *World) Hear(t *testing.T, text string) (key string, err error) {
	t.Helper()
	key, u := w.AcceptText(t, text)
	return key, w.HandleText(t, key, u)
}

// HandleText is Handle as the inbox does it: a delayed text is tried again.
func (w *World) HandleText(t *testing.T, key string, u *models.Update) error {
	t.Helper()
	err := w.Handle(t.Context(), key, u)
	if errors.Is(err, inbox.ErrLater) {
		err = w.Handle(t.Context(), key, u)
	}
	return err
}

func (w *World) MustHear(t *testing.T, text string) string {
	t.Helper()
	key, err := w.Hear(t, text)
	require.NoError(t, err)
	return key
}

// TapButton taps a button in Alice's chat.
func (w *World) TapButton(t *testing.T, from int64, data string) error {
	t.Helper()
	m := &models.Message{ID: w.IDOf(data), Chat: PrivateChat(Alice), Text: "the question"}
	return w.Handle(t.Context(), "1", TapOn(from, m, data))
}

// IDOf is the id of the message whose card has a button with these data, 55 of any other message.
func (w *World) IDOf(data string) int {
	if !IsButton(data) {
		return 55
	}
	id, _, _ := strings.Cut(data, ":")
	w.Telegram.Mu.Lock()
	defer w.Telegram.Mu.Unlock()
	return 1 + slices.IndexFunc(w.Telegram.Sent, func(m outbox.Message) bool { return strings.HasPrefix(m.Name, id) })
}

// TapOn is a tap on a button of a message, which gets it if it has none at all.
func TapOn(from int64, m *models.Message, data string) *models.Update {
	if m.ReplyMarkup == nil {
		m.ReplyMarkup = &models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{{{Text: "x", CallbackData: data}}}}
	}
	return &models.Update{CallbackQuery: &models.CallbackQuery{ID: "query", From: models.User{ID: from}, Data: data,
		Message: models.MaybeInaccessibleMessage{Message: m}}}
}

// Word is a sentence in the bot's language.
func (w *World) Word(key i18n.Key, args ...i18n.Args) string { return w.In(AtAlice).Say(key, args...) }

// Named is the sentence with a session's name.
func (w *World) Named(key i18n.Key, name string) string { return w.Word(key, i18n.Args{"Name": name}) }

// AssertErrorShown requires that the chat reports a failed tap: the tap itself had its answer
// before.
func (w *World) AssertErrorShown(t *testing.T, err error) {
	t.Helper()
	require.NoError(t, err)
	assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.InternalError))
}

// Dies ends an action at a failpoint, as a kill of the program does there.
func (w *World) Dies(t *testing.T, at string, do func() error) {
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

// Prompt puts an entry into the inbox that is a prompt of a session.
func (w *World) Prompt(t *testing.T, r session.Record, text string, state inbox.State) inbox.Entry {
	t.Helper()
	w.Updates++
	e := inbox.Entry{Key: inbox.UpdateKey(w.Updates), Received: Started, State: state, Session: r.ID,
		Conversation: AtAlice, MessageID: 77, Text: text}
	_, err := w.Inbox.Add(e)
	require.NoError(t, err)
	return e
}

// Lines joins the lines of a message.
func Lines(text ...string) string { return strings.Join(text, "\n") }
