package outbox

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
)

// request is one as the server of these tests saw it.
type request struct {
	method string
	fields map[string]string
	files  map[string]string // field → name
}

// telegram is a server that answers as Telegram does; refuse returns the code, the description and
// more parameters of a refusal, code 0: none.
type telegram struct {
	refuse func(q request) (code int, description, more string)
	mu     sync.Mutex
	asked  []request
}

func (a *telegram) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := request{method: path.Base(r.URL.Path), fields: map[string]string{}, files: map[string]string{}}
	if err := r.ParseMultipartForm(1 << 20); err == nil {
		for name, values := range r.MultipartForm.Value {
			q.fields[name] = values[0]
		}
		for name, files := range r.MultipartForm.File {
			q.files[name] = files[0].Filename
		}
	}
	a.mu.Lock()
	a.asked = append(a.asked, q)
	a.mu.Unlock()
	if code, description, more := a.refuse(q); code != 0 {
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":%d,"description":%q%s}`, code, description, more)
		return
	}
	result := `{"message_id":77,"chat":{"id":1,"type":"private"},"rich_message":{"blocks":[{"type":"of the future"}]}}`
	if q.method == "getMe" {
		result = `{"id":42,"is_bot":true,"first_name":"x"}`
	}
	_, _ = io.WriteString(w, `{"ok":true,"result":`+result+`}`)
}

func (a *telegram) methods() (all []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, q := range a.asked {
		all = append(all, strings.TrimSpace(q.method+" "+q.fields["chat_id"]+" "+q.fields["message_thread_id"]))
	}
	return all
}

func (a *telegram) bench(t *testing.T) *bench {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	bot, err := tgbot.New(testToken, tgbot.WithSkipGetMe(), tgbot.WithServerURL(server.URL), tgbot.WithHTTPClient(0, server.Client()))
	require.NoError(t, err)
	dir := t.TempDir()
	b := &bench{Outbox: New(bot, server.URL, filepath.Join(dir, "outbox"), slog.New(slog.DiscardHandler)), dir: dir}
	b.run(t)
	return b
}

func none(request) (int, string, string) { return 0, "", "" }

func TestClientSendsRichMessage(t *testing.T) {
	api := &telegram{refuse: none}
	b := api.bench(t)
	m := rich(5, "# \"a\" <b>\n\n| x | y |\n|---|---|\n| 1 | 2 |\n")
	m.Buttons, m.ReplyTo = [][]Button{{{Text: "A", Data: "a"}}}, 3
	id, err := b.Send(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, 77, id, "although the answer has a block that the library does not know")
	require.Equal(t, []string{"sendRichMessage 5"}, api.methods())
	sent := api.asked[0].fields
	assert.JSONEq(t, `{"markdown":"# \"a\" <b>\n\n| x | y |\n|---|---|\n| 1 | 2 |\n","skip_entity_detection":true}`, sent["rich_message"])
	assert.JSONEq(t, `{"inline_keyboard":[[{"text":"A","callback_data":"a"}]]}`, sent["reply_markup"])
	assert.JSONEq(t, `{"message_id":3,"allow_sending_without_reply":true}`, sent["reply_parameters"])
	assert.Equal(t, "true", sent["disable_notification"])
	assert.NotContains(t, sent, "text")
	assert.True(t, b.TakesRich())
	require.NoError(t, b.stop())
	assert.Contains(t, files(t, b.dir), richFile)
}

func TestClientWithoutRichMessages(t *testing.T) {
	missing := func(q request) (int, string, string) {
		if q.method == "sendRichMessage" {
			return 404, "Not Found: method not found", ""
		}
		return 0, "", ""
	}
	api := &telegram{refuse: missing}
	b := api.bench(t)
	for range 2 {
		_, err := b.Send(t.Context(), rich(5, "a"))
		require.ErrorIs(t, err, ErrNoRich)
	}
	_, err := b.Send(t.Context(), say(5, "a"))
	require.NoError(t, err)
	assert.Equal(t, []string{"sendRichMessage 5", "getMe", "sendRichMessage 5", "getMe", "sendMessage 5"}, api.methods())
}

