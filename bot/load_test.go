package bot_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/turn"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// loaded is a session that answers many prompts, in a chat with the limits of Telegram.
type loaded struct {
	*chattest.World
	t   *testing.T
	api *strictAPI
	r   session.Record
	c   talk.Cursor
	n   int // lines so far
}

// loadedWorld is flooded, with cards of turns.
func loadedWorld(t *testing.T) (*chattest.World, *strictAPI, *outbox.Outbox) {
	t.Helper()
	w := chattest.NewWorld(t)
	w.Steps = turn.OnCard
	time.Sleep(time.Hour)
	api := newStrictAPI(t)
	o, _ := through(t, w, api)
	time.Sleep(time.Minute)
	return w, api, o
}

func newLoaded(t *testing.T, w *chattest.World, api *strictAPI) *loaded {
	t.Helper()
	c := chattest.TranscriptOf(t, "t.jsonl")
	l := &loaded{World: w, t: t, api: api, r: w.NewCurrentSession(t, "api", session.Running, c), c: c}
	l.tells(news.Transcript{})
	return l
}

func (l *loaded) tells(n news.News) {
	l.t.Helper()
	require.NoError(l.t, l.SessionNews(l.t.Context(), l.Record(l.t, l.r.ID), n))
}

func (l *loaded) phase(name string) {
	l.t.Helper()
	l.Records.Change(l.r.ID, func(r *session.Record) { r.Phase, r.PhaseAt = name, time.Now() })
	l.tells(news.Doing{})
}

func (l *loaded) writes(lines ...string) {
	l.t.Helper()
	for _, line := range lines {
		l.n++
		stamp := fmt.Sprintf(`{"uuid":"l%d","timestamp":%q,`, l.n, time.Now().UTC().Format(time.RFC3339Nano))
		chattest.Grow(l.t, l.c, stamp+strings.TrimPrefix(line, "{"))
	}
}

// turn is a turn of the agent, from the prompt to its end.
func (l *loaded) turn(key, text string, takes time.Duration, lines ...string) {
	l.t.Helper()
	l.begins(key, text)
	time.Sleep(takes)
	l.writes(lines...)
	l.writes(chattest.TurnEnd)
	l.phase("idle")
}

// begins types a prompt, and the agent begins its turn.
func (l *loaded) begins(key, text string) {
	l.t.Helper()
	at, err := os.Stat(l.c.Path)
	require.NoError(l.t, err)
	l.tells(news.Typed{Prompt: talk.Prompt{Key: key, Text: text, Class: talk.ClassPlain,
		Mark: &talk.Mark{At: time.Now(), Path: l.c.Path, Offset: at.Size()}}})
	time.Sleep(time.Millisecond)
	l.phase("working")
	l.writes(chattest.PromptLine(text))
}

// The answers use the whole budget of the chat, and a command goes before them.
func TestManyConcurrentTextsAreAnsweredSoon(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		texts         int
		within        time.Duration // in which they are sent
		command       time.Duration // when /list is sent
		answers, list time.Duration // the most
	}{
		{"20 at once", 20, 0, 4 * time.Second, 22 * time.Second, 2 * time.Second},
		{"20 at once, and a command in the middle", 20, 0, 12 * time.Second, 22 * time.Second, 2 * time.Second},
		{"100 in 20 s", 100, 20 * time.Second, 40 * time.Second, 105 * time.Second, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, api, _ := loadedWorld(t)
				l := newLoaded(t, w, api)
				time.Sleep(time.Minute)
				began := time.Now()
				listed := make(chan time.Time, 1)
				go func() {
					time.Sleep(tt.command)
					listed <- time.Now()
					w.MustHear(t, "/list")
				}()
				var keys []string
				for i := range tt.texts {
					keys = append(keys, w.MustHear(t, fmt.Sprint("text ", i)))
				}
				for i, key := range keys {
					time.Sleep(tt.within / time.Duration(tt.texts))
					l.turn(key, fmt.Sprint("text ", i), 195*time.Millisecond, chattest.Says(fmt.Sprintf("answer %d.", i)))
					require.NoError(t, w.Inbox.Finish(key))
				}
				typed := time.Since(began)
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				last, list := time.Duration(0), api.afterwards(t, <-listed, "1 session:")
				for i := range keys {
					last = max(last, api.afterwards(t, began, fmt.Sprintf("answer %d.", i)))
				}
				t.Logf("typed after %s, answered after %s, /list after %s, %d calls", typed, last, list, len(api.since(began)))
				assert.LessOrEqual(t, last, tt.answers)
				assert.LessOrEqual(t, list, tt.list)
				assert.Zero(t, api.refused)
				count := 0
				for _, m := range api.since(began) {
					if strings.Contains(m.text, "answer") {
						count++
					}
				}
				assert.Equal(t, tt.texts, count, "one message for each answer")
			})
		})
	}
}

// inAnotherChat is the current session of another person's chat.
func (l *loaded) inAnotherChat(person int64) *loaded {
	l.t.Helper()
	l.api.srv.Person(person, fmt.Sprint(person)).Start()
	name := fmt.Sprint("s", person)
	other := *l
	other.c = chattest.TranscriptOf(l.t, name+".jsonl")
	other.r = l.Session(l.t, name, session.Running, other.c)
	to := session.Conversation{ChatID: person}
	l.Records.Change(other.r.ID, func(r *session.Record) { r.Conversation = to })
	require.NoError(l.t, l.Chats.SetCurrent(to, other.r.ID))
	other.tells(news.Transcript{})
	return &other
}

