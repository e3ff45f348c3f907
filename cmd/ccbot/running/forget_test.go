package running

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude/claudeask"
	"ccbot/bot"
	"ccbot/bot/ask"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	ports "ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/bot/prompt"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/offline"
	"ccbot/hooks"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	accepted "ccbot/internal/prompts"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/loop"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/schedule"
)

// forgetful is as much of a system as forgets records. Its outbox sends nothing.
type forgetful struct {
	*system
	t   *testing.T
	out string // folder of the outbox
}

func newForgetful(t *testing.T) forgetful {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	s := &system{Engine: &engine.Engine{Settings: engine.Settings{Config: config.Config{Dir: dir, PermissionMode: agent.ModeAsk}, Log: log}}}
	s.Coding = offline.AgentsToStart(s.Config, &offline.Hook{Path: "/bin/true"})
	require.NoError(t, s.openAll())
	words := i18n.Load(glyph.Name)
	out := filepath.Join(dir, "outbox")
	mayShow := func(session.Conversation) bool { return true }
	speaks := sender{Outbox: outbox.New(nil, "", out, log)}
	var err error
	s.cards, err = card.Open(filepath.Join(dir, "cards"), filepath.Join(dir, "quarantine"), speaks, mayShow, log)
	require.NoError(t, err)
	chats, err := conversation.Open(filepath.Join(dir, "chats"), filepath.Join(dir, "quarantine"), log)
	require.NoError(t, err)
	m := &ports.Machine{Sessions: &host.Sessions{}, Records: host.Views{Agents: s.Coding, Records: s.Store}, Places: &host.Machine{}, Files: &host.Machine{}}
	s.Loops = &loop.Keeper{Log: log, Now: time.Now}
	require.NoError(t, s.Loops.Open(offline.Loops(dir), filepath.Join(dir, "quarantine")))
	s.Schedules = &schedule.Keeper{Log: log, Now: time.Now}
	require.NoError(t, s.Schedules.Open(offline.Schedules(dir), filepath.Join(dir, "quarantine")))
	s.bot = bot.New(bot.Config{Lists: conversation.Lists{People: map[int64]bool{1: true}}},
		bot.Deps{Machine: m, Chat: chat.New(chat.Deps{Machine: m, Sender: speaks, Chats: chats, Cards: s.cards, Speech: words, Now: time.Now, Log: log}), Sender: speaks, Entries: s.inbox, Asks: s.asks})
	s.Receipts = &engine.Receipts{Chat: s.bot}
	return forgetful{s, t, out}
}

// openAll opens the files of the chat and of the engine.
func (s *system) openAll() error {
	if err := s.openStores(s.Config, s.Log); err != nil {
		return err
	}
	s.Prompts = s.prompts.held
	s.Prompts.Report = func(n news.Progress) error { return s.bot.SessionNews(context.Background(), port.Session{}, n) }
	return s.OpenRecords()
}

// settleAll settles what a crash has left.
func (f *forgetful) settleAll(ctx context.Context) error {
	if err := f.prompts.agree(); err != nil {
		return err
	}
	return settle(ctx, f.Engine, func(ctx context.Context, keys []string) error { return prompt.Offer(ctx, f.bot.Prompts, keys) })
}

// waiting is a session with a prompt that waits for it.
func (f forgetful) waiting(text string) (r session.Record, key, settings string) {
	f.t.Helper()
	r, key = session.Record{ID: uuid.New()}, "p-"+uuid.NewString()
	_, err := f.inbox.Add(inbox.Entry{Key: key, State: inbox.Held, Session: r.ID, Text: text,
		Conversation: session.Conversation{ChatID: 1}})
	require.NoError(f.t, err)
	settings, _, err = f.Coding.Of("").Settings.Write(r.ID, f.Dir, func([]string) (map[string]string, error) { return nil, nil })
	require.NoError(f.t, err)
	require.NoError(f.t, f.asks.Save(ask.New(f.request(r), session.Conversation{ChatID: 1})))
	r.Prompts = []string{key, "7"} // 7 is finished: a crash came before it left the queue
	return r, key, settings
}

// request returns a request of the session's agent.
func (f forgetful) request(r session.Record) hooks.Request {
	id := uuid.New()
	who := process.Identity{PID: 9, Start: 9, Boot: "boot"}
	q := hooks.Request{ID: base64.RawURLEncoding.EncodeToString(id[:]), Session: r.ID, Agent: who.Text(), Hook: who.Text(), Tool: "Bash",
		Input: json.RawMessage(`{}`), RequestedAt: time.Now()}
	q.Ask = claudeask.Of(q)
	return q
}

