package token

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"ccbot/internal/sourcetest"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	text = "123456789:AAsecret_secret-secretsecret"
	half = "AAsecret_secret-secretsecret"
)

// holder has a token as other structs do.
type holder struct {
	Open   Token
	closed Token
	deep   *struct{ token Token }
}

func held() holder {
	return holder{New(text), New(text), &struct{ token Token }{New(text)}}
}

// TestP9_TokenIsNeverPrinted: by no verb, not even a wrong one, at no depth, in
// no encoding and in no log.
func TestP9_TokenIsNeverPrinted(t *testing.T) {
	h := held()
	for _, what := range []any{h, &h, h.Open, &h.Open, h.deep, []Token{h.Open}, map[string]Token{"x": h.Open}, any(h.closed)} {
		for verb := 'A'; verb <= 'z'; verb++ {
			for _, flags := range []string{"", "+", "#", "10.50", "-", " ", "0"} {
				said := fmt.Sprintf("%"+flags+string(verb), what)
				assert.NotContains(t, said, "secret", "%s%c of %T", flags, verb, what)
				assert.NotContains(t, said, fmt.Sprintf("%x", "secret"), "%s%c of %T", flags, verb, what)
			}
		}
		assert.NotContains(t, fmt.Sprint(what), "secret")
		if data, err := json.Marshal(what); err == nil {
			assert.NotContains(t, string(data), "secret")
		}
	}
	assert.Equal(t, redacted, New(text).String())
	for _, h := range []func(io.Writer) slog.Handler{
		func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
		func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
	} {
		var out bytes.Buffer
		slog.New(h(&out)).With("with", held()).Info("x", "token", New(text), "in", held(), slog.Group("g", "token", New(text)))
		assert.NotContains(t, out.String(), "secret")
		assert.Contains(t, out.String(), redacted)
	}
}

func TestP9_Clean(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", "a text: with 123456789", "a text: with 123456789"},
		{"alone", text, Hole},
		{"an address", `Post "https://api.telegram.org/bot` + text + `/getMe": EOF`, `Post "https://api.telegram.org/bot[redacted]/getMe": EOF`},
		{"escaped", "bot" + url.QueryEscape(text) + "/x", "bot[redacted]/x"},
		{"escaped in small letters", strings.ReplaceAll(url.QueryEscape(text), "%3A", "%3a"), Hole},
		{"the half behind the colon", "key=" + half + ";", "key=[redacted];"},
		{"twice", text + text, Hole + Hole},
		{"beside letters", "x" + text + "x", "x[redacted]x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, New(text).Clean(tt.in))
			assert.Equal(t, tt.in, Token{}.Clean(tt.in), "without one nothing is changed")
			var out bytes.Buffer
			n, err := New(text).Writer(&out).Write([]byte(tt.in))
			require.NoError(t, err)
			assert.Equal(t, len(tt.in), n, "the writer has taken all of it")
			assert.Equal(t, tt.want, out.String())
		})
	}
	assert.Equal(t, "a word is no secret", New("1:word").Clean("a word is no secret"))
}

func TestFill(t *testing.T) {
	token := New(text)
	path := "/srv/" + text + "/documents/a [redacted] b"
	assert.Equal(t, "/srv/[redacted]/documents/a [redacted] b", token.Clean(path))
	assert.Equal(t, path, token.Fill(token.Clean(path)))
	assert.Equal(t, path, Token{}.Fill(path))
}

func TestValid(t *testing.T) {
	for in, want := range map[string]bool{text: true, "": false, "x": false, half: false, "1:short": false, " " + text: false, text + "\n": false} {
		assert.Equal(t, want, New(in).Valid(), "%q", in)
		assert.Equal(t, in == "", New(in).Empty())
	}
	var read Token
	require.NoError(t, read.UnmarshalText([]byte(text)))
	assert.True(t, read.Valid())
}

func TestP9_CleanError(t *testing.T) {
	token := New(text)
	require.NoError(t, token.CleanError(nil))
	assert.Equal(t, io.EOF, token.CleanError(io.EOF), "what says nothing stays as it is")
	inner := &url.Error{Op: "Post", URL: "https://x/bot" + text + "/getMe", Err: io.ErrUnexpectedEOF}
	err := token.CleanError(fmt.Errorf("ask: %w", inner))
	for e := err; e != nil; e = errors.Unwrap(e) {
		assert.NotContains(t, e.Error(), "secret")
		assert.NotContains(t, fmt.Sprintf("%+v %#v", e, e), "secret")
	}
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	var found *url.Error
	require.ErrorAs(t, err, &found)
}

// server echoes the request's URL, as some proxies do.
func server(t *testing.T) (s *httptest.Server, asked *[]string) {
	t.Helper()
	asked = new([]string)
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path)
		switch {
		case strings.HasSuffix(r.URL.Path, "/cut"):
			w.Header().Set("Content-Length", "1000")
			_, _ = fmt.Fprint(w, "no page for ", r.URL)
		case strings.HasSuffix(r.URL.Path, "/away"):
			http.Redirect(w, r, "http://elsewhere.example"+r.URL.Path, http.StatusTemporaryRedirect)
		case strings.HasSuffix(r.URL.Path, "/none"):
			http.Error(w, "no page for "+r.URL.Path, http.StatusNotFound)
		default:
			_, _ = fmt.Fprint(w, "a page for ", r.URL.Path, " with ", half)
		}
	}))
	t.Cleanup(s.Close)
	return s, asked
}

