package bot_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/internal/sandbox"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// strictAPI is the sandbox with the limits of Telegram, reached without a network, so that the clock
// may be that of a bubble. It keeps what the chat was shown.
type strictAPI struct {
	*tgbot.Bot
	person *sandbox.Person

	mu      sync.Mutex
	busy    []int // sends that are answered with a wait of three seconds
	sends   int
	refused int // by the sandbox
	shown   []shownMessage
}

// shownMessage is a message, an edit or a file that the chat took.
type shownMessage struct {
	at   time.Time
	how  string // send, edit or file
	text string // of a file: its contents
}

func newStrictAPI(t *testing.T) *strictAPI {
	t.Helper()
	srv := sandbox.New(sandbox.Options{RealLimits: true})
	api := &strictAPI{person: srv.Person(chattest.Alice, "Alice")}
	api.person.Start()
	srv.Group(chattest.Ours, "group", true)
	var err error
	api.Bot, err = tgbot.New(srv.Token(), tgbot.WithSkipGetMe(), tgbot.WithServerURL("http://127.0.0.1"),
		tgbot.WithHTTPClient(time.Second, direct{srv.Handler()}))
	require.NoError(t, err)
	return api
}

// direct is an HTTP client of a handler in the same program. A call takes 50 ms.
type direct struct{ http.Handler }

func (d direct) Do(r *http.Request) (*http.Response, error) {
	time.Sleep(50 * time.Millisecond)
	w := httptest.NewRecorder()
	here := context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	d.ServeHTTP(w, r.WithContext(here))
	return w.Result(), nil
}

// did keeps what the chat has taken.
func (s *strictAPI) did(how, text string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.refused++
		return
	}
	s.shown = append(s.shown, shownMessage{time.Now(), how, text})
}

func (s *strictAPI) SendMessage(ctx context.Context, p *tgbot.SendMessageParams) (*models.Message, error) {
	s.mu.Lock()
	s.sends++
	busy := slices.Contains(s.busy, s.sends)
	s.mu.Unlock()
	if busy {
		return nil, &tgbot.TooManyRequestsError{Message: "Too Many Requests", RetryAfter: 3}
	}
	m, err := s.Bot.SendMessage(ctx, p)
	s.did("send", p.Text, err)
	return m, err
}

func (s *strictAPI) EditMessageText(ctx context.Context, p *tgbot.EditMessageTextParams) (*models.Message, error) {
	m, err := s.Bot.EditMessageText(ctx, p)
	s.did("edit", p.Text, err)
	return m, err
}

func (s *strictAPI) SendDocument(ctx context.Context, p *tgbot.SendDocumentParams) (*models.Message, error) {
	up := p.Document.(*models.InputFileUpload)
	data, err := io.ReadAll(up.Data)
	if err != nil {
		return nil, err
	}
	up.Data = bytes.NewReader(data)
	m, err := s.Bot.SendDocument(ctx, p)
	s.did("file", string(data), err)
	return m, err
}

// since are the messages from a moment on.
func (s *strictAPI) since(from time.Time) []shownMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []shownMessage
	for _, m := range s.shown {
		if !m.at.Before(from) {
			all = append(all, m)
		}
	}
	return all
}

// after is how long after a moment the chat had a text.
func (s *strictAPI) after(t *testing.T, from time.Time, text string) time.Duration {
	t.Helper()
	all := s.since(from)
	i := slices.IndexFunc(all, func(m shownMessage) bool { return strings.Contains(m.text, text) })
	require.GreaterOrEqual(t, i, 0, "%q is not in the chat: %v", text, all)
	return all[i].at.Sub(from).Round(10 * time.Millisecond)
}

// flooded is a world whose bot speaks to the strict sandbox, and has been quiet for a minute.
func flooded(t *testing.T) (*chattest.World, *strictAPI, *outbox.Outbox) {
	t.Helper()
	w := chattest.NewWorld(t)
	time.Sleep(time.Hour)
	api := newStrictAPI(t)
	o, _ := through(t, w, api)
	time.Sleep(time.Minute)
	return w, api, o
}

