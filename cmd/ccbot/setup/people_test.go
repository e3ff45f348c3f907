package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"rsc.io/qr"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/telegram"
)

const code = "c0dec0dec0dec0dec0dec0"

func updateOf(id int, from, kind, text string) json.RawMessage {
	return fmt.Appendf(nil, `{"update_id":%d,"message":{"text":%q,"from":%s,"chat":{"id":5,"type":%q}}}`, id, text, from, kind)
}

func TestP9_OnlySenderOfCodeIsOffered(t *testing.T) {
	const ann = `{"id":5,"first_name":"Ann"}`
	for _, tt := range []struct {
		name   string
		update string
		want   bool
	}{
		{"the code", string(updateOf(1, ann, "private", "/start "+code)), true},
		{"no code", string(updateOf(1, ann, "private", "/start")), false},
		{"a part of it", string(updateOf(1, ann, "private", "/start "+code[:21])), false},
		{"and more", string(updateOf(1, ann, "private", "/start "+code+" x")), false},
		{"without the command", string(updateOf(1, ann, "private", code)), false},
		{"in a group", string(updateOf(1, ann, "group", "/start "+code)), false},
		{"a bot", string(updateOf(1, `{"id":5,"is_bot":true}`, "private", "/start "+code)), false},
		{"in the chat of somebody else", string(updateOf(1, `{"id":6}`, "private", "/start "+code)), false},
		{"an edit", strings.Replace(string(updateOf(1, ann, "private", "/start "+code)), `"message"`, `"edited_message"`, 1), false},
		{"nobody", `{"update_id":1,"message":{"text":"/start ` + code + `","chat":{"type":"private"}}}`, false},
		{"something new", `{"update_id":1,"message":[1]}`, false},
		{"no update", `7`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from, ok := read(json.RawMessage(tt.update)).with(code)
			assert.Equal(t, tt.want, ok)
			if ok {
				assert.Equal(t, int64(5), from.ID)
			}
		})
	}
}

// Pairing removes no update of a bot that has people, even if the page is full.
func TestP4_PairingKeepsUpdates(t *testing.T) {
	full := make([]json.RawMessage, 0, telegram.MostUpdates)
	for i := range telegram.MostUpdates {
		full = append(full, updateOf(100+i, `{"id":6}`, "private", "hello"))
	}
	for _, keep := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var offsets []int64
			d := pairing{keep: keep, printf: func(string, ...any) {}, fetch: func(_ context.Context, offset int64) ([]json.RawMessage, error) {
				offsets = append(offsets, offset)
				if offset <= 100 {
					return full, nil
				}
				return []json.RawMessage{updateOf(200, `{"id":5}`, "private", "/start "+code)}, nil
			}}
			from, err := d.wait(t.Context(), code)
			if keep {
				require.ErrorContains(t, err, "100 messages are pending")
				assert.Equal(t, []int64{0}, offsets)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, int64(5), from.ID)
			assert.Equal(t, []int64{0, 200}, offsets)
		})
	}
}

// TestCodeLastsTenMinutes, also while Telegram cannot be reached, or others write.
func TestCodeLastsTenMinutes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		updates []json.RawMessage
		err     error
		printed int
	}{
		{"nobody is there", nil, nil, 0},
		{"others write", []json.RawMessage{updateOf(1, `{"id":6}`, "private", "/start x")}, nil, 0},
		{"Telegram is away", nil, errors.New("no route"), 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			printed := 0
			d := pairing{printf: func(string, ...any) { printed++ }, fetch: func(ctx context.Context, offset int64) ([]json.RawMessage, error) {
				assert.Zero(t, offset)
				if tt.updates == nil && tt.err == nil {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return tt.updates, tt.err
			}}
			_, err := d.wait(t.Context(), code)
			require.ErrorIs(t, err, errNobody, tt.name)
			assert.Equal(t, tt.printed, printed, tt.name)
		})
	}
}

// TestSetupEndsAtAWebhook: the bot's messages go elsewhere.
func TestSetupEndsAtAWebhook(t *testing.T) {
	const secret = "123456789:AAsecretsecretsecretsecret"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch _, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); method {
		case "getMe":
			fmt.Fprint(w, `{"ok":true,"result":{"id":1,"is_bot":true,"username":"x_bot"}}`)
		case "getWebhookInfo":
			fmt.Fprint(w, `{"ok":true,"result":{"url":"https://example.org/`+secret+`"}}`)
		default:
			t.Errorf("called: %s", method)
		}
	}))
	defer server.Close()
	var said strings.Builder
	s := Setup{Config: config.Config{APIURL: server.URL}, Terminal: Terminal{Out: &said}}
	_, err := s.connect(t.Context(), secret)
	require.ErrorIs(t, err, telegram.ErrWebhook)
	assert.NotContains(t, err.Error()+said.String(), "AAsecret")
}

// TestDraw reads the picture again.
func TestDraw(t *testing.T) {
	const link = "https://t.me/ccbot_sandbox_bot?start=" + code
	want, err := qr.Encode(link, qr.L)
	require.NoError(t, err)
	width := want.Size + 2*quietZone
	narrow, err := draw(link, width-1)
	require.NoError(t, err)
	assert.Empty(t, narrow, "its lines would be broken")
	picture, err := draw(link, 0)
	require.NoError(t, err)
	fitting, err := draw(link, width)
	require.NoError(t, err)
	assert.Equal(t, picture, fitting)
	lines := strings.Split(strings.TrimSuffix(picture, "\n"), "\n")
	require.LessOrEqual(t, len(lines), 22, "a terminal of 24 lines shows it with the link")
	for i, line := range lines {
		line, ok := strings.CutPrefix(line, blackOnWhite)
		require.True(t, ok)
		line, ok = strings.CutSuffix(line, plainAgain)
		require.True(t, ok)
		modules := []rune(line)
		require.Len(t, modules, width)
		for x, r := range modules {
			y := 2*i - quietZone
			assert.Equal(t, want.Black(x-quietZone, y), r == '█' || r == '▀')
			assert.Equal(t, want.Black(x-quietZone, y+1), r == '█' || r == '▄')
		}
	}
}
