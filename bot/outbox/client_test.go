package outbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
	"ccbot/internal/waittest"
)

const testToken = "42:secret-of-the-test"

// botAPI answers the first call of each chat according to the chat's name and takes all others.
type botAPI struct {
	mu    sync.Mutex
	calls map[string][]string // chat → method and form of its calls
}

func (a *botAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseMultipartForm(1 << 20)
	chat := r.FormValue("chat_id")
	a.mu.Lock()
	a.calls[chat] = append(a.calls[chat], filepath.Base(r.URL.Path)+fmt.Sprint(r.MultipartForm.Value))
	first := len(a.calls[chat]) == 1
	a.mu.Unlock()
	fail := func(code int, more string) {
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":%d,"description":"told"%s}`, code, more)
	}
	switch {
	case chat == "403":
		fail(403, "")
	case chat == "400":
		fail(400, "")
	case first && chat == "1":
		fail(429, `,"parameters":{"retry_after":1}`)
	case first && chat == "2":
		fail(500, "")
	case first && chat == "3":
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, "<html>502 Bad Gateway</html>")
	case first && chat == "4":
		panic(http.ErrAbortHandler) // the connection is reset
	case first && chat == "-5":
		fail(400, `,"parameters":{"migrate_to_chat_id":-1005}`)
	case first && chat == "6":
		fail(400, "") // formatting
	case chat == "7": // a yes the library cannot read to its end
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":77,"chat":{"id":7,"type":"private"},"forward_origin":{"type":"of the future"}}}`)
	case first && chat == "9":
		_, _ = io.WriteString(w, `{"ok":true,"result":{}}`)
	case strings.HasSuffix(r.URL.Path, "Reaction"):
		_, _ = io.WriteString(w, `{"ok":true,"result":true}`)
	default:
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":77,"chat":{"id":1,"type":"private"}}}`)
	}
}

// The library's errors from a real server are those that judge expects.
func TestClient(t *testing.T) {
	t.Parallel()
	api := &botAPI{calls: map[string][]string{}}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	bot, err := tgbot.New(testToken, tgbot.WithSkipGetMe(), tgbot.WithServerURL(server.URL), tgbot.WithHTTPClient(0, server.Client()))
	require.NoError(t, err)
	var log strings.Builder
	b := &bench{Outbox: New(bot, server.URL, filepath.Join(t.TempDir(), "outbox"), slog.New(slog.NewTextHandler(&log, nil)))}
	b.jitter = func() float64 { return 0 }
	b.run(t)

	tests := []struct {
		name    string
		chat    int64
		calls   int
		refused bool
		lost    bool
	}{
		{"429", 1, 2, false, false},
		{"500", 2, 2, false, false},
		{"html", 3, 2, false, true},
		{"reset", 4, 2, false, true},
		{"migrated", -5, 1, false, false},
		{"formatting", 6, 2, false, false},
		{"unreadable yes", 7, 1, false, false},
		{"yes without an id", 9, 2, false, true},
		{"403", 403, 1, true, false},
		{"400", 400, 2, true, false},
		{"fine", 8, 1, false, false},
	}
	t.Run("group", func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				m := Message{To: to(tt.chat), Text: render.Bold("hello"), Buttons: [][]Button{{{Text: "A", Data: "a", Style: Danger}}}, ReplyTo: 3}
				var id int
				var err error
				var done atomic.Bool
				go func() {
					id, err = b.Send(t.Context(), m)
					done.Store(true)
				}()
				waittest.Until(t, func() bool {
					if tt.lost {
						b.Resume(tt.chat) // else it waits for half a minute
					}
					return done.Load()
				})
				var refused *Refused
				assert.Equal(t, tt.refused, errors.As(err, &refused), "%v", err)
				if !tt.refused {
					require.NoError(t, err)
					_, sent := b.Aliases.Out(tt.chat, id)
					assert.Equal(t, 77, sent)
				}
				api.mu.Lock()
				defer api.mu.Unlock()
				assert.Len(t, api.calls[fmt.Sprint(tt.chat)], tt.calls)
			})
		}
	})
	b.React(t.Context(), to(8), 77, "👍")
	require.NoError(t, b.Edit(t.Context(), to(8), 77, say(8, "new")))
	b.DropButtons(t.Context(), to(8), 78)
	require.NoError(t, b.EditNow(t.Context(), to(8), 79, say(8, "behind them")))
	waittest.Until(t, func() bool { // no caller waits for a side call
		api.mu.Lock()
		defer api.mu.Unlock()
		sent := strings.Join(api.calls["8"], "\n")
		return strings.Contains(sent, "setMessageReaction") && strings.Contains(sent, "editMessageReplyMarkup")
	})
	Flush(t.Context(), b.Outbox)
	require.NoError(t, b.stop())

	calls := strings.Join(api.calls["8"], "\n")
	for _, want := range []string{
		`entities:[[{"type":"bold","offset":0,"length":5}]]`, `"callback_data":"a"`, `"style":"danger"`, `allow_sending_without_reply`,
		"sendMessage", "setMessageReaction", "editMessageText", "editMessageReplyMarkup", `link_preview_options:[{"is_disabled":true}]`,
	} {
		assert.Contains(t, calls, want)
	}
	assert.NotContains(t, log.String(), "secret-of-the-test")
	assert.NotContains(t, log.String(), "hello")
}

// TestClientTellsWhatWasNotSent: a call that got no connection has sent nothing, whether the server
// refuses the connection or does not answer.
func TestClientTellsWhatWasNotSent(t *testing.T) {
	for name, dial := range map[string]func(ctx context.Context, network, address string) (net.Conn, error){
		"refused":   func(context.Context, string, string) (net.Conn, error) { return nil, syscall.ECONNREFUSED },
		"no answer": func(context.Context, string, string) (net.Conn, error) { <-time.After(time.Minute); return nil, io.EOF },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				server := "http://api.example"
				transport := &http.Transport{DialContext: dial}
				bot, err := tgbot.New(testToken, tgbot.WithSkipGetMe(), tgbot.WithServerURL(server), tgbot.WithHTTPClient(0, &http.Client{Transport: transport}))
				require.NoError(t, err)
				b := &bench{Outbox: New(bot, server, filepath.Join(dir, "outbox"), slog.New(slog.DiscardHandler))}
				b.run(t)
				ctx, cancel := context.WithTimeout(t.Context(), callTimeout+firstBackoff/2)
				defer cancel()
				_, err = b.Send(ctx, say(5, "x"))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.NotErrorIs(t, err, ErrUnsure)
				<-time.After(2 * time.Minute) // the transport goes on with its dial
			})
		})
	}
}
