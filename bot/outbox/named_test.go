package outbox

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
)

// owner keeps the text of each name, and notes its calls.
type owner struct {
	mu      sync.Mutex
	texts   map[string]string
	asked   func() // in Current, after the text was read
	heard   []string
	sentErr error
}

func (o *owner) set(name, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.texts[name] = text
}

func (o *owner) Current(name string, to Conversation) (Message, bool) {
	o.mu.Lock()
	text := o.texts[name]
	o.mu.Unlock()
	if o.asked != nil {
		o.asked()
	}
	return Message{To: to, Text: render.Bold(text), ReplyTo: 3}, text != ""
}

func (o *owner) Sent(_ context.Context, name string, to Conversation, id int, m Message) error {
	o.note(fmt.Sprintf("%s: %q is %d in %d", name, m.Text.Text, id, to.ChatID))
	if o.sentErr == nil {
		o.set(name, "") // it is in the chat: nothing more to send
	}
	return o.sentErr
}

func (o *owner) Refused(_ context.Context, name string, _ Conversation, id int, why error) {
	if id != 0 {
		name += fmt.Sprint(" ", id)
	}
	o.note(name + ": " + why.Error())
}

func (o *owner) note(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = append(o.heard, line)
}

func (o *owner) notes() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string(nil), o.heard...)
}

// inNamedBubble runs a test on fake time with an outbox whose names have an owner.
func inNamedBubble(t *testing.T, dir string, o *owner, reply func(context.Context, int, call) error, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, reply)
		b.Named = o
		b.run(t)
		test(b)
	})
}

func named(name string) Message { return Message{To: to(5), Name: name} }

func TestNamedPostHasCurrentContent(t *testing.T) {
	o := &owner{texts: map[string]string{"card": "old", "gone": "x"}}
	down := func(_ context.Context, n int, _ call) error {
		if n == 1 {
			return errServer
		}
		return nil
	}
	inNamedBubble(t, t.TempDir(), o, down, func(b *bench) {
		require.NoError(t, b.Post(t.Context(), named("card")))
		require.NoError(t, b.Post(t.Context(), named("gone")))
		synctest.Wait()
		require.Len(t, b.seen("send", false), 1)
		require.NoError(t, b.Post(t.Context(), named("card")), "it waits already")
		assert.Len(t, files(t, b.posts.folder.Path), 2)
		o.set("card", strings.Repeat("new ", 2000))
		o.set("gone", "")
		b.idle(time.Minute)
		sent := b.seen("send", true)
		require.Len(t, sent, 1, "one message of a long text, none of a name that is not wanted")
		assert.True(t, strings.HasPrefix(sent[0].text, "new new"))
		assert.Len(t, o.notes(), 1)
		assert.Empty(t, files(t, b.posts.folder.Path))
	})
}

func TestNamePostedDuringCurrent(t *testing.T) {
	o := &owner{texts: map[string]string{}}
	inNamedBubble(t, t.TempDir(), o, nil, func(b *bench) {
		o.asked = func() {
			o.asked = nil
			o.set("card", "x") // right after the owner has said that there is nothing to send
			assert.NoError(t, b.Post(t.Context(), named("card")))
		}
		require.NoError(t, b.Post(t.Context(), named("card")))
		b.idle(time.Minute)
		assert.Equal(t, []string{"x"}, texts(b.seen("send", true)))
		assert.Empty(t, files(t, b.posts.folder.Path))
	})
}

// TestP8_NamedPostStaysUntilIdSaved: a kill between Telegram's yes and the note of the id, here
// a disk that is full, repeats the message in the next run and at no other time.
func TestP8_NamedPostStaysUntilIdSaved(t *testing.T) {
	dir := t.TempDir()
	o := &owner{texts: map[string]string{"card": "x"}, sentErr: errors.New("disk full")}
	inNamedBubble(t, dir, o, nil, func(b *bench) {
		b.OnSent = func(Message, int) { o.note("heard") }
		require.NoError(t, b.Post(t.Context(), named("card")))
		b.idle(24 * time.Hour)
		assert.Equal(t, []string{"x"}, texts(b.seen("send", false)))
		assert.Equal(t, []string{"heard", `card: "x" is 1 in 5`}, o.notes())
		assert.Len(t, files(t, b.posts.folder.Path), 1)
	})
	o.sentErr = nil
	inNamedBubble(t, dir, o, nil, func(b *bench) {
		require.NoError(t, b.Post(t.Context(), named("card")), "it waits from an earlier run")
		b.idle(time.Minute)
		assert.Equal(t, []string{"x"}, texts(b.seen("send", false)))
		assert.Empty(t, files(t, b.posts.folder.Path))
	})
}

func TestRefusedNamedPostEnds(t *testing.T) {
	o := &owner{texts: map[string]string{"card": "x"}}
	inNamedBubble(t, t.TempDir(), o, func(context.Context, int, call) error { return errEntities }, func(b *bench) {
		require.NoError(t, b.Post(t.Context(), named("card")))
		b.idle(time.Minute)
		assert.Len(t, b.seen("send", false), 2, "formatted, then plain")
		assert.Equal(t, []string{"card: " + errEntities.Error()}, o.notes())
		assert.Empty(t, files(t, b.posts.folder.Path))
		assert.Empty(t, files(t, filepath.Join(b.dir, "quarantine")))
	})
}

func TestNamedPostWaitsInParkedChat(t *testing.T) {
	var p blocking
	p.chat.Store(5)
	o := &owner{texts: map[string]string{"card": "old"}}
	inNamedBubble(t, t.TempDir(), o, p.reply, func(b *bench) {
		require.NoError(t, b.Post(t.Context(), named("card")))
		b.idle(time.Hour)
		require.Len(t, o.notes(), 1)
		assert.Contains(t, o.notes()[0], ErrBlocked.Error(), "its owner knows that nobody sees it")
		p.chat.Store(0)
		o.set("card", "new")
		b.Resume(5)
		b.idle(time.Minute)
		require.Len(t, o.notes(), 2)
		assert.Equal(t, `card: "new" is 1 in 5`, o.notes()[1])
		assert.Empty(t, files(t, b.posts.folder.Path))
	})
}
