package bot_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
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
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/try/botapi"
)

// strictAPI is the stand-in of the Bot API with Telegram's limits, called without a network, so
// that a bubble's clock works. It records the messages of the chat.
type strictAPI struct {
	*tgbot.Bot
	srv    *botapi.Server
	person *botapi.Person

	mu       sync.Mutex
	before   func(how string, n int) error // fails a call that the chat does not take
	after    func(how string) error        // spoils the answer of one that it took
	calls    int
	refused  int // by the stand-in
	shown    []shownMessage
	captions []string // of files
	last     int      // id of the last message
}

// shownMessage is a message, an edit or a file that the chat took.
type shownMessage struct {
	at   time.Time
	how  string // send, edit or file
	text string // of a file: its contents
	id   int64  // of the chat and the message
	stop bool   // it has the button [Stop]
	keys models.ReplyMarkup
}

func newStrictAPI(t *testing.T) *strictAPI {
	t.Helper()
	srv := botapi.New(botapi.Options{RealLimits: true})
	api := &strictAPI{srv: srv, person: srv.Person(chattest.Alice, "Alice")}
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

// do is one call, and keeps what the chat has taken.
func (s *strictAPI) do(how, text string, keys models.ReplyMarkup, call func() (*models.Message, error)) (*models.Message, error) {
	s.mu.Lock()
	s.calls++
	n := s.calls
	s.mu.Unlock()
	if s.before != nil {
		if err := s.before(how, n); err != nil {
			return nil, err
		}
	}
	m, err := call()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.refused++
		return m, err
	}
	s.shown, s.last = append(s.shown, shownMessage{time.Now(), how, text, m.Chat.ID<<32 + int64(m.ID), hasStop(keys), keys}), m.ID
	if s.after != nil {
		if err := s.after(how); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// hasStop reports whether a keyboard has the button of a turn that runs.
func hasStop(keys models.ReplyMarkup) bool {
	rows, _ := keys.(*models.InlineKeyboardMarkup)
	return rows != nil && slices.ContainsFunc(slices.Concat(rows.InlineKeyboard...), func(b models.InlineKeyboardButton) bool { return b.Text == "Stop" })
}

// Failures of calls, as the library reports them.
var (
	errLimit = &tgbot.TooManyRequestsError{Message: "Too Many Requests", RetryAfter: 3}
	errLost  = fmt.Errorf("error do request for method sendMessage, %w", context.DeadlineExceeded)
	errRight = fmt.Errorf("%w, Bad Request: not enough rights to send documents to the chat", tgbot.ErrorBadRequest)
)

func (s *strictAPI) SendMessage(ctx context.Context, p *tgbot.SendMessageParams) (*models.Message, error) {
	return s.do("send", p.Text, p.ReplyMarkup, func() (*models.Message, error) { return s.Bot.SendMessage(ctx, p) })
}

func (s *strictAPI) EditMessageText(ctx context.Context, p *tgbot.EditMessageTextParams) (*models.Message, error) {
	return s.do("edit", p.Text, p.ReplyMarkup, func() (*models.Message, error) { return s.Bot.EditMessageText(ctx, p) })
}

func (s *strictAPI) SendDocument(ctx context.Context, p *tgbot.SendDocumentParams) (*models.Message, error) {
	up := p.Document.(*models.InputFileUpload)
	data, err := io.ReadAll(up.Data)
	if err != nil {
		return nil, err
	}
	up.Data = bytes.NewReader(data)
	return s.do("file", string(data), p.ReplyMarkup, func() (*models.Message, error) {
		s.captions = append(s.captions, p.Caption)
		return s.Bot.SendDocument(ctx, p)
	})
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

// afterwards is how long after a moment the chat had a text.
func (s *strictAPI) afterwards(t *testing.T, from time.Time, text string) time.Duration {
	t.Helper()
	all := s.since(from)
	i := slices.IndexFunc(all, func(m shownMessage) bool { return strings.Contains(m.text, text) })
	require.GreaterOrEqual(t, i, 0, "%q is not in the chat: %v", text, all)
	return all[i].at.Sub(from).Round(10 * time.Millisecond)
}

// flooded is a world whose bot speaks to the strict stand-in, and has been quiet for a minute.
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
	w.Answers.Follow(port.Session{ID: r.ID})
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

// steps are many short texts of an agent.
func steps(from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf("Step %d is done, and all is well.", i))
	}
	return all
}

// floods lets an agent say texts one after the other.
func floods(says func(lines ...string), texts []string, every time.Duration, end string) {
	for _, text := range texts {
		time.Sleep(every)
		says(chattest.Says(text), end)
	}
}

// turns are the lines of texts, each with what comes after it.
func turns(texts []string, end string) (lines []string) {
	for _, text := range texts {
		lines = append(lines, chattest.Says(text), end)
	}
	return lines
}

// current is the current session of Alice's chat.
func current(t *testing.T, w *chattest.World) (r session.Record, says func(lines ...string)) {
	t.Helper()
	c := chattest.TranscriptOf(t, "t.jsonl")
	r = w.NewCurrentSession(t, "api", session.Running, c)
	w.Answers.Follow(port.Session{ID: r.ID})
	return r, func(lines ...string) { chattest.Grow(t, c, lines...) }
}

// said are the texts that the chat was shown, one by one: of messages and of files.
func (s *strictAPI) said(from time.Time) (all []string) {
	for _, m := range s.since(from) {
		all = append(all, strings.Split(strings.TrimSpace(m.text), "\n\n")...)
	}
	return all
}

// TestP5_FloodIsJoined: waiting texts are joined, also across turns, and more than three full
// messages become a file. Nothing is lost, repeated or out of order, and the answer to the next
// prompt comes soon as a separate message. The stand-in never has to refuse a call.
func TestP5_FloodIsJoined(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		end      string // of each text
		texts    int
		every    time.Duration // how often the agent says one; 0: all at once
		busy     []int         // calls that are answered with 429, and a wait of three seconds
		messages int           // at most, the next answer included
		files    int
		last     time.Duration // of the texts, at most
	}{
		{"20 texts in 8 s", chattest.ToolUse, 20, 400 * time.Millisecond, nil, 12, 0, 4 * time.Second},
		{"20 texts in 8 s, and two limits of three seconds", chattest.ToolUse, 20, 400 * time.Millisecond, []int{4, 6}, 12, 0, 10 * time.Second},
		{"20 texts in 8 s, each the end of a turn", chattest.TurnEnd, 20, 400 * time.Millisecond, nil, 12, 0, 4 * time.Second},
		{"300 texts in 30 s, one turn", chattest.ToolUse, 300, time.Second / 10, nil, 36, 0, 2 * time.Second},
		{"300 texts in 30 s, each the end of a turn", chattest.TurnEnd, 300, time.Second / 10, nil, 36, 0, 2 * time.Second},
		{"300 texts at once, each the end of a turn", chattest.TurnEnd, 300, 0, nil, 8, 0, 4 * time.Second},
		{"3,000 texts at once, each the end of a turn", chattest.TurnEnd, 3000, 0, nil, 2, 1, 4 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, api, _ := flooded(t)
				r, says := current(t, w)
				api.before = func(_ string, n int) error {
					if slices.Contains(tt.busy, n) {
						return errLimit
					}
					return nil
				}
				began := time.Now()
				want := steps(0, tt.texts)
				if tt.every == 0 {
					says(turns(want, tt.end)...)
				} else {
					floods(says, want, tt.every, tt.end)
				}
				last := time.Now()
				says(chattest.PromptLine("next"), chattest.Says("The answer."), chattest.TurnEnd)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				require.Equal(t, append(want, "The answer."), api.said(began))
				all := api.since(began)
				came, answered := api.afterwards(t, last, want[len(want)-1]), api.afterwards(t, last, "The answer.")
				t.Logf("%d messages; the last text after %s, the next answer after %s", len(all), came, answered)
				assert.Equal(t, "The answer.", all[len(all)-1].text, "the answers to two prompts are two messages")
				assert.LessOrEqual(t, len(all), tt.messages)
				assert.Len(t, slices.DeleteFunc(all, func(m shownMessage) bool { return m.how != "file" }), tt.files)
				assert.LessOrEqual(t, came, tt.last)
				assert.LessOrEqual(t, answered, came+4*time.Second)
				assert.Zero(t, api.refused)
				assert.Zero(t, w.Cursors(r)[0].Joined)
			})
		})
	}
}

