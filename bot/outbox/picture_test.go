package outbox

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
	"ccbot/internal/waittest"
)

func shot(chat int64, caption, png string, button string) Message {
	m := Message{To: to(chat), Text: render.Plain(caption), Picture: &Picture{PNG: []byte(png)}}
	if button != "" {
		m.Buttons = [][]Button{{{Text: button, Data: button}}}
	}
	return m
}

// drawer owns one message with a picture.
type drawer struct {
	owner
	m Message
}

func (d *drawer) Current(string, Conversation) (Message, bool) { return d.m, true }

func TestPictureIsPostedAndReplaced(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		b.Named = &drawer{owner: owner{texts: map[string]string{}}, m: shot(5, "one", "png", "up")}
		require.NoError(t, b.Post(t.Context(), Message{Name: "a", To: to(5)}))
		b.idle(time.Minute)
		require.Equal(t, []string{"picture.png: png (one)"}, texts(b.seen("photo", true)))

		edit := func(m Message) {
			require.NoError(t, b.Edit(t.Context(), to(5), 1, m))
			b.idle(time.Minute)
		}
		edit(shot(5, "one", "png", "up"))
		assert.Len(t, b.seen("", false), 1, "nothing has changed")
		edit(shot(5, "one", "png", ""))
		assert.Len(t, b.seen("media", false), 0, "the same picture is not sent again")
		require.Len(t, b.seen("buttons", true), 1)
		edit(shot(5, "one", "other", "up"))
		edit(shot(5, "two", "other", "up"))
		assert.Equal(t, []string{"photo one", "photo two"}, texts(b.seen("media", true)))
		assert.Equal(t, "up", b.seen("media", true)[1].buttons)
		exact := shot(5, "two", "other", "up")
		exact.Picture.Exact = true
		edit(exact)
		assert.Equal(t, []string{"photo one", "photo two", "file two"}, texts(b.seen("media", true)))
	})
}

// A picture that Telegram refuses as a photo is a file; the next one is tried as a photo.
func TestRefusedPhotoIsSentAsFile(t *testing.T) {
	inBubble(t, func(_ context.Context, _ int, c call) error {
		if c.method == "photo" || c.text == "photo bad" {
			return errPhoto
		}
		return nil
	}, func(t *testing.T, b *bench) {
		b.Named = &drawer{owner: owner{texts: map[string]string{}}, m: shot(5, "one", "png", "up")}
		require.NoError(t, b.Post(t.Context(), Message{Name: "a", To: to(5)}))
		b.idle(time.Minute)
		require.Equal(t, []string{"picture.png: png (one)"}, texts(b.seen("file", true)))
		for _, caption := range []string{"bad", "good"} {
			require.NoError(t, b.Edit(t.Context(), to(5), b.ids, shot(5, caption, caption, "up")))
			b.idle(time.Minute)
		}
		assert.Equal(t, []string{"file bad", "photo good"}, texts(b.seen("media", true)))
	})
}

func TestClientSendsAndEditsPicture(t *testing.T) {
	api := &telegram{refuse: none}
	b := api.bench(t)
	b.Named = &drawer{owner: owner{texts: map[string]string{}}, m: shot(5, "one", "png", "up")}
	require.NoError(t, b.Post(t.Context(), Message{Name: "a", To: to(5)}))
	waittest.Until(t, func() bool { return len(api.methods()) == 1 })
	m := shot(5, "", "png", "up")
	m.Text = render.Bold("two")
	require.NoError(t, b.EditNow(t.Context(), to(5), 77, m))
	m.Picture = &Picture{PNG: []byte("png"), Exact: true}
	require.NoError(t, b.EditNow(t.Context(), to(5), 77, m))
	require.Equal(t, []string{"sendPhoto 5", "editMessageMedia 5", "editMessageMedia 5"}, api.methods())
	assert.Equal(t, map[string]string{"photo": "picture.png"}, api.asked[0].files)
	assert.Contains(t, api.asked[0].fields["reply_markup"], `"up"`)
	for i, kind := range []string{"photo", "document"} {
		q := api.asked[i+1]
		assert.Equal(t, map[string]string{"picture.png": "picture.png"}, q.files)
		assert.JSONEq(t, `{"type":"`+kind+`","media":"attach://picture.png","caption":"two","caption_entities":[{"type":"bold","offset":0,"length":3}]}`,
			q.fields["media"])
		assert.Contains(t, q.fields["reply_markup"], `"up"`)
	}
}
