package token

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Standin replaces the token in the URLs of requests: the clients of the Bot API have it as their
// token.
const Standin = "redacted"

// The token's position in the path of a method and of a file.
const (
	methodPrefix = "/bot" + Standin + "/"
	filePrefix   = "/file/bot" + Standin + "/"
)

const (
	// maxUpdates bounds an answer of getUpdates: 100 updates of the longest texts are well below
	// it.
	maxUpdates = 64 << 20
	// maxAnswer bounds every other answer of the Bot API that is not a file: most are one message.
	// Many calls wait for theirs at once, and each of them is copied several times.
	maxAnswer = 4 << 20
)

// Transport puts the token into requests to the Bot API at this address, and removes it from
// responses, because a proxy's page may quote the URL. Requests to any other address are refused,
// so that the token is never sent elsewhere; if api is empty, all are.
func (t Token) Transport(api string, next http.RoundTripper) http.RoundTripper {
	u, err := url.Parse(api)
	if err != nil {
		u = &url.URL{}
	}
	return &transport{token: t, scheme: u.Scheme, host: u.Host, next: next}
}

type transport struct {
	token        Token
	scheme, host string
	next         http.RoundTripper
}

// RoundTrip sends a copy of the request: who made it must not find the token in it.
func (t *transport) RoundTrip(q *http.Request) (*http.Response, error) {
	if t.host == "" || q.URL.Scheme != t.scheme || q.URL.Host != t.host {
		if q.Body != nil {
			_ = q.Body.Close() // a round trip closes it, whatever comes
		}
		return nil, fmt.Errorf("%s is not the Bot API's address", q.URL.Host)
	}
	resp, err := t.next.RoundTrip(t.filled(q))
	if err != nil {
		return nil, t.token.CleanError(err)
	}
	resp.Request = q
	for _, values := range resp.Header { // a redirect may quote the URL
		for i, v := range values {
			values[i] = t.token.Clean(v)
		}
	}
	if resp.StatusCode >= http.StatusMultipleChoices || !strings.Contains(q.URL.Path, filePrefix) {
		limit := int64(maxAnswer)
		if strings.HasSuffix(q.URL.Path, "/getUpdates") {
			limit = maxUpdates
		}
		resp.Body = &cleanBody{ReadCloser: resp.Body, limit: limit, token: t.token}
		resp.ContentLength = -1
	}
	return resp, nil
}

// filled is the request with the token in its path.
func (t *transport) filled(q *http.Request) *http.Request {
	sent := q.Clone(q.Context())
	if t.token.Empty() {
		return sent
	}
	for _, mark := range []string{filePrefix, methodPrefix} {
		if before, after, ok := strings.Cut(q.URL.Path, mark); ok {
			sent.URL.Path = before + strings.Replace(mark, Standin, t.token.reveal(), 1) + after
			sent.URL.RawPath = ""
			break
		}
	}
	return sent
}

// CloseIdleConnections is for http.Client's method of that name.
func (t *transport) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// cleanBody is an answer without the token. All of it is read at the first Read,
// because the token may lie across two.
type cleanBody struct {
	io.ReadCloser
	limit int64
	token Token
	rest  *strings.Reader
	end   error
}

func (b *cleanBody) Read(p []byte) (int, error) {
	if b.rest == nil {
		data, err := io.ReadAll(io.LimitReader(b.ReadCloser, b.limit))
		b.rest, b.end = strings.NewReader(b.token.Clean(string(data))), io.EOF
		if err != nil {
			b.end = b.token.CleanError(err)
		}
	}
	if b.rest.Len() == 0 {
		return 0, b.end
	}
	return b.rest.Read(p)
}
