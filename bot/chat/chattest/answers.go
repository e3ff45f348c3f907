package chattest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/pause"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port/talk"
)

// Says is a transcript line with an agent's texts, block by block.
func Says(blocks ...string) string {
	var content []map[string]string
	for _, text := range blocks {
		content = append(content, map[string]string{"type": "text", "text": text})
	}
	line, _ := json.Marshal(map[string]any{"type": "assistant", "uuid": uuid.NewString(), "message": map[string]any{"id": "m", "content": content}})
	return string(line) + "\n"
}

// Step returns the line of an agent's text before a tool call.
func Step(text string) string {
	return strings.Replace(Says(text), `"id":"m"`, `"id":"m","stop_reason":"tool_use"`, 1)
}

const TurnEnd = `{"type":"system","subtype":"turn_duration","durationMs":5}` + "\n"

// TranscriptOf writes lines into a new transcript.
func TranscriptOf(t *testing.T, name string, lines ...string) talk.Cursor {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	return talk.Cursor{Path: path}
}

func Grow(t *testing.T, c talk.Cursor, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(c.Path, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString(strings.Join(lines, ""))
	require.NoError(t, err)
	Changed(c)
}

// changes has the channels that end the readers' wait for Changed, by transcript.
var changes = struct {
	sync.Mutex
	of map[string]chan struct{}
}{of: make(map[string]chan struct{})}

// Changed wakes the readers that wait for a change of a transcript.
func Changed(c talk.Cursor) {
	changes.Lock()
	defer changes.Unlock()
	if change := changes.of[c.Path]; change != nil {
		close(change)
		delete(changes.of, c.Path)
	}
}

// untilChanged is closed by the next Changed.
func untilChanged(path string) <-chan struct{} {
	changes.Lock()
	defer changes.Unlock()
	if changes.of[path] == nil {
		changes.of[path] = make(chan struct{})
	}
	return changes.of[path]
}

// Running runs the bot until the test, or stop, ends it; stop returns its error.
func (w *World) Running(t *testing.T) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return Receive(t, done)
	})
	t.Cleanup(func() { _ = stop() })
	return stop
}

// Timeout is longer than anything that follows an event may take in a bubble.
const Timeout = 2 * time.Minute

func Receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	return waittest.Next(t, c)
}

// Expect wants these events next, in this order.
func (w *World) Expect(t *testing.T, events ...string) {
	t.Helper()
	for _, want := range events {
		require.Equal(t, want, Receive(t, w.Order))
	}
}

// Happened are the events so far.
func (w *World) Happened() []string {
	var all []string
	for {
		select {
		case e := <-w.Order:
			all = append(all, e)
		default:
			return all
		}
	}
}

func (w *World) Cursors(r session.Record) []talk.Cursor {
	r, _ = w.Records.Get(r.ID)
	return r.Cursors
}

// Marker is the sentence in place of a missing part.
func (w *World) Marker(r session.Record) string {
	return w.Word(i18n.PartNotShown, i18n.Args{"Name": r.Name, "Command": "tmux attach -t " + r.Name})
}

// Long is a text of several parts, each word once.
func Long(words int) string {
	var b strings.Builder
	for n := range words {
		fmt.Fprintf(&b, "word%05d ", n)
	}
	return strings.TrimSpace(b.String())
}

func Contains(list []string, line string) bool {
	for _, l := range list {
		if l == line {
			return true
		}
	}
	return false
}

const Thinks = `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm\nso"}]}}` + "\n"

const (
	Interrupt = `{"type":"user","message":{"content":"[Request interrupted by user]"}}` + "\n"
	APIError  = `{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"529"}]}}` + "\n"
	ToolUse   = `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","id":"t"}]}}` + "\n"
)

func PromptLine(text string) string {
	content, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":"user","message":{"content":%s}}`, content) + "\n"
}

// Notice is the chat's notice of an answer with this first line.
func (w *World) Notice(name, line string) string {
	return w.Word(i18n.AnswerNotice, i18n.Args{"Name": name, "Said": line})
}

// Beside makes a session that is not the current one of Alice's chat.
func (w *World) Beside(t *testing.T, state session.State, lines ...string) session.Record {
	t.Helper()
	w.NewCurrentSession(t, "front", session.Running)
	return w.Session(t, "api", state, TranscriptOf(t, "t.jsonl", lines...))
}

// transcripts are the transcripts on disk; they record the position of readers.
type transcripts struct {
	*gate
	*host.Transcripts
	Reported bool                 // Changed wakes a waiting reader: no bubble of fake time can wait for an inotify instance
	watch    func()               // runs the room in which readers wait
	Gives    func(item talk.Item) // before a reader gets an item
	Reads    func() error         // before a reader reads

	mu      sync.Mutex
	waiting context.Context // of the reader that waited last
	waits   chan struct{}   // closed when a reader waits for more than there is
}

// untilOneWaits is closed when a reader has read all there is, from now on.
func (f *transcripts) untilOneWaits() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waits = make(chan struct{})
	return f.waits
}

// LastWaiting is the context in which a reader has waited for an item last.
func (f *transcripts) LastWaiting() context.Context {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting
}

