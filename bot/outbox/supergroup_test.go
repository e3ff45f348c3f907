package outbox

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/alias"
	"ccbot/internal/session"
	"ccbot/internal/spool"
)

func upgraded(_ context.Context, _ int, c call) error {
	if c.chat == -5 {
		return &tgbot.MigrateError{Message: "upgraded", MigrateToChatID: -100}
	}
	return nil
}

// Waiting messages go to the new chat, in order, and the old one is tried once.
func TestP5_SupergroupUpgradeLosesNothing(t *testing.T) {
	inBubble(t, upgraded, func(t *testing.T, b *bench) {
		var reported [][][]int64
		b.OnMigrate = func() { reported = append(reported, b.Aliases.Moved()); b.Resume(-5) }
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
		assert.Equal(t, [][][]int64{{{-5, -100}}}, reported)
		assert.Equal(t, 7, calls[0].reply)
		for _, c := range calls[1:] {
			assert.Equal(t, int64(-100), c.chat)
			assert.Zero(t, c.reply, "the new chat has another message of that id, or none")
		}
	})
}

// A call about a message of the old chat must not reach the new chat's message with the same id.
func TestOldMessagesAfterSupergroupUpgrade(t *testing.T) {
	slowly := func(ctx context.Context, n int, c call) error {
		<-time.After(time.Second)
		return upgraded(ctx, n, c)
	}
	inBubble(t, slowly, func(t *testing.T, b *bench) {
		ctx := t.Context()
		waiting := b.sendLater(ctx, say(-5, "1"))
		edited := make(chan error, 1)
		go func() { edited <- b.EditNow(ctx, to(-5), 2, say(0, "x")) }()
		require.NoError(t, b.Edit(ctx, to(-5), 3, say(0, "x")))
		b.React(ctx, to(-5), 4, "👀")
		b.React(ctx, to(-5), 6, "👀")
		b.Typing(ctx, to(-5))
		synctest.Wait()
		refused := (*Refused)(nil)
		require.NoError(t, (<-waiting).err)
		require.ErrorAs(t, <-edited, &refused)
		b.React(ctx, to(-5), 5, "👀")
		require.ErrorAs(t, b.Edit(ctx, to(-5), 3, say(0, "y")), &refused)
		b.DropButtons(ctx, to(-5), 3)
		b.idle(time.Minute)
		for _, c := range b.seen("", true) {
			assert.Contains(t, []string{"send", "typing"}, c.method)
			assert.Equal(t, int64(-100), c.chat)
		}
		assert.Empty(t, b.queues.edits)
		require.NoError(t, b.Edit(ctx, to(-100), 3, say(0, "y")), "that is another message")
		b.idle(time.Minute)
		assert.Len(t, b.seen("edit", true), 1)
	})
}

func TestReactionDetectsSupergroupUpgrade(t *testing.T) {
	inBubble(t, upgraded, func(t *testing.T, b *bench) {
		var reported [][][]int64
		b.OnMigrate = func() { reported = append(reported, b.Aliases.Moved()) }
		b.React(t.Context(), to(-5), 4, "👀")
		b.idle(time.Minute)
		_, err := b.Send(t.Context(), say(-5, "1"))
		require.NoError(t, err)
		assert.Equal(t, [][][]int64{{{-5, -100}}}, reported)
		assert.Len(t, b.seen("send", false), 1)
	})
}

// TestP5_NewChatIsSavedBeforeSending: not even when the disk takes nothing for a while.
// The next run asks the old chat no more.
func TestP5_NewChatIsSavedBeforeSending(t *testing.T) {
	dir := t.TempDir()
	folder := spool.Folder{Path: filepath.Join(dir, "chats"), MaxSize: 1 << 20}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, upgraded)
		var err error
		b.Aliases, err = alias.Open(folder, spool.Loader{Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(folder.Path, nil, 0o600), "a file is in the way")
		b.run(t)
		sent := b.sendLater(t.Context(), say(-5, "1"))
		b.idle(time.Minute)
		assert.Empty(t, b.seen("send", true))
		require.NoError(t, os.Remove(folder.Path))
		require.NoError(t, (<-sent).err)
		assert.Len(t, b.seen("send", true), 1)
		require.NoError(t, b.stop())

		again := newBench(t, dir, upgraded)
		again.Aliases, err = alias.Open(folder, spool.Loader{Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		again.run(t)
		_, err = again.Send(t.Context(), say(-5, "2"))
		require.NoError(t, err)
		calls := again.seen("send", false)
		require.Len(t, calls, 1)
		assert.Equal(t, int64(-100), calls[0].chat)
	})
}