// TestFinishedTurnsAreShownAsFinished: there are more turns than the budgets have room for cards.
func TestFinishedTurnsAreShownAsFinished(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ chats, turns int }{{1, 138}, {10, 23}} {
		t.Run(fmt.Sprint(tt.chats, " chats"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, api, o := loadedWorld(t)
				all := []*loaded{newLoaded(t, w, api)}
				people := conversation.Lists{People: map[int64]bool{chattest.Alice: true}}
				for n := 1; n < tt.chats; n++ {
					people.People[int64(1000+n)] = true
				}
				w.Admit(people)
				for n := 1; n < tt.chats; n++ {
					all = append(all, all[0].inAnotherChat(int64(1000+n)))
				}
				time.Sleep(time.Minute)
				began, waiting := time.Now(), 0
				ends := make([]map[string]time.Time, tt.chats)
				var done sync.WaitGroup
				for n, l := range all {
					ends[n] = map[string]time.Time{}
					done.Go(func() {
						time.Sleep(time.Duration(n) * 37 * time.Millisecond)
						for i := range tt.turns {
							next := time.Now().Add(time.Minute / 23)
							says := fmt.Sprintf("answer %d of %d.", i, n)
							l.turn(inbox.UpdateKey(int64(100_000*n+i+1)), fmt.Sprint("text ", i), 1500*time.Millisecond, bash(fmt.Sprint(i), "ls"), chattest.Says(says))
							ends[n][says] = time.Now()
							time.Sleep(time.Until(next))
						}
					})
				}
				go func() {
					for range 300 {
						time.Sleep(time.Second)
						waiting = max(waiting, outbox.GoingOf(o).Waiting)
					}
				}()
				done.Wait()
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				cards, stop := api.stops(began)
				late := time.Duration(0)
				for _, says := range ends {
					for text, end := range says {
						late = max(late, api.afterwards(t, began, text)-end.Sub(began))
					}
				}
				t.Logf("%d cards of %d turns; [Stop] for at most %s after the 1.5 s of a turn, an answer after %s, %d waiting", cards, tt.turns*tt.chats, stop-1500*time.Millisecond, late, waiting)
				assert.Positive(t, cards)
				assert.LessOrEqual(t, stop, 10*time.Second)
				assert.LessOrEqual(t, late, 2*time.Second)
				assert.LessOrEqual(t, waiting, 25*tt.chats, "no queue grows")
				assert.Zero(t, api.refused)
			})
		})
	}
}

// stops counts the messages that had the button [Stop], and returns the longest time that one had
// it.
func (s *strictAPI) stops(from time.Time) (cards int, most time.Duration) {
	open := map[int64]time.Time{}
	for _, m := range s.since(from) {
		began, had := open[m.id]
		switch {
		case m.stop && !had:
			cards++
			open[m.id] = m.at
		case !m.stop && had:
			most = max(most, m.at.Sub(began))
			delete(open, m.id)
		}
	}
	for _, began := range open {
		most = max(most, time.Since(began))
	}
	return cards, most
}

// TestRepliesAreAnsweredInFull: six replies to a working session, for any current session and any
// settings for others.
func TestRepliesAreAnsweredInFull(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		background string
		was, is    string // the current session when the replies are written, and when they are answered
	}{
		{"another session is the current one", "", "other", "other"},
		{"no notices", conversation.Off, "other", "other"},
		{"a new session meanwhile", "", "other", "new"},
		{"it was the current one, no notices", conversation.Off, "api", "new"},
		{"it becomes the current one", "", "other", "api"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, api, _ := loadedWorld(t)
				l := newLoaded(t, w, api)
				ids := map[string]uuid.UUID{"api": l.r.ID, "other": w.Session(t, "other", session.Running).ID, "new": w.Session(t, "new", session.Running).ID}
				require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Background = tt.background }))
				require.NoError(t, w.MakeCurrent(t.Context(), chattest.AtAlice, 0, ids[tt.was]))
				w.Says55(l.r)
				time.Sleep(time.Minute)
				began := time.Now()
				var keys []string
				for i := range 6 {
					keys = append(keys, w.Answer(t, 55, fmt.Sprint("text ", i)))
				}
				require.NoError(t, w.MakeCurrent(t.Context(), chattest.AtAlice, 0, ids[tt.is]))
				for i, key := range keys {
					l.turn(key, fmt.Sprint("text ", i), time.Second, chattest.Says(fmt.Sprintf("Answer %d\n\nin full.", i)))
					require.NoError(t, w.Inbox.Finish(key))
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				for i := range keys {
					api.afterwards(t, began, fmt.Sprintf("Answer %d\n\nin full.", i))
				}
				require.NoError(t, w.MakeCurrent(t.Context(), chattest.AtAlice, 0, ids["new"]))
				after := time.Now()
				l.turn("p-"+uuid.NewString(), "of the terminal", time.Second, chattest.Says("Another\n\nanswer."))
				time.Sleep(time.Minute)
				synctest.Wait()
				for _, m := range api.since(after) {
					assert.NotContains(t, m.text, "Another\n\nanswer.", "no reply has asked for it")
				}
			})
		})
	}
}
