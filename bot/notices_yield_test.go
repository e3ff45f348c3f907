package bot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
)

// editedAPI is a slowAPI that takes edits.
type editedAPI struct{ slowAPI }

func (*editedAPI) EditMessageText(context.Context, *tgbot.EditMessageTextParams) (*models.Message, error) {
	return &models.Message{}, nil
}

func (*editedAPI) EditMessageReplyMarkup(context.Context, *tgbot.EditMessageReplyMarkupParams) (*models.Message, error) {
	return &models.Message{}, nil
}

// TestReplyPassesHundredsOfNotices: a notice that no person has asked for, and whose buttons nothing waits for, yields to a reply.
func TestReplyPassesHundredsOfNotices(t *testing.T) {
	for name, notice := range map[string]func(r session.Record) news.News{
		"ends of loops": func(r session.Record) news.News {
			return news.Looped{Loop: port.Loop{ID: uuid.New(), Session: r.ID, State: port.LoopDone, Check: "true"}}
		},
		"ends of sessions":     func(session.Record) news.News { return news.Ended{} },
		"idle sessions":        func(session.Record) news.News { return news.Stopped{Quiet: time.Hour} },
		"idle sessions spared": func(session.Record) news.News { return news.Spared{Quiet: time.Hour, Schedules: 1} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				api := &editedAPI{}
				through(t, w, api)
				time.Sleep(time.Minute)
				for i := range 300 {
					r := w.Session(t, fmt.Sprint("s", i), session.Running)
					if name == "idle sessions" || name == "ends of sessions" {
						w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Completed })
					}
					require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), notice(r)))
				}
				w.MustHear(t, "/list")
				time.Sleep(10 * time.Second)
				synctest.Wait()
				api.mu.Lock()
				defer api.mu.Unlock()
				assert.Less(t, len(api.texts), 100, "the notices wait")
				isList := func(text string) bool {
					return strings.HasPrefix(text, "300 sessions:") || strings.Contains(text, "Ended: 300 done.")
				}
				assert.True(t, slices.ContainsFunc(api.texts, isList), "the reply is behind them")
			})
		})
	}
}

// TestPausedLoopGoesFirst, because it waits for a tap.
func TestPausedLoopGoesFirst(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	paused := port.Loop{ID: uuid.New(), Session: r.ID, State: port.LoopPaused, Reason: port.WhyNoProgress, Check: "true"}
	require.NoError(t, w.SessionNews(t.Context(), r, news.Looped{Loop: paused}))
	w.Work(t)
	assert.Equal(t, outbox.Now, w.LastSent(t).Rank)
}