// News from elsewhere counts at once, and a message of the new chat is answered and edited there.
func TestKnownSupergroupUpgrade(t *testing.T) {
	inBubble(t, upgraded, func(t *testing.T, b *bench) {
		ctx := t.Context()
		require.NoError(t, b.Aliases.Note(-5, -100))
		_, in := b.Aliases.In(-100, 7)
		m := say(-5, "1")
		m.ReplyTo = in
		id, err := b.Send(ctx, m)
		require.NoError(t, err)
		require.NoError(t, b.Edit(ctx, to(-5), id, say(0, "2")))
		b.React(ctx, to(-5), in, "👀")
		b.Typing(ctx, to(-5))
		b.Answer(ctx, to(-5), "query", "x", false)
		b.idle(time.Minute)
		calls := b.seen("", false)
		require.Len(t, calls, 5)
		_, sent := b.Aliases.Out(-5, id)
		for _, c := range calls {
			assert.Contains(t, map[string]int{"send": 0, "edit": sent, "react": 7, "typing": 0, "answer": 0}, c.method)
			assert.Contains(t, []int{0, 7, sent}, c.message, c.method)
			if c.method != "answer" {
				assert.Equal(t, int64(-100), c.chat, c.method)
			}
		}
		assert.Equal(t, 7, b.seen("send", true)[0].reply)
	})
}

// A named post that the old chat has taken in the moment in which the group becomes a supergroup is
// sent again.
func TestNamedPostFollowsSupergroupUpgrade(t *testing.T) {
	o := &owner{texts: map[string]string{"card": "x"}}
	var b *bench
	inNamedBubble(t, t.TempDir(), o, func(_ context.Context, n int, _ call) error {
		if n == 1 {
			return b.Aliases.Note(-5, -100) // an update reports it while Telegram accepts the message
		}
		return nil
	}, func(now *bench) {
		b = now
		post := named("card")
		post.To.ChatID = -5
		require.NoError(t, b.Post(t.Context(), post))
		b.idle(time.Minute)
		calls := b.seen("send", true)
		require.Equal(t, []string{"x", "x"}, texts(calls))
		assert.Equal(t, []int64{-5, -100}, []int64{calls[0].chat, calls[1].chat})
		assert.Len(t, o.notes(), 1, "its owner hears of the message that can be changed")
		assert.Empty(t, files(t, b.posts.folder.Path))
	})
}

func TestAbsurdMigrationIsRetried(t *testing.T) {
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

// TestP5_DeletedTopicMessagesGoToChat: once found out, the topic is not asked for again.
func TestP5_DeletedTopicMessagesGoToChat(t *testing.T) {
	inBubble(t, func(_ context.Context, _ int, c call) error {
		if c.thread == 9 && c.method != "typing" {
			return errNoTopic
		}
		return nil
	}, func(t *testing.T, b *bench) {
		var reported []session.Conversation
		b.OnTopicGone = func(lost session.Conversation) { reported = append(reported, lost); b.IsSuspended(lost.ChatID) }
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
		assert.Equal(t, []session.Conversation{{ChatID: -5, ThreadID: 9}}, reported)
		assert.Zero(t, b.seen("typing", true)[0].thread)
	})
}

// Telegram has denied topics that existed; a message from a topic proves it.
func TestTopicIsTriedAgainAfterMessage(t *testing.T) {
	inBubble(t, func(_ context.Context, n int, c call) error {
		if c.thread != 0 && n == 1 {
			return errNoTopic
		}
		return nil
	}, func(t *testing.T, b *bench) {
		_, err := b.Send(t.Context(), inTopic(-5, 9, "1"))
		require.NoError(t, err)
		b.Resume(-5)
		_, err = b.Send(t.Context(), inTopic(-5, 9, "2"))
		require.NoError(t, err)
		calls := b.seen("send", true)
		assert.Equal(t, []int{0, 9}, []int{calls[0].thread, calls[1].thread})
	})
}
