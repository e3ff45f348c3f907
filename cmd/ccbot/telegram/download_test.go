package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/attachment"
	"ccbot/internal/token"
)

const secretToken = "123456789:AAsecretsecretsecretsecretsecret"

// fileServer is a Bot API server with one file.
type fileServer struct {
	info func(w http.ResponseWriter, r *http.Request)
	file func(w http.ResponseWriter, r *http.Request)
}

func (s *fileServer) start(t *testing.T) Downloads {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/bot"+secretToken+"/getFile", func(w http.ResponseWriter, r *http.Request) { s.info(w, r) })
	mux.HandleFunc("/file/bot"+secretToken+"/", func(w http.ResponseWriter, r *http.Request) { s.file(w, r) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return NewDownloads(token.New(secretToken), server.URL, nil)
}

func info(path string, size int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"ok":true,"result":{"file_id":"f","file_path":%q,"file_size":%d}}`, path, size)
	}
}

func says(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func cut(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }

func half(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "10")
	_, _ = io.WriteString(w, "hello")
}

// download fetches a whole file.
func (d Downloads) download(ctx context.Context, id string, to io.Writer) (ending string, err error) {
	body, ending, err := d.Open(ctx, id)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, body)
	return ending, errors.Join(err, body.Close())
}

func TestDownloadAFile(t *testing.T) {
	s := &fileServer{info: info("documents/file 1#?.pdf", 5), file: func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/file/bot"+secretToken+"/documents/file 1#?.pdf", r.URL.Path)
		assert.Empty(t, r.Header.Get("Referer"))
		_, _ = io.WriteString(w, "hello")
	}}
	asked := s.info
	s.info = func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		assert.JSONEq(t, `{"file_id": "the id&x=y"}`, string(body))
		asked(w, r)
	}
	var got bytes.Buffer
	ending, err := s.start(t).download(t.Context(), "the id&x=y", &got)
	require.NoError(t, err)
	assert.Equal(t, ".pdf", ending)
	assert.Equal(t, "hello", got.String())
}

// TestP9_FailedDownloadHidesToken fails in every way and searches the error for the token and
// the address.
func TestP9_FailedDownloadHidesToken(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}
	page := "<html>no " + secretToken + " here</html>"
	good := info("a/b.txt", 5)
	for _, tt := range []struct {
		name       string
		info, file func(http.ResponseWriter, *http.Request)
	}{
		{"no connection", nil, nil},
		{"cut when asked", cut, nil},
		{"a page instead of JSON", says(http.StatusBadGateway, page), nil},
		{"a page that is JSON", says(http.StatusOK, `{"ok":false,"description":"`+secretToken+`"}`), nil},
		{"an id that it does not know", says(http.StatusBadRequest, `{"ok":false,"error_code":400,"description":"Bad Request: invalid file_id"}`), nil},
		{"no path", info("", 5), nil},
		{"a path that leads up", info("../"+secretToken+"/x", 5), nil},
		{"redirected when asked", redirect, nil},
		{"cut", good, cut},
		{"half of it", good, half},
		{"half of it, and it looks whole", good, says(http.StatusOK, "hell")},
		{"more than was said", good, says(http.StatusOK, "hello you")},
		{"not there", good, says(http.StatusNotFound, page)},
		{"a server error", good, says(http.StatusInternalServerError, page)},
		{"redirected", good, redirect},
		{"a file that is not there", info("/nowhere/"+secretToken+"/documents/a.txt", 5), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := (&fileServer{info: tt.info, file: tt.file}).start(t)
			if tt.info == nil {
				d.url = "http://127.0.0.1:1"
				d.client = redacting{Client(token.New(secretToken), d.url, nil)}
			}
			var got bytes.Buffer
			_, err := d.download(t.Context(), "f", &got)
			require.Error(t, err)
			for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
				assert.NotContains(t, text, "AAsecret")
				assert.NotContains(t, text, "/file/")
			}
			assert.NotErrorIs(t, err, attachment.ErrFileTooBig)
			assert.LessOrEqual(t, len(err.Error()), 200)
		})
	}
}

// TestP4_DownloadWaitsForItsToken: a 401 or 404 costs no file, and no try.
func TestP4_DownloadWaitsForItsToken(t *testing.T) {
	for _, code := range []int{http.StatusUnauthorized, http.StatusNotFound} {
		tries := 0
		d := (&fileServer{info: func(w http.ResponseWriter, r *http.Request) {
			if tries++; tries == 1 {
				says(code, fmt.Sprintf(`{"ok":false,"error_code":%d,"description":"%s"}`, code, http.StatusText(code)))(w, r)
				return
			}
			info("a/b.txt", 5)(w, r)
		}, file: says(http.StatusOK, "hello")}).start(t)
		var got bytes.Buffer
		_, err := d.download(t.Context(), "f", &got)
		require.NoError(t, err)
		assert.Equal(t, "hello", got.String())
	}
}

func TestTooBigFileIsNotFetched(t *testing.T) {
	for _, tt := range []struct {
		name       string
		info, file func(http.ResponseWriter, *http.Request)
	}{
		{"as Telegram says", says(http.StatusBadRequest, `{"ok":false,"error_code":400,"description":"Bad Request: file is too big"}`), nil},
		{"as its size says", info("a.bin", 3<<30), nil},
		{"as is seen only then", info("a.bin", 0), func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(make([]byte, cloudLimit+1))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := (&fileServer{info: tt.info, file: tt.file}).start(t)
			if tt.file != nil {
				d.own = false
			}
			_, err := d.download(t.Context(), "f", io.Discard)
			require.ErrorIs(t, err, attachment.ErrFileTooBig)
		})
	}
}

func TestDownloadWaitsForRetryAfter(t *testing.T) {
	var asked []time.Time
	s := &fileServer{file: says(http.StatusOK, "hello")}
	s.info = func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, time.Now())
		if len(asked) == 1 {
			says(http.StatusTooManyRequests, `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":1}}`)(w, r)
			return
		}
		info("a.txt", 5)(w, r)
	}
	d := s.start(t)
	_, err := d.download(t.Context(), "f", io.Discard)
	require.NoError(t, err)
	require.Len(t, asked, 2)
	assert.GreaterOrEqual(t, asked[1].Sub(asked[0]), time.Second)
}