// TestCurrentSessionIsSentFirst: of 20 sessions that answer at once, the current one is sent first.
func TestCurrentSessionIsSentFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, api, _ := flooded(t)
		var others []func(lines ...string)
		for i := range 19 {
			c := chattest.TranscriptOf(t, fmt.Sprintf("%d.jsonl", i))
			r := w.Session(t, fmt.Sprint("s", i), session.Running, c)
			w.Answers.Follow(port.Session{ID: r.ID})
			others = append(others, func(lines ...string) { chattest.Grow(t, c, lines...) })
		}
		_, says := current(t, w)
		began := time.Now()
		for _, line := range []string{"first", "second"} {
			for i, other := range others {
				other(chattest.Says(fmt.Sprintf("%s of %d.", line, i)), chattest.TurnEnd)
			}
		}
		says(chattest.PromptLine("next"), chattest.Says("The answer."), chattest.TurnEnd)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		all, answered := api.since(began), api.afterwards(t, began, "The answer.")
		t.Logf("the answer after %s; %d calls, the last after %s", answered, len(all), all[len(all)-1].at.Sub(began).Round(10*time.Millisecond))
		assert.LessOrEqual(t, answered, time.Second)
		assert.Zero(t, api.refused)
		var texts []string
		for _, m := range all {
			texts = append(texts, m.text)
		}
		for i := range others {
			assert.Contains(t, texts, fmt.Sprintf("s%d is done: second of %d.", i, i), "no other session is forgotten")
		}
	})
}