func (f *transcripts) Next(ctx context.Context, id uuid.UUID, from talk.Cursor, most int, wait bool) ([]talk.Item, error) {
	f.wait()
	if f.Reads != nil {
		if err := f.Reads(); err != nil {
			return nil, err
		}
	}
	if wait {
		f.mu.Lock()
		f.waiting = ctx
		f.mu.Unlock()
	}
	if f.Gives != nil {
		most = 1
	}
	r, _ := f.Transcripts.Records.Get(id)
	c, _ := r.Cursor()
	wait = wait && r.State.Live() && c.Path == from.Path
	for {
		var changed <-chan struct{}
		if f.Reported {
			changed = untilChanged(from.Path)
		}
		items, err := f.Transcripts.Next(ctx, id, from, most, false)
		if wait && err == nil && len(items) == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			f.oneWaits()
			if f.Reported {
				select {
				case <-changed:
				case <-ctx.Done():
				}
				_ = pause.For(ctx, 10*time.Millisecond) // all that is written at this moment is one change
				continue
			}
			f.watch()
			items, err = f.Transcripts.Next(ctx, id, from, most, true)
		}
		if f.Gives != nil && len(items) > 0 {
			f.Gives(items[0])
		}
		return items, err
	}
}

func (f *transcripts) Between(ctx context.Context, from *talk.Cursor, before talk.Cursor) ([]talk.Item, bool, error) {
	f.wait()
	return f.Transcripts.Between(ctx, from, before)
}

func (f *transcripts) End(ctx context.Context, of talk.Cursor) (talk.Cursor, error) {
	f.wait()
	return f.Transcripts.End(ctx, of)
}

func (f *transcripts) oneWaits() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.waits != nil {
		close(f.waits)
		f.waits = nil
	}
}

// Seen waits until the chat has count answers, and returns them.
func (w *World) Seen(t *testing.T, count int) []string {
	t.Helper()
	waittest.Until(t, func() bool { return len(w.Telegram.AnswersSent()) >= count }, "%v", w.Telegram.Done())
	return w.Telegram.AnswersSent()
}

// InTheChat returns the chat's messages of a session. Each message names the session.
func (w *World) InTheChat(t *testing.T, r session.Record) (all []string) {
	t.Helper()
	for _, m := range w.Telegram.Sent {
		assert.Equal(t, r.ID, m.Session)
		text := m.Text.Text
		if m.Rich != "" {
			text = "rich " + m.Rich
		}
		all = append(all, "send "+text)
	}
	for _, f := range w.Telegram.Files {
		assert.Equal(t, r.ID, f.Session)
		assert.Equal(t, "the bad one\n", Content(t, f))
		all = append(all, "file "+f.Name)
	}
	for _, m := range w.Telegram.Posted {
		assert.Equal(t, r.ID, m.Session)
		assert.Equal(t, w.Marker(r), m.Text.Text)
		all = append(all, "marker")
	}
	return all
}

func Content(t *testing.T, f outbox.File) string {
	t.Helper()
	data, err := io.ReadAll(io.NewSectionReader(f.Body, 0, f.Size))
	require.NoError(t, err)
	return string(data)
}

// RenderCrash panics when it renders a text, Times times.
type RenderCrash struct {
	*FakeSender
	Times int
}

func (c *RenderCrash) TakesRich() bool {
	if c.Times--; c.Times >= 0 {
		panic("a mistake of ours")
	}
	return false
}

// Blocks lets Alice block the bot. unblock unblocks it, by a message of hers.
func (w *World) Blocks(t *testing.T) (unblock func()) {
	t.Helper()
	w.Telegram.OnSend = func(context.Context, outbox.Message) error {
		w.Telegram.Mu.Lock()
		defer w.Telegram.Mu.Unlock()
		w.Telegram.OnParked = map[int64]bool{Alice: true}
		return fmt.Errorf("send: %w", &outbox.Refused{Err: outbox.ErrBlocked})
	}
	return func() {
		w.Telegram.OnSend = nil
		w.MustHear(t, "/status nobody")
		w.Work(t)
	}
}

// WhoAndWhere is the table of P9: a person, a chat, and whether the person is allowed.
var WhoAndWhere = []struct {
	Name   string
	From   int64
	Chat   models.Chat
	OnItem bool
}{
	{"an allowed person in private", Alice, PrivateChat(Alice), true},
	{"an allowed person in an allowed group", Alice, GroupChat(Ours), true},
	{"an allowed person in an allowed plain group", Alice, models.Chat{ID: Ours, Type: models.ChatTypeGroup}, true},
	{"an allowed person in another group", Alice, GroupChat(-200), false},
	{"a stranger in private", Eve, PrivateChat(Eve), false},
	{"a stranger in an allowed group", Eve, GroupChat(Ours), false},
	{"a stranger in another group", Eve, GroupChat(-200), false},
	{"an allowed person in a channel", Alice, models.Chat{ID: -300, Type: models.ChatTypeChannel}, false},
	{"a chat that does not say what it is", Alice, models.Chat{ID: -200}, false},
}
