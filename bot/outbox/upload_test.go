package outbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
)

func file(chat int64, body string) File {
	return File{To: to(chat), Name: "a.txt", Body: strings.NewReader(body), Size: int64(len(body))}
}

// TestP5_FileIsSentUntilAccepted: all of it at each attempt.
func TestP5_FileIsSentUntilAccepted(t *testing.T) {
	reply := func(_ context.Context, n int, _ call) error {
		return []error{errServer, tooMany(60), errBroken, nil}[min(n, 4)-1]
	}
	inBubble(t, reply, func(t *testing.T, b *bench) {
		start := time.Now()
		f := file(5, "hello")
		f.Caption = render.Plain("look")
		id, err := b.SendFile(t.Context(), f)
		require.NoError(t, err)
		assert.Equal(t, 1, id)
		calls := b.seen("file", false)
		require.Len(t, calls, 4)
		for _, c := range calls {
			assert.Equal(t, "a.txt: hello (look)", c.text)
		}
		assert.GreaterOrEqual(t, time.Since(start), time.Minute)
	})
}

// A file keeps its place in what its session says.
func TestFileKeepsItsOrder(t *testing.T) {
	reply := func(_ context.Context, n int, _ call) error {
		if n == 1 {
			return tooMany(10)
		}
		return nil
	}
	inBubble(t, reply, func(t *testing.T, b *bench) {
		session := uuid.New()
		first := b.sendLater(t.Context(), of(session, 5, Now, "1"))
		second := make(chan error, 1)
		go func() {
			f := file(5, "2")
			f.Session = session
			_, err := b.SendFile(t.Context(), f)
			second <- err
		}()
		b.idle(time.Second)
		third := b.sendLater(t.Context(), of(session, 5, Now, "3"))
		require.NoError(t, (<-first).err)
		require.NoError(t, <-second)
		require.NoError(t, (<-third).err)
		assert.Equal(t, []string{"1", "a.txt: 2 ()", "3"}, texts(b.seen("", true)))
	})
}

func TestRefusedFiles(t *testing.T) {
	tests := []struct {
		name   string
		err    error // of the first call
		change func(f *File)
		calls  int
		ok     bool
	}{
		{"fine", nil, func(*File) {}, 1, true},
		{"a long caption that fits", nil, func(f *File) { f.Caption = render.Plain(strings.Repeat("😀", 512)) }, 1, true},
		{"a caption that is too long", nil, func(f *File) { f.Caption = render.Plain(strings.Repeat("😀", 512) + "x") }, 0, false},
		{"a caption whose formatting is refused", errEntities, func(f *File) { f.Caption = render.Bold("x") }, 2, true},
		{"empty", nil, func(f *File) { f.Size = 0 }, 0, false},
		{"too large", nil, func(f *File) { f.Size = MaxFile + 1 }, 0, false},
		{"without a name", nil, func(f *File) { f.Name = "" }, 0, false},
		{"blocked", errForbidden, func(*File) {}, 1, false},
		{"too large for this server", errTooLarge, func(*File) {}, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reply := func(_ context.Context, n int, _ call) error {
				if n == 1 {
					return tt.err
				}
				return nil
			}
			inBubble(t, reply, func(t *testing.T, b *bench) {
				f := file(5, "hello")
				tt.change(&f)
				_, err := b.SendFile(t.Context(), f)
				assert.Len(t, b.seen("file", false), tt.calls)
				if refused := (*Refused)(nil); !tt.ok {
					require.ErrorAs(t, err, &refused)
					return
				}
				require.NoError(t, err)
			})
		})
	}
}

var errTooLarge = errors.New("error response from telegram for method sendDocument, 413 Request Entity Too Large")

// A file whose caller gives up is not tried again.
func TestFileOfGoneSenderIsDropped(t *testing.T) {
	inBubble(t, func(context.Context, int, call) error { return errServer }, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := b.SendFile(ctx, file(5, "hello"))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		calls := len(b.seen("file", false))
		b.idle(time.Hour)
		assert.LessOrEqual(t, len(b.seen("file", false)), calls+1)
	})
}

// bytesOf is a file of one letter that keeps nothing.
type bytesOf struct{}

func (bytesOf) ReadAt(p []byte, _ int64) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// The real client with a server that refuses a file before it has read it, and then takes it.
func TestClientSendsFile(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"ok":false,"error_code":429,"description":"x","parameters":{"retry_after":1}}`)
			return
		}
		assert.NoError(t, r.ParseMultipartForm(1<<20))
		up, header, err := r.FormFile("document")
		assert.NoError(t, err)
		body, err := io.ReadAll(up)
		assert.NoError(t, err)
		assert.Len(t, bytes.Trim(body, "x"), 0)
		assert.Len(t, body, 3<<20)
		got <- header.Filename + " " + r.FormValue("caption") + " " + r.FormValue("chat_id")
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":77,"chat":{"id":5,"type":"private"}}}`)
	}))
	t.Cleanup(server.Close)
	bot, err := tgbot.New(testToken, tgbot.WithSkipGetMe(), tgbot.WithServerURL(server.URL), tgbot.WithHTTPClient(0, server.Client()))
	require.NoError(t, err)
	b := &bench{Outbox: New(bot, server.URL, filepath.Join(t.TempDir(), "outbox"), slog.New(slog.DiscardHandler))}
	b.run(t)
	id, err := b.SendFile(t.Context(), File{To: to(5), Name: `a "b".txt`, Caption: render.Plain("hi"), Body: bytesOf{}, Size: 3 << 20})
	require.NoError(t, err)
	assert.Equal(t, 77, id)
	assert.Equal(t, `a "b".txt hi 5`, <-got)
	assert.EqualValues(t, 2, calls.Load())
}