// TestP5_FileShowsExcerptOfTexts, and a reply to it finds its session.
func TestP5_FileShowsExcerptOfTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, api, _ := flooded(t)
		r, says := current(t, w)
		var lines []string
		for i := range 1000 {
			lines = append(lines, chattest.Says(fmt.Sprintf("# Step **%d**\n\nis `done`.", i)))
		}
		says(lines...)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"1,000 messages at once. All of them are in this file. Beginning and end:\n" +
			"Step 0\nStep 1\nStep 2\n…\nStep 997\nStep 998\nStep 999"}, api.captions)
		assert.True(t, strings.HasSuffix(api.shown[0].text, "# Step **999**\n\nis `done`.\n"), "as the agent wrote it")
		whose, ok := w.Chats.SessionOf(chattest.AtAlice, api.last)
		require.True(t, ok)
		assert.Equal(t, r.ID, whose)
	})
}

// TestP5_KillRepeatsFileUnchanged: the file's content is on disk before the first try, so the next
// run sends the same file again, and later texts after it.
func TestP5_KillRepeatsFileUnchanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		time.Sleep(time.Hour)
		first := newStrictAPI(t)
		first.after = func(string) error { return errLost } // it is taken, and the program dies
		_, stop := through(t, w, first)
		_, says := current(t, w)
		says(turns(answers(0, 2000), chattest.TurnEnd)...)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.NotEmpty(t, first.since(time.Time{}))
		stop()
		says(turns(answers(2000, 4000), chattest.TurnEnd)...)
		second := newStrictAPI(t)
		through(t, w, second)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, second.shown, 2)
		assert.Equal(t, first.shown[0].text, second.shown[0].text)
		assert.Equal(t, answers(0, 4000), second.said(time.Time{}))
	})
}

// TestP5_RefusedFileComesAsMessages: in a chat that takes no files.
func TestP5_RefusedFileComesAsMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, api, _ := flooded(t)
		api.before = func(how string, _ int) error {
			if how == "file" {
				return errRight
			}
			return nil
		}
		_, says := current(t, w)
		want := answers(0, 1500)
		says(turns(want, "")...)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		assert.Equal(t, want, api.said(time.Time{}))
	})
}

