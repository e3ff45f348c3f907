package outbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
)

func upgraded(_ context.Context, _ int, c call) error {
	if c.chat == -5 {
		return &tgbot.MigrateError{Message: "upgraded", MigrateToChatID: -100}
	}
	return nil
}

// TestP5_AGroupThatBecomesASupergroupLosesNothing: what waits goes to the new chat, in order, and the old one is asked
// once.
func TestP5_AGroupThatBecomesASupergroupLosesNothing(t *testing.T) {
	inBubble(t, upgraded, func(t *testing.T, b *bench) {
		var told [][2]int64
		b.OnMigrate = func(from, to int64) { told = append(told, [2]int64{from, to}); b.Unpark(to) }
		one, two := say(-5, "1"), say(-5, "2")
		one.ReplyTo, two.ReplyTo = 7, 8
		first, second := b.sendLater(t.Context(), one), b.sendLater(t.Context(), two)
		require.NoError(t, b.Post(t.Context(), two))
		require.NoError(t, errors.Join((<-first).err, (<-second).err))
		three := say(-5, "3")
		three.ReplyTo = 9
		_, err := b.Send(t.Context(), three)
		require.NoError(t, err)
		b.idle(time.Minute)
		calls := b.seen("send", false)
		assert.Equal(t, []string{"1", "1", "2", "2", "3"}, texts(calls))
		assert.Equal(t, [][2]int64{{-5, -100}}, told)
		assert.Equal(t, 7, calls[0].reply)
		for _, c := range calls[1:] {
			assert.Equal(t, int64(-100), c.chat)
			assert.Zero(t, c.reply, "the new chat has another message of that id, or none")
		}
	})
}

// What is about a message of the old chat must not meet the message of the new one that has its id.
func TestMessagesOfAGroupThatBecameASupergroupAreLeftAlone(t *testing.T) {
	slowly := func(ctx context.Context, n int, c call) error {
		<-time.After(time.Second)
		return upgraded(ctx, n, c)
	}
	inBubble(t, slowly, func(t *testing.T, b *bench) {
		ctx := t.Context()
		waiting := b.sendLater(ctx, say(-5, "1"))
		deleted := make(chan error, 1)
		go func() { deleted <- b.Delete(ctx, to(-5), 2) }()
		require.NoError(t, b.Edit(ctx, to(-5), 3, say(0, "x")))
		b.React(ctx, to(-5), 4, "👀")
		b.React(ctx, to(-5), 6, "👀")
		b.Typing(ctx, to(-5))
		synctest.Wait()
		refused := (*Refused)(nil)
		require.NoError(t, (<-waiting).err)
		require.ErrorAs(t, <-deleted, &refused)
		b.React(ctx, to(-5), 5, "👀")
		require.ErrorAs(t, b.Edit(ctx, to(-5), 3, say(0, "y")), &refused)
		require.ErrorAs(t, b.EditButtons(ctx, to(-5), 3, nil), &refused)
		require.ErrorAs(t, b.Delete(ctx, to(-5), 2), &refused)
		b.idle(time.Minute)
		for _, c := range b.seen("", true) {
			assert.Contains(t, []string{"send", "typing"}, c.method)
			assert.Equal(t, int64(-100), c.chat)
		}
		assert.Empty(t, b.edits)
		require.NoError(t, b.Edit(ctx, to(-100), 3, say(0, "y")), "that is another message")
		b.idle(time.Minute)
		assert.Len(t, b.seen("edit", true), 1)
	})
}

func TestAReactionFindsOutThatAGroupBecameASupergroup(t *testing.T) {
	inBubble(t, upgraded, func(t *testing.T, b *bench) {
		var told [][2]int64
		b.OnMigrate = func(from, to int64) { told = append(told, [2]int64{from, to}) }
		b.React(t.Context(), to(-5), 4, "👀")
		b.idle(time.Minute)
		_, err := b.Send(t.Context(), say(-5, "1"))
		require.NoError(t, err)
		assert.Equal(t, [][2]int64{{-5, -100}}, told)
		assert.Len(t, b.seen("send", false), 1)
	})
}

func TestAMigrationThatMakesNoSense(t *testing.T) {
	reply := func(_ context.Context, n int, _ call) error {
		if n < 3 {
			return &tgbot.MigrateError{MigrateToChatID: []int{-5, 0}[n-1]}
		}
		return nil
	}
	inBubble(t, reply, func(t *testing.T, b *bench) {
		_, err := b.Send(t.Context(), say(-5, "1"))
		require.NoError(t, err)
		assert.Equal(t, 3*time.Second, time.Since(b.start), "it backs off")
	})
}

func inTopic(chat int64, thread int, text string) Message {
	m := say(chat, text)
	m.To.ThreadID = thread
	return m
}

// TestP5_WhatIsSaidInADeletedTopicComesInItsChat: once found out, the topic is not asked for again.
func TestP5_WhatIsSaidInADeletedTopicComesInItsChat(t *testing.T) {
	inBubble(t, func(_ context.Context, _ int, c call) error {
		if c.thread == 9 && c.method != "typing" {
			return errNoTopic
		}
		return nil
	}, func(t *testing.T, b *bench) {
		var told []session.Conversation
		b.OnTopicGone = func(lost session.Conversation) { told = append(told, lost); b.Parked(lost.ChatID) }
		one := inTopic(-5, 9, "1")
		one.ReplyTo = 3
		first, second := b.sendLater(t.Context(), one), b.sendLater(t.Context(), inTopic(-5, 9, "2"))
		require.NoError(t, b.Post(t.Context(), inTopic(-5, 9, "3")))
		other := b.sendLater(t.Context(), inTopic(-5, 8, "other"))
		require.NoError(t, errors.Join((<-first).err, (<-second).err, (<-other).err))
		_, err := b.Send(t.Context(), inTopic(-5, 9, "4"))
		require.NoError(t, err)
		b.Typing(t.Context(), inTopic(-5, 9, "").To)
		b.idle(time.Minute)
		calls := b.seen("send", false)
		assert.Equal(t, []string{"1", "1", "2", "3", "other", "4"}, texts(calls))
		assert.Equal(t, []int{9, 0, 0, 0, 8, 0}, []int{calls[0].thread, calls[1].thread, calls[2].thread, calls[3].thread, calls[4].thread, calls[5].thread})
		assert.Zero(t, calls[1].reply)
		assert.Equal(t, []session.Conversation{{ChatID: -5, ThreadID: 9}}, told)
		assert.Zero(t, b.seen("typing", true)[0].thread)
	})
}

// Telegram has said so of topics that were there: who writes in one is believed.
func TestATopicIsTriedAgainWhenSomebodyWrites(t *testing.T) {
	inBubble(t, func(_ context.Context, n int, c call) error {
		if c.thread != 0 && n == 1 {
			return errNoTopic
		}
		return nil
	}, func(t *testing.T, b *bench) {
		_, err := b.Send(t.Context(), inTopic(-5, 9, "1"))
		require.NoError(t, err)
		b.Unpark(-5)
		_, err = b.Send(t.Context(), inTopic(-5, 9, "2"))
		require.NoError(t, err)
		calls := b.seen("send", true)
		assert.Equal(t, []int{0, 9}, []int{calls[0].thread, calls[1].thread})
	})
}