func TestStalledDownloadEnds(t *testing.T) {
	s := &fileServer{info: info("a.txt", 5), file: func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "he")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}}
	d := s.start(t)
	d.stall = 50 * time.Millisecond
	_, err := d.download(t.Context(), "f", io.Discard)
	require.ErrorIs(t, err, errStalled)
	assert.NotErrorIs(t, err, context.Canceled)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.download(ctx, "f", io.Discard)
	require.ErrorIs(t, err, context.Canceled)
}

// A server with --local names files of its disk, in folders that have the token as their name.
func TestLocalFileNeedsLocalServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), secretToken)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, "file_1.pdf")
	require.NoError(t, os.WriteFile(path, []byte("hello"), 0o600))
	require.NoError(t, os.Symlink(path, filepath.Join(dir, "link")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for _, tt := range []struct {
		name, path string
		size       int
		away       bool
		ok         bool
	}{
		{"a file", path, 5, false, true},
		{"a file whose size is not said", path, 0, false, true},
		{"another size", path, 6, false, false},
		{"from another machine", path, 5, true, false},
		{"a link", filepath.Join(dir, "link"), 5, false, false},
		{"a pipe", filepath.Join(dir, "pipe"), 5, false, false},
		{"a folder", dir, 5, false, false},
		{"nothing", filepath.Join(dir, "nothing"), 5, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := (&fileServer{info: info(tt.path, tt.size)}).start(t)
			d.here = !tt.away
			var got strings.Builder
			ending, err := d.download(t.Context(), "f", &got)
			if tt.ok {
				require.NoError(t, err)
				assert.Equal(t, "hello.pdf", got.String()+ending)
				return
			}
			require.Error(t, err)
			assert.NotContains(t, fmt.Sprintf("%v %+v", err, err), "AAsecret")
			if tt.size != 6 {
				assert.Empty(t, got.String())
			}
		})
	}
}

func TestLimits(t *testing.T) {
	for address, want := range map[string]struct {
		limit int64
		here  bool
	}{
		"https://api.telegram.org":  {20 << 20, false},
		"https://bots.example.org":  {2 << 30, false},
		"http://127.0.0.1:8081":     {2 << 30, true},
		"http://localhost:8081":     {2 << 30, true},
		"https://[::1]:8081":        {2 << 30, true},
		"https://localhost.evil.io": {2 << 30, false},
	} {
		d := NewDownloads(token.Token{}, address, nil)
		assert.Equal(t, want.limit, d.Limit(), address)
		assert.Equal(t, want.here, d.here, address)
	}
}