// TestP5_FilePanicLosesNothing: the texts of the file are shown all the same.
func TestP5_FilePanicLosesNothing(t *testing.T) {
	t.Parallel()
	for _, panics := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(panics), func(t *testing.T) {
			w := chattest.NewWorld(t)
			uploads := 0
			w.Telegram.Upload = func(outbox.File) error {
				if uploads++; uploads <= panics {
					panic("a mistake of ours")
				}
				return nil
			}
			want := answers(0, 1500)
			r := w.NewCurrentSession(t, "api", session.Running, chattest.TranscriptOf(t, "t.jsonl", turns(want, "")...))
			w.ReadAll(t)
			lost := min(panics/2, 1) // in its place stands a sentence
			assert.Equal(t, lost, len(w.Telegram.Texts()))
			require.Len(t, w.Telegram.Files, 1)
			assert.Equal(t, want[lost:], strings.Split(strings.TrimSpace(chattest.Content(t, w.Telegram.Files[0])), "\n\n"))
			assert.Zero(t, w.Cursors(r)[0].Joined)
		})
	}
}

// Texts are not joined across a prompt, nor across the end of a turn if the next turn only has a
// notice.
func TestP5_PromptSeparatesJoinedTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, api, o := flooded(t)
		r, says := current(t, w)
		spends(t, o, r.Conversation)
		began := time.Now()
		says(chattest.Says("waits"), chattest.Says("one"), chattest.TurnEnd, chattest.Says("two"), chattest.TurnEnd,
			chattest.PromptLine("p"), chattest.Says("three"), chattest.ToolUse, chattest.Says("four"), chattest.TurnEnd)
		time.Sleep(time.Minute)
		synctest.Wait()
		var all []string
		for _, m := range api.since(began) {
			all = append(all, m.text)
		}
		assert.Equal(t, []string{"waits", "one\n\ntwo", "three\n\nfour"}, all)
	})
}

// TestP5_JoinedTextsUnderAnyAnswer: for any answers of the Bot API and any number of restarts, each
// text comes in order, and at most the message in progress is repeated, unchanged below its mark.
func TestP5_JoinedTextsUnderAnyAnswer(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				source := rand.New(rand.NewPCG(seed, seed))
				chance := func(n int) int {
					mu.Lock()
					defer mu.Unlock()
					return source.IntN(n)
				}
				w := chattest.NewWorld(t)
				time.Sleep(time.Hour)
				api := newStrictAPI(t)
				api.before = func(how string, _ int) error {
					if how == "file" && seed%4 == 3 {
						return errRight
					}
					return []error{nil, nil, nil, nil, nil, nil, nil, nil, errLost, errLimit}[chance(10)]
				}
				api.after = func(string) error { return []error{nil, nil, nil, nil, nil, errLost}[chance(6)] }
				_, stop := through(t, w, api)
				_, says := current(t, w)
				want := []string(nil)
				for range 40 {
					texts := make([]string, 1+chance(6))
					for i := range texts {
						texts[i] = fmt.Sprint("text ", len(want)+i, strings.Repeat(" and more", chance(40)*chance(12)))
					}
					want = append(want, texts...)
					says(turns(texts, []string{"", chattest.TurnEnd, chattest.ToolUse}[chance(3)])...)
					says([]string{"", chattest.PromptLine("p")}[chance(2)])
					time.Sleep(time.Duration(chance(3000)) * time.Millisecond)
					if chance(8) == 0 {
						stop()
						_, stop = through(t, w, api)
					}
				}
				time.Sleep(3 * time.Hour) // a message that was lost several times waits for minutes
				synctest.Wait()
				next, files, before := 0, 0, []string(nil)
				mark := w.Word(i18n.PerhapsRepeated)
				unmarked := strings.NewReplacer("**"+mark+"**\n\n", "", mark+"\n", "")
				for _, m := range api.shown {
					texts := strings.Split(strings.TrimSpace(unmarked.Replace(m.text)), "\n\n")
					if m.how == "file" {
						files++
					}
					full := texts
					if len(texts) >= len(before) && slices.Equal(texts[:len(before)], before) { // its answer was lost, and more text came before the next try
						texts = texts[len(before):]
					}
					require.Equal(t, want[next:min(next+len(texts), len(want))], texts)
					next, before = next+len(texts), full
				}
				assert.Len(t, want, next)
				t.Logf("%d texts in %d messages, of which %d files", len(want), len(api.shown), files)
			})
		})
	}
}

