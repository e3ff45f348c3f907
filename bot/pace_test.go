package bot_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/groups"
	"ccbot/bot/outbox"
	"ccbot/bot/questions"
	"ccbot/bot/topics"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// slowAPI is a Bot API whose calls take their time, and which may refuse one.
type slowAPI struct {
	outbox.API // only the methods below are called
	refuse     func(n int, p *tgbot.SendMessageParams) error

	mu    sync.Mutex
	calls int
	texts []string // of the messages that it took
	at    []time.Time
}

func (p *slowAPI) SendMessage(ctx context.Context, m *tgbot.SendMessageParams) (*models.Message, error) {
	select {
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if p.refuse != nil {
		if err := p.refuse(p.calls, m); err != nil {
			return nil, err
		}
	}
	p.texts, p.at = append(p.texts, m.Text), append(p.at, time.Now())
	return &models.Message{ID: len(p.texts), MessageThreadID: m.MessageThreadID}, nil
}

func (p *slowAPI) SendChatAction(context.Context, *tgbot.SendChatActionParams) (bool, error) {
	return true, nil
}

// said are the texts of the agent in the chat, one by one.
func (p *slowAPI) said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Split(strings.Join(p.texts, "\n\n"), "\n\n")
}

// through has the bot speak through an outbox. stop ends both.
func through(t *testing.T, w *chattest.World, api outbox.API) (o *outbox.Outbox, stop func()) {
	t.Helper()
	o = outbox.New(api, "https://api.example", filepath.Join(w.Dir, "outbox"), w.Log)
	w.Deps.Sender, w.Talk.Reported = struct {
		*outbox.Outbox
		topics.Telegram
		groups.Leaver
		questions.Pins
	}{Outbox: o}, true
	w.Again()
	o.Elsewhere, o.Repeated = w.Answers.Elsewhere, w.Answers.Repeated
	o.Named, o.OnSent = w.Deps.Cards, func(m outbox.Message, id int) { _ = w.SentPart(m.To, id, m.Session, m.Cursor) }
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- o.Run(ctx) }()
	w.Starts(t)
	stop = sync.OnceFunc(func() {
		w.Stop()
		cancel()
		assert.NoError(t, <-ended)
		w.Stops(t)
	})
	t.Cleanup(stop)
	return o, stop
}

// answers returns an agent's texts, line by line.
func answers(from, to int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprint("answer ", i))
	}
	return all
}

// TestP5_AnswersThatWaitAreJoined: an agent's texts during a wait of the chat go in one message,
// once, in order, and soon.
func TestP5_AnswersThatWaitAreJoined(t *testing.T) {
	tooMany := &tgbot.TooManyRequestsError{Message: "Too Many Requests", RetryAfter: 3}
	for _, tt := range []struct {
		name string
		busy []int // calls that are answered with 429
		most time.Duration
	}{
		{"no limit is met", nil, 2 * time.Second},
		{"two limits of three seconds at the beginning", []int{3, 4}, 4 * time.Second},
		{"two limits of three seconds in the middle", []int{4, 6}, 10 * time.Second},
		{"two limits of three seconds at the end", []int{9, 10}, 10 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				time.Sleep(time.Hour)
				api := &slowAPI{refuse: func(n int, _ *tgbot.SendMessageParams) error {
					for _, busy := range tt.busy {
						if n == busy {
							return tooMany
						}
					}
					return nil
				}}
				c := chattest.TranscriptOf(t, "t.jsonl")
				w.NewCurrentSession(t, "api", session.Running, c)
				through(t, w, api)
				time.Sleep(time.Minute)
				for _, answer := range answers(0, 20) {
					time.Sleep(400 * time.Millisecond)
					chattest.Grow(t, c, chattest.Says(answer), chattest.ToolUse)
				}
				last := time.Now()
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Equal(t, answers(0, 20), api.said())
				took := api.at[len(api.at)-1].Sub(last)
				t.Logf("the last of 20 answers came %s after it was said, in %d messages", took, len(api.texts))
				assert.LessOrEqual(t, took, tt.most)
			})
		})
	}
}

// TestP5_BusySessionDelaysNoMessages: while a session is being ended, its answers go in separate
// messages, and the chat waits for none of them.
func TestP5_BusySessionDelaysNoMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		time.Sleep(time.Hour)
		api := &slowAPI{refuse: func(int, *tgbot.SendMessageParams) error { return nil }}
		c := chattest.TranscriptOf(t, "t.jsonl")
		w.NewCurrentSession(t, "api", session.Running, c)
		through(t, w, api)
		time.Sleep(time.Minute)
		w.Lifecycle.Busy = true
		chattest.Grow(t, c, chattest.Says(answers(0, 10)...))
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, answers(0, 10), api.texts, "each is a message")
		for n := range len(api.at) - 1 {
			assert.LessOrEqual(t, api.at[n+1].Sub(api.at[n]), 2*time.Second)
		}
	})
}

