package botapi_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
)

// visitor is a browser without a browser.
func visitor(t testing.TB) *http.Client {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &http.Client{Jar: jar}
}

func get(t testing.TB, c *http.Client, url string) (*http.Response, string) {
	t.Helper()
	resp, err := c.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp, string(body)
}

func TestPageKey(t *testing.T) {
	srv := botapitest.Start(t, botapi.Options{Key: "k-e-y"})
	for _, path := range []string{"/", "/?key=wrong", "/?key=", "/web/app.js", "/page/events", "/nothing"} {
		resp, body := get(t, visitor(t), srv.URL()+path)
		assert.Equal(t, http.StatusForbidden, resp.StatusCode, path)
		assert.NotContains(t, body, "<html", path)
	}
	c := visitor(t)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, _ := get(t, c, srv.PageURL())
	assert.Equal(t, http.StatusSeeOther, resp.StatusCode)
	assert.Equal(t, "/", resp.Header.Get("Location"), "the key leaves the address bar")
	cookie := resp.Cookies()[0]
	assert.True(t, cookie.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	assert.NotContains(t, cookie.Value, "k-e-y")

	resp, body := get(t, c, srv.URL()+"/")
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.Contains(t, body, `id="list"`)
	policy := resp.Header.Get("Content-Security-Policy")
	assert.Contains(t, policy, "default-src 'none'")
	assert.NotContains(t, policy, "unsafe")
	resp, _ = get(t, c, srv.URL()+"/web/app.js")
	assert.Equal(t, http.StatusOK, resp.StatusCode)
}

func TestPageRefusesForeigners(t *testing.T) {
	srv := botapitest.Start(t, botapi.Options{})
	c := visitor(t)
	get(t, c, srv.PageURL())
	host := strings.TrimPrefix(srv.URL(), "http://")
	_, port, _ := strings.Cut(host, ":")
	tests := []struct {
		name, host, origin, site, kind string
		want                           int
	}{
		{"own page", host, srv.URL(), "same-origin", "application/json", http.StatusOK},
		{"no origin", host, "", "", "application/json", http.StatusForbidden},
		{"another site", host, "https://evil.example", "cross-site", "application/json", http.StatusForbidden},
		{"another port", host, "http://127.0.0.1:1", "same-site", "application/json", http.StatusForbidden},
		{"own origin, said to be cross-site", host, srv.URL(), "cross-site", "application/json", http.StatusForbidden},
		{"rebound name", "evil.example:" + port, "http://evil.example:" + port, "same-origin", "application/json", http.StatusForbidden},
		{"a form", host, srv.URL(), "same-origin", "text/plain", http.StatusUnsupportedMediaType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodPost, srv.URL()+"/page/send", strings.NewReader(`{"text":"hi"}`))
			require.NoError(t, err)
			req.Host = tt.host
			req.Header.Set("Content-Type", tt.kind)
			if tt.origin != "" {
				req.Header.Set("Origin", tt.origin)
			}
			if tt.site != "" {
				req.Header.Set("Sec-Fetch-Site", tt.site)
			}
			resp, err := c.Do(req)
			require.NoError(t, err)
			resp.Body.Close()
			assert.Equal(t, tt.want, resp.StatusCode)
		})
	}
	assert.Len(t, srv.Messages(srv.PagePerson().ID()), 1)

	req, err := http.NewRequest(http.MethodGet, srv.URL()+"/", nil)
	require.NoError(t, err)
	req.Host = "evil.example:" + port
	resp, err := c.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	assert.Equal(t, http.StatusForbidden, resp.StatusCode)
}

func TestUploadedPagesAreDownloads(t *testing.T) {
	srv := botapitest.Start(t, botapi.Options{})
	me := srv.PagePerson()
	id := me.SendFile(me.ID(), "x.html", "text/html", []byte("<script>alert(1)</script>"), "")
	m, _ := srv.Message(me.ID(), id)
	c := visitor(t)
	get(t, c, srv.PageURL())
	resp, _ := get(t, c, srv.URL()+"/page/media/"+m.Document.FileID)
	assert.Equal(t, "application/octet-stream", resp.Header.Get("Content-Type"))
	assert.Equal(t, "attachment; filename=x.html", resp.Header.Get("Content-Disposition"))
	assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"))
	assert.Contains(t, resp.Header.Get("Content-Security-Policy"), "sandbox")
}