func TestP9_TransportInsertsToken(t *testing.T) {
	s, asked := server(t)
	client := &http.Client{Transport: New(text).Transport(s.URL+"/base", s.Client().Transport)}
	get := func(path string) (string, error) {
		resp, err := client.Get(s.URL + path)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		assert.NotContains(t, fmt.Sprint(resp.Request.URL), "secret")
		data, err := io.ReadAll(resp.Body)
		return string(data), err
	}
	said, err := get("/base/bot" + Standin + "/getMe")
	require.NoError(t, err)
	assert.Equal(t, "a page for /base/bot[redacted]/getMe with [redacted]", said)
	said, err = get("/file/bot" + Standin + "/photos/a%20b.jpg")
	require.NoError(t, err)
	assert.Contains(t, said, "secret", "a file is not touched")
	said, err = get("/file/bot" + Standin + "/none")
	require.NoError(t, err)
	assert.NotContains(t, said, "secret", "a page that is none is")
	_, err = get("/redacted/x")
	require.NoError(t, err)
	said, err = get("/bot" + Standin + "/cut")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, "no page for /bot[redacted]/cut", said)
	assert.Equal(t, []string{"/base/bot" + text + "/getMe", "/file/bot" + text + "/photos/a b.jpg", "/file/bot" + text + "/none",
		"/redacted/x", "/bot" + text + "/cut"}, *asked)
}

// TestP9_TokenGoesToBotAPIOnly: to no other address, whoever asks for it.
func TestP9_TokenGoesToBotAPIOnly(t *testing.T) {
	s, asked := server(t)
	other, others := server(t)
	client := &http.Client{Transport: New(text).Transport(s.URL, s.Client().Transport)}
	for _, address := range []string{other.URL + "/bot" + Standin + "/getMe", s.URL + "/bot" + Standin + "/away",
		strings.Replace(s.URL, "http:", "https:", 1) + "/bot" + Standin + "/getMe"} {
		_, err := client.Post(address, "text/plain", strings.NewReader("x"))
		require.ErrorContains(t, err, "is not the Bot API's address")
		assert.NotContains(t, err.Error(), "secret")
	}
	assert.Empty(t, *others)
	assert.Len(t, *asked, 1)
	_, err := (&http.Client{Transport: New(text).Transport("::", s.Client().Transport)}).Get(s.URL)
	require.Error(t, err, "without an address all are others")
}

// blanks is an answer of a size.
type blanks int

func (n blanks) RoundTrip(q *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: q, Body: io.NopCloser(bytes.NewReader(bytes.Repeat([]byte(" "), int(n))))}, nil
}

// A proxy may answer without an end.
func TestAnswersAreBounded(t *testing.T) {
	const size = 8 << 20
	client := &http.Client{Transport: New(text).Transport("http://api", blanks(size))}
	for path, want := range map[string]int64{"/bot" + Standin + "/sendMessage": maxAnswer, "/bot" + Standin + "/getUpdates": size,
		"/file/bot" + Standin + "/a": size} {
		resp, err := client.Get("http://api" + path)
		require.NoError(t, err)
		got, err := io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		assert.Equal(t, want, got, path)
		require.NoError(t, resp.Body.Close())
	}
}

// loud fails as a transport might.
type loud struct{}

func (loud) RoundTrip(q *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("no way to %s", q.URL)
}

// TestP9_LibraryHasNoToken: neither its errors nor what it is made of.
func TestP9_LibraryHasNoToken(t *testing.T) {
	s, asked := server(t)
	for _, next := range []http.RoundTripper{loud{}, s.Client().Transport} {
		client := &http.Client{Transport: New(text).Transport(s.URL, next)}
		var said bytes.Buffer
		api, err := tgbot.New(Standin, tgbot.WithServerURL(s.URL), tgbot.WithSkipGetMe(), tgbot.WithHTTPClient(0, client), tgbot.WithDebug(),
			tgbot.WithDebugHandler(func(format string, args ...any) { fmt.Fprintf(&said, format, args...) }),
			tgbot.WithErrorsHandler(func(err error) { fmt.Fprint(&said, err) }))
		require.NoError(t, err)
		_, err = api.GetMe(t.Context())
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "secret")
		assert.NotContains(t, fmt.Sprintf("%+v %s", api, said.String()), "secret")
	}
	assert.Equal(t, []string{"/bot" + text + "/getMe"}, *asked)
}

// The configuration is read by UnmarshalText. New is called only in setup, for a typed token, and
// in config, to redact; no other package can build a Bot API address with a token.
func TestOnlyThisPackageKnowsIt(t *testing.T) {
	var news []string
	for path, data := range sourcetest.OfProgram(t) {
		if strings.Contains(string(data), "token.New(") {
			news = append(news, path)
		}
	}
	assert.Equal(t, []string{"cmd/ccbot/config/show.go", "cmd/ccbot/setup/bot.go"}, news)
}
