package outbox

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func rich(chat int64, text string) Message { return Message{To: to(chat), Rich: text} }

func TestRichMessage(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		assert.True(t, b.TakesRich(), "until it is known otherwise")
		m := rich(5, "# a")
		m.Buttons, m.ReplyTo = [][]Button{{{Text: "ok", Data: "d"}}}, 3
		_, err := b.Send(t.Context(), m)
		require.NoError(t, err)
		calls := b.seen("rich", true)
		require.Len(t, calls, 1)
		assert.Equal(t, "# a ok 3", calls[0].text+" "+calls[0].buttons+" "+string(rune('0'+calls[0].reply)))
		_, err = b.Send(t.Context(), rich(5, " \n"))
		assert.ErrorIs(t, err, errBlank)
	})
}

// The sender gets the error in this run and in later ones, and sends the answer in another form.
func TestP5_MissingRichIsDetectedOnce(t *testing.T) {
	dir := t.TempDir()
	old := func(_ context.Context, _ int, c call) error {
		if c.method == "rich" {
			return errMissing
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, old)
		b.run(t)
		first, second := b.sendLater(t.Context(), rich(5, "a")), b.sendLater(t.Context(), rich(5, "b"))
		refused := (*Refused)(nil)
		err := (<-first).err
		require.ErrorAs(t, err, &refused)
		require.ErrorIs(t, err, ErrNoRich)
		require.ErrorIs(t, (<-second).err, ErrNoRich)
		assert.False(t, b.TakesRich())
		require.ErrorIs(t, b.Edit(t.Context(), to(5), 1, rich(0, "a")), ErrNoRich)
		_, err = b.Send(t.Context(), say(5, "a"))
		require.NoError(t, err)
		assert.Len(t, b.seen("rich", false), 2)
		assert.Len(t, b.seen("me", false), 2)
	})
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Minute) // each bubble begins at the same time
		b := newBench(t, dir, old)
		assert.False(t, b.TakesRich(), "it is remembered")
		other := New(b.fake, "https://another.example", b.posts.folder.Path, b.log)
		assert.True(t, other.TakesRich())
		time.Sleep(richAgain)
		assert.True(t, b.TakesRich(), "the server may be newer by now")
		b.reply = nil
		b.run(t)
		_, err := b.Send(t.Context(), rich(5, "a"))
		require.NoError(t, err)
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, dir, nil)
		f, known := b.notes.servers.Get(b.notes.server)
		assert.True(t, known && f.Has)
	})
}

func TestRichMessage404(t *testing.T) {
	tests := []struct {
		name string
		me   []error // answers of getMe, one after another
		want error
		log  bool // that the token is refused
	}{
		{"the method", []error{nil, nil}, ErrNoRich, false},
		{"the token at first", []error{errToken, errMissing, nil, nil}, ErrNoRich, true},
		{"not known at first", []error{errServer, tooMany(3), nil, nil}, ErrNoRich, true},
		{"a fault that passes", []error{nil, errToken, nil}, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := 0
			inBubble(t, func(_ context.Context, _ int, c call) error {
				if c.method != "me" && tt.want == nil && asked == len(tt.me) {
					return nil
				}
				if c.method != "me" {
					return errMissing
				}
				asked++
				return tt.me[min(asked, len(tt.me))-1]
			}, func(t *testing.T, b *bench) {
				var log bytes.Buffer
				synctest.Wait()
				b.log = slog.New(slog.NewTextHandler(&log, nil))
				_, err := b.Send(t.Context(), rich(5, "a"))
				require.ErrorIs(t, err, tt.want)
				assert.Equal(t, tt.log, strings.Contains(log.String(), "bot_token_refused"))
				assert.Equal(t, len(tt.me), asked)
				assert.Equal(t, tt.want == nil, b.TakesRich())
			})
		})
	}
}

func TestRefusedRichMessage(t *testing.T) {
	tooLong := errors.Join(tgbot.ErrorBadRequest, errors.New("RICH_MESSAGE_TEXT_TOO_LONG"))
	inBubble(t, func(context.Context, int, call) error { return tooLong }, func(t *testing.T, b *bench) {
		_, err := b.Send(t.Context(), rich(5, "a"))
		refused := (*Refused)(nil)
		require.ErrorAs(t, err, &refused)
		assert.NotErrorIs(t, err, ErrNoRich)
		assert.True(t, b.TakesRich())
		assert.Len(t, b.seen("", false), 1, "who sends decides what comes next")
	})
}

func TestPostIsNeverRich(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, b *bench) {
		m := say(5, "text")
		m.Rich = "# text"
		require.NoError(t, b.Post(t.Context(), m))
		b.idle(time.Minute)
		assert.Equal(t, []string{"text"}, texts(b.seen("send", true)))
		assert.ErrorIs(t, b.Post(t.Context(), rich(5, "# text")), errBlank)
	})
}