// TestGroupSendsAwaitedMessagesFirst: questions, the answer to a prompt and /list come before what
// other sessions of the group say, and that a session starts takes one message.
func TestGroupSendsAwaitedMessagesFirst(t *testing.T) {
	group := session.Conversation{ChatID: chattest.Ours}
	asks := func(t *testing.T, w *chattest.World, r session.Record) {
		require.NoError(t, w.OnRequest(t.Context(), w.Request(t, r, "Bash", `{"command":"echo question"}`).Request))
	}
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, w *chattest.World, api *strictAPI, o *outbox.Outbox)
	}{
		{"two sessions start, two answer, and one of those asks", func(t *testing.T, w *chattest.World, api *strictAPI, o *outbox.Outbox) {
			one, saysOne := inTopic(t, w, api, "one")
			_, saysTwo := inTopic(t, w, api, "two")
			spends(t, o, group)
			began := time.Now()
			for _, name := range []string{"three", "four"} {
				w.SaysIn(t, chattest.Ours, models.Message{Text: "/new " + name})
				all := w.Records.List()
				started := slices.IndexFunc(all, func(r session.Record) bool { return r.Name == name })
				require.NoError(t, w.SessionNews(t.Context(), all[started], news.Ready{}))
			}
			saysTwo(chattest.Says("Two has an answer."))
			saysOne(chattest.Says("One has an answer."))
			time.Sleep(100 * time.Millisecond)
			asks(t, w, one)
			time.Sleep(2 * time.Minute)
			question, ready := api.afterwards(t, began, "echo question"), api.afterwards(t, began, "four is ready")
			t.Logf("%d messages; the question after %s, the answers after %s and %s, the second is ready after %s",
				len(api.since(began)), question, api.afterwards(t, began, "Two has"), api.afterwards(t, began, "One has"), ready)
			assert.LessOrEqual(t, question, 4*time.Second)
			assert.LessOrEqual(t, ready, 4*time.Second)
			assert.Less(t, api.afterwards(t, began, "One has"), question, "order within a session stays")
		}},
		{"ten texts in another topic", func(t *testing.T, w *chattest.World, api *strictAPI, o *outbox.Outbox) {
			_, saysOne := inTopic(t, w, api, "one")
			two, _ := inTopic(t, w, api, "two")
			spends(t, o, group)
			for _, answer := range answers(0, 10) {
				saysOne(chattest.Says(answer), chattest.TurnEnd)
			}
			time.Sleep(time.Second)
			began := time.Now()
			asks(t, w, two)
			w.SaysIn(t, chattest.Ours, models.Message{Text: "/list"})
			time.Sleep(2 * time.Minute)
			question, list := api.afterwards(t, began, "echo question"), api.afterwards(t, began, "2 sessions:")
			t.Logf("the question after %s, the list after %s, the last text after %s", question, list, api.afterwards(t, began, "answer 9"))
			assert.LessOrEqual(t, max(question, list), time.Second)
		}},
		{"a flood in another topic", func(t *testing.T, w *chattest.World, api *strictAPI, _ *outbox.Outbox) {
			_, saysOne := inTopic(t, w, api, "one")
			two, saysTwo := inTopic(t, w, api, "two")
			floods(saysOne, steps(0, 150), time.Second/10, chattest.TurnEnd)
			began := time.Now()
			saysTwo(chattest.PromptLine("next"), chattest.Says("The answer."))
			floods(saysOne, steps(150, 170), time.Second/10, chattest.TurnEnd)
			asked := time.Now()
			asks(t, w, two)
			floods(saysOne, steps(170, 300), time.Second/10, chattest.TurnEnd)
			listed := time.Now()
			w.SaysIn(t, chattest.Ours, models.Message{Text: "/list"})
			time.Sleep(5 * time.Minute)
			answer, question := api.afterwards(t, began, "The answer."), api.afterwards(t, asked, "echo question")
			list, last := api.afterwards(t, listed, "2 sessions:"), api.afterwards(t, listed, "Step 299 ")
			t.Logf("the answer after %s, a question after %s, a list after %s; the last text of the flood after %s", answer, question, list, last)
			assert.LessOrEqual(t, max(answer, question, list), time.Second)
			assert.LessOrEqual(t, last, 10*time.Second)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, api, o := flooded(t)
				tt.do(t, w, api, o)
				synctest.Wait()
				assert.Zero(t, api.refused)
			})
		})
	}
}