// status writes the session's last status line.
func (f forgetful) status(r session.Record) string {
	path := filepath.Join(f.Dir, hookwire.StatusFolder, r.ID.String()+".json")
	require.NoError(f.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(f.t, os.WriteFile(path, []byte("{}"), 0o600))
	return path
}

// TestP4_ForgettingReportsPromptsFirst: a prompt that still waits for a
// session is in the outbox before it leaves the inbox; then the launch settings,
// the status and the requests of that session alone go.
func TestP4_ForgettingReportsPromptsFirst(t *testing.T) {
	f := newForgetful(t)
	old, key, settings := f.waiting("for the old one")
	other, otherKey, otherSettings := f.waiting("for another one")
	status, otherStatus := f.status(old), f.status(other)
	for range 2 { // a crash before the record goes repeats it
		require.NoError(t, f.Clear(t.Context(), old))
		assert.Equal(t, 1, strings.Count(folder(t, f.out), "for the old one"))
		assert.NotContains(t, folder(t, f.out), "for another one")
	}
	_, err := f.inbox.Load(key)
	assert.ErrorIs(t, err, inbox.ErrNoEntry)
	assert.NoFileExists(t, settings)
	_, err = f.inbox.Load(otherKey)
	assert.NoError(t, err)
	assert.FileExists(t, otherSettings)
	assert.NoFileExists(t, status)
	assert.FileExists(t, otherStatus)
	kept := f.asks.List()
	require.Len(t, kept, 1)
	assert.Equal(t, other.ID, kept[0].Request.Session)
}

// TestP4_UnreportedPromptsPreventForgetting: the prompt and the settings stay.
func TestP4_UnreportedPromptsPreventForgetting(t *testing.T) {
	f := newForgetful(t)
	r, key, settings := f.waiting("hello")
	require.NoError(t, os.WriteFile(f.out, nil, 0o600)) // a file where the folder should be
	require.Error(t, f.Clear(t.Context(), r))
	_, err := f.inbox.Load(key)
	assert.NoError(t, err)
	assert.FileExists(t, settings)
}

// unreadable are the prompts of a record of another version, of a broken one, and of one that is nowhere. Others
// may be there.
func (f *forgetful) unreadable(others ...session.Record) (other, broken, nobodys string) {
	f.t.Helper()
	byOther, other, _ := f.waiting("for the other one")
	torn, broken, _ := f.waiting("for the broken one")
	_, nobodys, _ = f.waiting("for nobody")
	for id, text := range map[uuid.UUID]string{byOther.ID: `{"version":9999}`, torn.ID: `{"version":`} {
		require.NoError(f.t, os.WriteFile(filepath.Join(f.Dir, "sessions", id.String()+".json"), []byte(text), 0o600))
	}
	for _, r := range others {
		require.NoError(f.t, f.Store.Create(r))
	}
	require.NoError(f.t, f.openAll())
	require.Len(f.t, f.Store.Unloaded(), 2)
	f.Lifecycle = lifecycle.New(lifecycle.Config{}, lifecycle.Deps{Store: f.Store, Ender: &ending.Ender{},
		Typist: typing.New(&view.Observer{Agents: f.Coding, Now: time.Now, Log: f.Log}, nil, f.Prompts, nil)})
	require.NoError(f.t, f.settleAll(f.t.Context()))
	return other, broken, nobodys
}

// TestP4_PromptsOfUnreadableRecordWait: the record may come back out of a backup. Prompts of a record that is nowhere are reported.
func TestP4_PromptsOfUnreadableRecordWait(t *testing.T) {
	f := newForgetful(t)
	other, broken, nobodys := f.unreadable()
	for _, key := range []string{other, broken} {
		_, err := f.inbox.Load(key)
		assert.NoError(t, err)
	}
	_, err := f.inbox.Load(nobodys)
	assert.ErrorIs(t, err, inbox.ErrNoEntry)
	assert.Contains(t, folder(t, f.out), "for nobody")
	assert.NotContains(t, folder(t, f.out), "one")
}

// TestLeftPromptPausesLoop: a crash came between a person's prompt and the pause of the loop.
func TestLeftPromptPausesLoop(t *testing.T) {
	f := newForgetful(t)
	r, _, _ := f.waiting("from a person")
	l := loop.Loop{Version: loop.Version, Loop: port.Loop{ID: uuid.New(), Session: r.ID, State: port.LoopRunning, Step: port.LoopCheck, Iteration: 1, Attempt: 1}}
	data, err := json.Marshal(l)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(offline.Loops(f.Dir), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(offline.Loops(f.Dir), l.ID.String()+".json"), data, 0o600))
	require.NoError(t, f.Loops.Open(offline.Loops(f.Dir), filepath.Join(f.Dir, "quarantine")))
	r.Name, r.Dir, r.State, r.AgentSessionID, r.CreatedAt, r.Prompts = "api", f.Dir, session.Running, uuid.New(), time.Now(), nil
	f.unreadable(r)
	all, err := loop.Read(offline.Loops(f.Dir), f.Log)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, []any{port.LoopPaused, port.WhyPersonActed}, []any{all[0].State, all[0].Reason})
}

// TestP4_PromptsOfUnreadableRecordAreOffered: the record may not come back.
func TestP4_PromptsOfUnreadableRecordAreOffered(t *testing.T) {
	f := newForgetful(t)
	open := session.Record{ID: uuid.New(), AgentSessionID: uuid.New(), Name: "open", Dir: f.Dir, State: session.Running, CreatedAt: time.Now()}
	r, typed, _ := f.waiting("for one that may have it")
	require.NoError(t, f.inbox.Change(typed, func(e *inbox.Entry) error { e.State, e.Number = inbox.Unproven, 1; return nil }))
	require.NoError(t, f.Prompts.Files.Save(accepted.Prompt{Key: typed, Number: 1, Session: r.ID, Text: "for one that may have it",
		Since: time.Now(), State: accepted.Unproven, Mark: &talk.Mark{At: time.Now()}}))
	other, broken, nobodys := f.unreadable(open)
	for key, want := range map[string]inbox.State{other: inbox.Asked, broken: inbox.Asked, nobodys: inbox.Asked, typed: inbox.Asked} {
		e, err := f.inbox.Load(key)
		require.NoError(t, err)
		assert.Equal(t, want, e.State, e.Text)
	}
	cards := folder(t, filepath.Join(f.Dir, "cards"))
	assert.Equal(t, 4, strings.Count(cards, "button_send_to:"+open.ID.String()))
	assert.Equal(t, 1, strings.Count(cards, "It is not certain that your message arrived"))
}