func TestClientReturnsRichRefusal(t *testing.T) {
	api := &telegram{refuse: func(q request) (int, string, string) {
		return 400, "Bad Request: RICH_MESSAGE_TEXT_TOO_LONG", ""
	}}
	b := api.bench(t)
	_, err := b.Send(t.Context(), rich(5, "a"))
	refused := (*Refused)(nil)
	require.ErrorAs(t, err, &refused)
	assert.ErrorContains(t, err, "RICH_MESSAGE_TEXT_TOO_LONG")
	assert.True(t, b.TakesRich())
	assert.Len(t, api.methods(), 1)
}

func TestP5_ClientIsDeniedOnce(t *testing.T) {
	for _, code := range []int{401, 404} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			denied := false
			api := &telegram{refuse: func(q request) (int, string, string) {
				if denied || q.method == "getMe" {
					return 0, "", ""
				}
				denied = true
				return code, "told", ""
			}}
			b := api.bench(t)
			_, err := b.Send(t.Context(), rich(5, "a"))
			require.NoError(t, err)
			assert.True(t, b.TakesRich())
			require.NoError(t, b.stop())
		})
	}
}

func TestClientSendsPhoto(t *testing.T) {
	bad := false
	api := &telegram{refuse: func(q request) (int, string, string) {
		if bad && q.method == "sendPhoto" {
			return 400, "Bad Request: PHOTO_INVALID_DIMENSIONS", ""
		}
		return 0, "", ""
	}}
	b := api.bench(t)
	f := file(5, "png")
	f.Name, f.Caption, f.Photo = "a.png", render.Bold("look"), true
	_, err := b.SendFile(t.Context(), f)
	require.NoError(t, err)
	bad = true
	_, err = b.SendFile(t.Context(), f)
	require.NoError(t, err)
	require.Equal(t, []string{"sendPhoto 5", "sendPhoto 5", "sendDocument 5"}, api.methods())
	for i, field := range []string{"photo", "photo", "document"} {
		assert.Equal(t, map[string]string{field: "a.png"}, api.asked[i].files)
		assert.Equal(t, "look", api.asked[i].fields["caption"])
		assert.JSONEq(t, `[{"type":"bold","offset":0,"length":4}]`, api.asked[i].fields["caption_entities"])
	}
}

func TestClientInChangedPlaces(t *testing.T) {
	t.Parallel()
	api := &telegram{refuse: func(q request) (int, string, string) {
		switch {
		case q.fields["chat_id"] == "-5":
			return 400, "Bad Request: group chat was upgraded to a supergroup chat", `,"parameters":{"migrate_to_chat_id":-1001234567890}`
		case q.fields["message_thread_id"] == "9":
			return 400, "Bad Request: message thread not found", ""
		case q.fields["message_thread_id"] == "8":
			return 400, "Bad Request: TOPIC_CLOSED", ""
		case q.fields["chat_id"] == "6":
			return 403, "Forbidden: bot was blocked by the user", ""
		}
		return 0, "", ""
	}}
	b := api.bench(t)
	for range 2 {
		_, err := b.Send(t.Context(), say(-5, "a"))
		require.NoError(t, err)
		_, err = b.Send(t.Context(), inTopic(7, 9, "a"))
		require.NoError(t, err)
		_, err = b.Send(t.Context(), say(6, "a"))
		require.ErrorIs(t, err, ErrBlocked)
	}
	_, err := b.Send(t.Context(), inTopic(7, 8, "a"))
	require.NoError(t, err, "what a closed topic does not take comes in its chat")
	assert.Equal(t, []string{"sendMessage -5", "sendMessage -1001234567890", "sendMessage 7 9", "sendMessage 7", "sendMessage 6",
		"sendMessage -1001234567890", "sendMessage 7", "sendMessage 7 8", "sendMessage 7"}, api.methods())
	assert.True(t, b.IsSuspended(6))
}
