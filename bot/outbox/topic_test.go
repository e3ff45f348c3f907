package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
	"ccbot/internal/session"
)

// The topic exists, so it is not reported as gone.
func TestP5_ClosedTopicMessagesGoToChat(t *testing.T) {
	inBubble(t, func(_ context.Context, _ int, c call) error {
		if c.thread == 9 {
			return fmt.Errorf("%w, Bad Request: TOPIC_CLOSED", tgbot.ErrorBadRequest)
		}
		return nil
	}, func(t *testing.T, b *bench) {
		b.OnTopicGone = func(session.Conversation) { assert.Fail(t, "the topic is only closed") }
		for _, text := range []string{"1", "2"} {
			_, err := b.Send(t.Context(), inTopic(-5, 9, text))
			require.NoError(t, err)
		}
		assert.Equal(t, []string{"1", "1", "2"}, texts(b.seen("send", false)))
	})
}

// A closed topic is reported again when it is deleted, and takes messages again when it is open.
func TestP5_ClosedTopicIsNotDeleted(t *testing.T) {
	shut := fmt.Errorf("%w, Bad Request: TOPIC_CLOSED", tgbot.ErrorBadRequest)
	topic := session.Conversation{ChatID: -5, ThreadID: 9}
	for _, tt := range []struct {
		name  string
		later error // Telegram's later answer about the topic
		gone  int
		place int
	}{
		{"still closed", shut, 0, 0},
		{"open again", nil, 0, 9},
		{"deleted", errNoTopic, 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now, gone := shut, 0
			inBubble(t, func(_ context.Context, _ int, c call) error {
				if c.thread == 9 {
					return now
				}
				return nil
			}, func(t *testing.T, b *bench) {
				b.OnTopicGone = func(session.Conversation) { gone++ }
				_, err := b.Send(t.Context(), inTopic(-5, 9, "1"))
				require.NoError(t, err)
				now = tt.later
				_ = b.Call(t.Context(), topic, func(_ context.Context, to session.Conversation) error {
					assert.Equal(t, topic, to, "a call about a topic is about no other place")
					return now
				})
				assert.Equal(t, tt.gone, gone)
				b.Resume(-5) // a person has written in the chat, or has opened the topic again
				_, err = b.Send(t.Context(), inTopic(-5, 9, "2"))
				require.NoError(t, err)
				sent := b.seen("send", true)
				assert.Equal(t, tt.place, sent[len(sent)-1].thread)
			})
		})
	}
}

// Each message and file has the name once, even if it is tried again.
func TestP5_MessageOutsideTopicNamesSession(t *testing.T) {
	broken := false
	inBubble(t, func(_ context.Context, _ int, c call) error {
		switch {
		case c.thread == 9:
			return fmt.Errorf("%w, Bad Request: TOPIC_CLOSED", tgbot.ErrorBadRequest)
		case c.text == "api\n2" && !broken:
			broken = true
			return errBroken
		}
		return nil
	}, func(t *testing.T, b *bench) {
		b.Elsewhere = func(m Message) Message {
			m.Text = render.Join(render.Plain("api\n"), m.Text)
			return m
		}
		long := strings.Repeat("y", render.Limit)
		for _, m := range []Message{inTopic(-5, 9, "1"), inTopic(-5, 9, "2"), inTopic(-5, 8, "3"), say(-5, "4"), inTopic(-5, 9, long)} {
			_, err := b.Send(t.Context(), m)
			require.NoError(t, err)
		}
		for _, caption := range []string{"5", strings.Repeat("x", MaxCaption)} {
			f := file(-5, "hello")
			f.To.ThreadID, f.Caption = 9, render.Plain(caption)
			_, err := b.SendFile(t.Context(), f)
			require.NoError(t, err)
		}
		assert.Equal(t, []string{"api\n1", "api\n2", "3", "4", long}, texts(b.seen("send", true)), "a full message stays whole")
		want := []string{"a.txt: hello (api\n5)", "a.txt: hello (" + strings.Repeat("x", MaxCaption) + ")"}
		assert.Equal(t, want, texts(b.seen("file", true)), "a full caption stays whole")
	})
}

// In a private chat Telegram refuses nothing: the message is elsewhere than asked.
func TestStrayMessageReportsTopicGone(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		b.strays = 9
		var reported, sent []session.Conversation
		b.OnTopicGone = func(lost session.Conversation) { reported = append(reported, lost) }
		b.OnSent = func(m Message, _ int) { sent = append(sent, m.To) }
		for _, text := range []string{"1", "2"} {
			_, err := b.Send(t.Context(), inTopic(5, 9, text))
			require.NoError(t, err)
		}
		_, err := b.Send(t.Context(), inTopic(5, 8, "3"))
		require.NoError(t, err)
		b.idle(time.Minute)
		assert.Equal(t, []string{"1", "2", "3"}, texts(b.seen("send", false)), "nothing comes twice")
		assert.Equal(t, []session.Conversation{{ChatID: 5, ThreadID: 9}}, reported)
		assert.Equal(t, []session.Conversation{{ChatID: 5}, {ChatID: 5}, {ChatID: 5, ThreadID: 8}}, sent)
	})
}

func TestOnlyUnexecutedCallIsRepeated(t *testing.T) {
	broken := errors.New("connection reset")
	notFound := fmt.Errorf("%w, Bad Request: message thread not found", tgbot.ErrorBadRequest)
	rights := fmt.Errorf("%w, Bad Request: not enough rights to create a topic", tgbot.ErrorBadRequest)
	for _, tt := range []struct {
		name  string
		first error
		calls int
		want  error
	}{
		{"taken", nil, 1, nil},
		{"it must wait", &tgbot.TooManyRequestsError{RetryAfter: 3}, 2, nil},
		{"the connection broke", broken, 1, ErrUnsure},
		{"refused", rights, 1, tgbot.ErrorBadRequest},
		{"the topic is gone", notFound, 1, ErrNoTopic},
		{"blocked", tgbot.ErrorForbidden, 1, tgbot.ErrorForbidden},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, b *bench) {
				topic, gone := session.Conversation{ChatID: -5, ThreadID: 9}, 0
				b.OnTopicGone = func(lost session.Conversation) { gone++; assert.Equal(t, topic, lost) }
				calls := 0
				err := b.Call(t.Context(), topic, func(context.Context, session.Conversation) error {
					if calls++; calls == 1 {
						return tt.first
					}
					return nil
				})
				require.ErrorIs(t, err, tt.want)
				b.idle(5 * time.Minute)
				assert.Equal(t, tt.calls, calls)
				assert.Equal(t, errors.Is(tt.want, ErrNoTopic), gone == 1)
			})
		})
	}
}

// The result of such a call would have no reader.
func TestCallNotBegunAfterCallerLeft(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		calls := 0
		err := b.Call(ctx, session.Conversation{ChatID: -5}, func(context.Context, session.Conversation) error {
			calls++
			return &tgbot.TooManyRequestsError{RetryAfter: 20}
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		b.idle(5 * time.Minute)
		assert.Equal(t, 1, calls)
	})
}