// TestP5_KillRepeatsJoinedMessageUnchanged: the message's content is on disk before the first try,
// so the next run sends the same message again, and the rest after it.
func TestP5_KillRepeatsJoinedMessageUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		lost := ""
		first := &slowAPI{refuse: func(_ int, m *tgbot.SendMessageParams) error {
			if strings.Contains(m.Text, "answer 4") { // taken, and the program dies
				lost = m.Text
				return fmt.Errorf("error do request for method sendMessage, %w", context.DeadlineExceeded)
			}
			return nil
		}}
		c := chattest.TranscriptOf(t, "t.jsonl")
		r := w.NewCurrentSession(t, "api", session.Running, c)
		_, stop := through(t, w, first)
		for _, answer := range answers(0, 5) {
			chattest.Grow(t, c, chattest.Says(answer))
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.NotEmpty(t, lost)
		assert.Contains(t, lost, "answer 3\n\nanswer 4")
		assert.Positive(t, w.Cursors(r)[0].Joined)
		stop()
		chattest.Grow(t, c, chattest.Says("answer 5"), chattest.Says("answer 6"))
		second := &slowAPI{}
		through(t, w, second)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, lost, second.texts[0])
		assert.Equal(t, answers(0, 7), append(first.said(), second.said()...))
		assert.Zero(t, w.Cursors(r)[0].Joined)
	})
}

// TestP5_ClosedTopicsAnswersNameSession: they come in the chat, where nothing else tells.
func TestP5_ClosedTopicsAnswersNameSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		api := &slowAPI{refuse: func(_ int, m *tgbot.SendMessageParams) error {
			if m.MessageThreadID != 0 {
				return fmt.Errorf("%w, Bad Request: TOPIC_CLOSED", tgbot.ErrorBadRequest)
			}
			return nil
		}}
		c := chattest.TranscriptOf(t, "t.jsonl")
		r := w.Session(t, "api", session.Running, c)
		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InForum(0) })
		through(t, w, api)
		for _, answer := range answers(0, 2) {
			chattest.Grow(t, c, chattest.Says(answer))
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		assert.Equal(t, []string{"api\nanswer 0", "api\nanswer 1"}, api.texts)
	})
}

// A reply to a joined message goes to the session that has said it.
func TestReplyToJoinedMessageFindsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		api := &slowAPI{}
		c := chattest.TranscriptOf(t, "t.jsonl")
		r := w.NewCurrentSession(t, "api", session.Running, c)
		through(t, w, api)
		for _, answer := range answers(0, 5) {
			chattest.Grow(t, c, chattest.Says(answer))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		last := len(api.texts)
		require.Contains(t, api.texts[last-1], "answer 3\n\nanswer 4")
		whose, ok := w.Chats.SessionOf(chattest.AtAlice, last)
		require.True(t, ok)
		assert.Equal(t, r.ID, whose)
	})
}

// TestP5_AnswerForClosedGeneralHoldsUpNoOtherPlace: what the agent said in a turn of General waits for
// it, whole and in order, also over a restart, and the answer of the next turn, in the session's topic, comes at once.
func TestP5_AnswerForClosedGeneralHoldsUpNoOtherPlace(t *testing.T) {
	for name, tt := range map[string]struct{ restarts, writes bool }{
		"General opens":                    {},
		"General opens, after a restart":   {restarts: true},
		"somebody writes there":            {writes: true},
		"a person writes, after a restart": {restarts: true, writes: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				general, topic := chattest.InGroup, chattest.InForum(0)
				var shut atomic.Bool
				shut.Store(true)
				var mu sync.Mutex
				said := map[int][]string{}
				api := &slowAPI{refuse: func(_ int, m *tgbot.SendMessageParams) error {
					if m.MessageThreadID == 0 && shut.Load() {
						return fmt.Errorf("%w, Bad Request: TOPIC_CLOSED", tgbot.ErrorBadRequest)
					}
					mu.Lock()
					defer mu.Unlock()
					said[m.MessageThreadID] = append(said[m.MessageThreadID], strings.Split(m.Text, "\n\n")...)
					return nil
				}}
				in := func(thread int) []string {
					mu.Lock()
					defer mu.Unlock()
					return slices.Clone(said[thread])
				}
				w := chattest.NewWorld(t)
				c := chattest.TranscriptOf(t, "t.jsonl")
				r := w.Session(t, "api", session.Running, c)
				w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = general })
				require.NoError(t, w.Chats.SetCurrent(general, r.ID))
				o, stop := through(t, w, api)
				for _, answer := range answers(0, 3) {
					chattest.Grow(t, c, chattest.Says(answer))
					time.Sleep(10 * time.Second)
				}
				end, err := os.Stat(c.Path)
				require.NoError(t, err)
				w.Records.Change(r.ID, func(r *session.Record) {
					r.Earlier = []talk.Shown{{Until: talk.Cursor{Path: c.Path, Offset: end.Size()}, In: general}}
					r.Conversation = topic
				})
				chattest.Grow(t, c, chattest.PromptLine("next"), chattest.Says("answer 3"))
				time.Sleep(2 * time.Second)
				synctest.Wait()
				assert.Equal(t, answers(3, 4), in(topic.ThreadID))
				assert.Empty(t, in(0))

				if tt.restarts {
					stop()
					o, _ = through(t, w, api)
					time.Sleep(time.Minute)
				}
				shut.Store(false)
				if tt.writes {
					o.Resume(general.ChatID)
				}
				time.Sleep(11 * time.Minute)
				synctest.Wait()
				assert.Equal(t, answers(0, 3), in(0))
				assert.Equal(t, answers(3, 4), in(topic.ThreadID))
			})
		})
	}
}