// unreadable is a file on a broken disk.
type unreadable struct{}

func (unreadable) ReadAt(p []byte, at int64) (int, error) {
	if at > 100_000 {
		return 0, io.ErrClosedPipe
	}
	return bytesOf{}.ReadAt(p, at)
}

// A file that cannot be read is not tried again: it would dam its chat.
func TestClientAbandonsUnreadableFile(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(server.Close)
	bot, err := tgbot.New(testToken, tgbot.WithSkipGetMe(), tgbot.WithServerURL(server.URL), tgbot.WithHTTPClient(0, server.Client()))
	require.NoError(t, err)
	b := &bench{Outbox: New(bot, server.URL, filepath.Join(t.TempDir(), "outbox"), slog.New(slog.DiscardHandler))}
	b.run(t)
	_, err = b.SendFile(t.Context(), File{To: to(5), Name: "a", Body: unreadable{}, Size: 3 << 20})
	refused := (*Refused)(nil)
	require.ErrorAs(t, err, &refused)
	require.ErrorIs(t, err, errUnread)
	assert.NotContains(t, err.Error(), testToken)
}

func TestPhotos(t *testing.T) {
	tests := []struct {
		name   string
		change func(f *File)
		errs   []error
		want   []string // methods
		ok     bool
	}{
		{"fine", func(*File) {}, nil, []string{"photo"}, true},
		{"refused", func(*File) {}, []error{errPhoto}, []string{"photo", "file"}, true},
		{"refused as a document, too", func(*File) {}, []error{errPhoto, errPhoto}, []string{"photo", "file"}, false},
		{"the caption is refused", func(f *File) { f.Caption = render.Bold("x") }, []error{errEntities}, []string{"photo", "photo"}, true},
		{"photo and caption are refused", func(f *File) { f.Caption = render.Bold("x") }, []error{errPhoto, errEntities}, []string{"photo", "file", "file"}, true},
		{"too large for a photo", func(f *File) { f.Body, f.Size = bytesOf{}, MaxPhoto+1 }, nil, []string{"file"}, true},
		{"the server fails", func(*File) {}, []error{errServer, tooMany(1)}, []string{"photo", "photo", "photo"}, true},
		{"blocked", func(*File) {}, []error{errForbidden}, []string{"photo"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(_ context.Context, n int, _ call) error {
				if n <= len(tt.errs) {
					return tt.errs[n-1]
				}
				return nil
			}, func(t *testing.T, b *bench) {
				f := file(5, "hello")
				f.Photo = true
				tt.change(&f)
				_, err := b.SendFile(t.Context(), f)
				assert.Equal(t, tt.ok, err == nil, "%v", err)
				var methods []string
				for _, c := range b.seen("", false) {
					methods = append(methods, c.method)
				}
				assert.Equal(t, tt.want, methods)
			})
		})
	}
}

// A file that takes minutes holds up what its session says after it, and other files, but nothing else
// of its chat.
func TestP4_OnlyItsSessionWaitsForAnUpload(t *testing.T) {
	slow := func(_ context.Context, _ int, c call) error {
		if c.method == "file" {
			time.Sleep(4 * time.Minute)
		}
		return nil
	}
	inBubble(t, slow, func(t *testing.T, b *bench) {
		first, second := uuid.New(), uuid.New()
		upload := func(session uuid.UUID, body string) <-chan error {
			f, done := file(5, body), make(chan error, 1)
			f.Session, f.Rank = session, Later
			go func() {
				_, err := b.SendFile(t.Context(), f)
				done <- err
			}()
			b.idle(time.Second)
			return done
		}
		one := upload(first, "1")
		require.NoError(t, b.Post(t.Context(), of(first, 5, Talk, "of the first session")))
		two := upload(second, "2")
		require.NoError(t, b.Post(t.Context(), of(second, 5, Talk, "of the second session")))
		require.NoError(t, b.Post(t.Context(), of(first, 5, Now, "a reply")))
		require.NoError(t, b.Post(t.Context(), of(uuid.New(), 5, Talk, "of a third session")))
		require.NoError(t, b.Edit(t.Context(), to(5), 1_000_000, ranked("a card", Card)))
		b.idle(time.Minute)
		assert.Equal(t, []string{"a reply", "of a third session", "a card"}, texts(b.seen("", true)))
		assert.Len(t, b.seen("file", false), 1, "one file at a time")
		assert.False(t, GoingOf(b.Outbox).Failing)
		require.NoError(t, <-one)
		b.idle(time.Minute)
		assert.Contains(t, texts(b.seen("", true)), "of the first session")
		assert.NotContains(t, texts(b.seen("", true)), "of the second session")
		require.NoError(t, <-two)
		b.idle(time.Minute)
		assert.Equal(t, []string{"a.txt: 2 ()", "of the second session"}, texts(b.seen("", true))[5:])
	})
}