// inTopic is a session in a new topic of the group.
func inTopic(t *testing.T, w *chattest.World, api *strictAPI, name string) (session.Record, func(lines ...string)) {
	t.Helper()
	c := chattest.TranscriptOf(t, name+".jsonl")
	r := w.Session(t, name, session.Running, c)
	to := session.Conversation{ChatID: chattest.Ours, ThreadID: api.person.OpenTopic(chattest.Ours, name)}
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = to })
	require.NoError(t, w.Chats.SetCurrent(to, r.ID))
	w.Answers.Follow(views.Session{ID: r.ID})
	return w.Record(t, r.ID), func(lines ...string) { chattest.Grow(t, c, lines...) }
}

// spends uses up the burst of a chat.
func spends(t *testing.T, o *outbox.Outbox, to session.Conversation) {
	t.Helper()
	for i := range 3 {
		require.NoError(t, o.Post(t.Context(), outbox.Message{To: to, Text: render.Plain(fmt.Sprint("before ", i))}))
	}
	time.Sleep(time.Second)
	synctest.Wait()
}

// TestFigures logs how soon the chat has what matters, against the sandbox with the limits of Telegram.
func TestFigures(t *testing.T) {
	group := session.Conversation{ChatID: chattest.Ours}
	flood := func(chatter func(lines ...string), from, to int, end string) {
		for i := range to - from {
			time.Sleep(100 * time.Millisecond)
			chatter(chattest.Says(fmt.Sprintf("Step %d is done, and all is well.", from+i)), end)
		}
	}
	current := func(t *testing.T, w *chattest.World) func(lines ...string) {
		c := chattest.TranscriptOf(t, "t.jsonl")
		r := w.NewCurrentSession(t, "api", session.Running, c)
		w.Answers.Follow(views.Session{ID: r.ID})
		return func(lines ...string) { chattest.Grow(t, c, lines...) }
	}
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, w *chattest.World, api *strictAPI, o *outbox.Outbox)
	}{
		{"20 answers within 8 s", func(t *testing.T, w *chattest.World, api *strictAPI, _ *outbox.Outbox) {
			says, began := current(t, w), time.Now()
			for _, answer := range answers(0, 20) {
				time.Sleep(400 * time.Millisecond)
				says(chattest.Says(answer), chattest.ToolUse)
			}
			last := time.Now()
			time.Sleep(time.Minute)
			t.Logf("%d messages, the last %s after it was said", len(api.since(began)), api.after(t, last, "answer 19"))
		}},
		{"20 answers within 8 s, and two 429s", func(t *testing.T, w *chattest.World, api *strictAPI, _ *outbox.Outbox) {
			says, began := current(t, w), time.Now()
			api.busy = []int{4, 6}
			for _, answer := range answers(0, 20) {
				time.Sleep(400 * time.Millisecond)
				says(chattest.Says(answer), chattest.ToolUse)
			}
			last := time.Now()
			time.Sleep(time.Minute)
			t.Logf("%d messages, the last %s after it was said", len(api.since(began)), api.after(t, last, "answer 19"))
		}},
		{"20 answers within 8 s, each the end of a turn", func(t *testing.T, w *chattest.World, api *strictAPI, _ *outbox.Outbox) {
			says, began := current(t, w), time.Now()
			for _, answer := range answers(0, 20) {
				time.Sleep(400 * time.Millisecond)
				says(chattest.Says(answer), chattest.TurnEnd)
			}
			last := time.Now()
			time.Sleep(time.Minute)
			t.Logf("%d messages, the last %s after it was said", len(api.since(began)), api.after(t, last, "answer 19"))
		}},
		{"300 texts in 30 s, one turn", func(t *testing.T, w *chattest.World, api *strictAPI, _ *outbox.Outbox) {
			says, began := current(t, w), time.Now()
			flood(says, 0, 300, chattest.ToolUse)
			last := time.Now()
			says(chattest.TurnEnd, chattest.PromptLine("next"), chattest.Says("The answer."))
			time.Sleep(10 * time.Minute)
			t.Logf("%d messages; the last text after %s, the answer of the next prompt after %s",
				len(api.since(began)), api.after(t, last, "Step 299 "), api.after(t, last, "The answer."))
		}},
		{"300 texts in 30 s, each the end of a turn", func(t *testing.T, w *chattest.World, api *strictAPI, _ *outbox.Outbox) {
			says, began := current(t, w), time.Now()
			flood(says, 0, 300, chattest.TurnEnd)
			last := time.Now()
			says(chattest.PromptLine("next"), chattest.Says("The answer."))
			time.Sleep(10 * time.Minute)
			t.Logf("%d messages; the last text after %s, the answer of the next prompt after %s",
				len(api.since(began)), api.after(t, last, "Step 299 "), api.after(t, last, "The answer."))
		}},
		{"3000 texts while the chat takes nothing", func(t *testing.T, w *chattest.World, api *strictAPI, _ *outbox.Outbox) {
			says, began := current(t, w), time.Now()
			for i := range 3000 {
				says(chattest.Says(fmt.Sprintf("Step %d is done, and all is well.", i)), chattest.TurnEnd)
			}
			last := time.Now()
			says(chattest.PromptLine("next"), chattest.Says("The answer."))
			time.Sleep(100 * time.Minute)
			t.Logf("%d messages; the last text after %s, the answer of the next prompt after %s",
				len(api.since(began)), api.after(t, last, "Step 2999 "), api.after(t, last, "The answer."))
		}},
		{"group: two /new, two answers, a question of one of them", func(t *testing.T, w *chattest.World, api *strictAPI, o *outbox.Outbox) {
			one, saysOne := inTopic(t, w, api, "one")
			_, saysTwo := inTopic(t, w, api, "two")
			spends(t, o, group)
			began := time.Now()
			for _, name := range []string{"three", "four"} {
				w.SaysIn(t, chattest.Ours, models.Message{Text: "/new " + name})
				all := w.Records.List()
				new := slices.IndexFunc(all, func(r session.Record) bool { return r.Name == name })
				require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteReady, Session: all[new]}))
			}
			saysTwo(chattest.Says("Two has an answer."))
			saysOne(chattest.Says("One has an answer."))
			time.Sleep(100 * time.Millisecond)
			q := w.Request(t, one, "Bash", `{"command":"echo question"}`)
			require.NoError(t, w.Asked(t.Context(), q.Request))
			time.Sleep(10 * time.Minute)
			t.Logf("%d messages; the question after %s, the answers after %s and %s, four is ready after %s", len(api.since(began)),
				api.after(t, began, "echo question"), api.after(t, began, "Two has"), api.after(t, began, "One has"), api.after(t, began, "four is ready"))
		}},
		{"group: behind ten texts of another topic", func(t *testing.T, w *chattest.World, api *strictAPI, o *outbox.Outbox) {
			_, saysOne := inTopic(t, w, api, "one")
			two, _ := inTopic(t, w, api, "two")
			spends(t, o, group)
			for _, answer := range answers(0, 10) {
				saysOne(chattest.Says(answer), chattest.TurnEnd)
			}
			time.Sleep(time.Second)
			began := time.Now()
			q := w.Request(t, two, "Bash", `{"command":"echo question"}`)
			require.NoError(t, w.Asked(t.Context(), q.Request))
			w.SaysIn(t, chattest.Ours, models.Message{Text: "/list"})
			time.Sleep(10 * time.Minute)
			t.Logf("the question after %s, the list after %s, the last text after %s", api.after(t, began, "echo question"),
				api.after(t, began, "\u2022 two"), api.after(t, began, "answer 9"))
		}},
		{"group: a prompt while another topic is flooded", func(t *testing.T, w *chattest.World, api *strictAPI, _ *outbox.Outbox) {
			_, saysOne := inTopic(t, w, api, "one")
			two, saysTwo := inTopic(t, w, api, "two")
			flood(saysOne, 0, 150, chattest.TurnEnd)
			began := time.Now()
			saysTwo(chattest.PromptLine("next"), chattest.Says("The answer."))
			flood(saysOne, 150, 170, chattest.TurnEnd)
			asked := time.Now()
			q := w.Request(t, two, "Bash", `{"command":"echo question"}`)
			require.NoError(t, w.Asked(t.Context(), q.Request))
			flood(saysOne, 170, 300, chattest.TurnEnd)
			listed := time.Now()
			w.SaysIn(t, chattest.Ours, models.Message{Text: "/list"})
			time.Sleep(30 * time.Minute)
			t.Logf("the answer after %s, a question after %s, a list after %s; the last text of the flood after %s", api.after(t, began, "The answer."),
				api.after(t, asked, "echo question"), api.after(t, listed, "\u2022 two"), api.after(t, listed, "Step 299 "))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, api, o := flooded(t)
				tt.do(t, w, api, o)
				synctest.Wait()
				t.Logf("%d refused", api.refused)
			})
		})
	}
}

var _ = assert.Equal
