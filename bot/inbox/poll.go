package inbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/internal/apianswer"
	"ccbot/internal/clip"
	"ccbot/internal/pause"
)

const (
	// pollTime is the duration of a long poll; Telegram shortens longer times.
	pollTime = 50 * time.Second
	// slack is the time that an answer may take beyond the long poll. Then the connection counts as
	// dead.
	slack = 10 * time.Second
	// maxAnswer bounds one answer: 100 updates of the longest texts are well below it.
	maxAnswer      = 64 << 20
	maxDescription = 200
)

// allowed lists the requested kinds of update; others are finished unread.
var allowed = []string{models.AllowedUpdateMessage, models.AllowedUpdateEditedMessage, models.AllowedUpdateCallbackQuery,
	models.AllowedUpdateMyChatMember}

type cause int

const (
	failing    cause = iota // network, proxy, or a fault of Telegram: try again
	conflict                // another poller uses the token
	webhook                 // updates go to a webhook instead
	limited                 // Telegram has requested a pause
	revoked                 // Telegram does not know the token
	nothingNew              // an answer without news, and the next one may come at once
)

// pollError is a failed poll. It holds only text, because an error of net/http has the URL, and
// with it the token.
type pollError struct {
	method     string
	cause      cause
	text       string
	retryAfter time.Duration
}

func (e *pollError) Error() string { return e.method + ": " + e.text }

var errNothingNew = &pollError{method: getUpdates, cause: nothingNew, text: "an answer with nothing new"}

// poller polls Telegram for updates. It replaces go-telegram's loop, which confirms an update
// before it was handled.
type poller struct {
	client  *http.Client
	connect func() *http.Client // returns a client with new connections; may be nil
	url     string              // of all methods
	token   string
}

func newPoller(cfg Config) *poller {
	return &poller{
		client:  forPolls(cfg.Client),
		connect: cfg.Connect,
		url:     cfg.API + "/bot" + cfg.Token,
		token:   cfg.Token,
	}
}

// forPolls returns a client with the timeout of each poll, which follows no redirect.
func forPolls(c *http.Client) *http.Client {
	client := *c
	client.Timeout = 0
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// renewed returns a poller with new connections. The old one, which a hanging poll may still use,
// keeps its connections.
func (p *poller) renewed() *poller {
	p.client.CloseIdleConnections()
	next := *p
	if p.connect != nil {
		next.client = forPolls(p.connect())
	}
	return &next
}

// Methods of the Bot API.
const (
	getUpdates = "getUpdates"
	getMe      = "getMe"
)

// reply is Telegram's response to a successful call.
type reply struct {
	list []json.RawMessage // the elements of a list result
	date time.Time         // by Telegram's clock; zero: unknown
	skew time.Duration     // by which this machine's clock is ahead of Telegram's
}

// poll returns the updates from offset on, each as Telegram sent it, and confirms all updates below
// offset. Offset 0 confirms nothing. If there is no update, Telegram waits for one up to timeout,
// in whole seconds. The error is a *pollError.
func (p *poller) poll(ctx context.Context, offset int64, timeout time.Duration) (reply, error) {
	return p.call(ctx, getUpdates, struct {
		Offset  int64    `json:"offset,omitempty"`
		Timeout int      `json:"timeout"`
		Allowed []string `json:"allowed_updates"`
	}{offset, int(timeout / time.Second), allowed}, timeout)
}

// me calls getMe. The error is a *pollError.
func (p *poller) me(ctx context.Context) error {
	_, err := p.call(ctx, getMe, struct{}{}, 0)
	return err
}

// call calls a method whose answer takes at most timeout and slack.
func (p *poller) call(ctx context.Context, method string, params any, timeout time.Duration) (r reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout+slack)
	defer cancel()
	status, body, err := p.post(ctx, method, params, &r)
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			p.client.CloseIdleConnections() // an HTTP/2 connection survives its request
			err = fmt.Errorf("no answer within %s", timeout+slack)
		}
		return r, &pollError{method: method, text: p.clean(err)}
	}
	r.list, err = p.read(method, body)
	if errors.Is(err, apianswer.ErrForeign) {
		err = &pollError{method: method, text: fmt.Sprintf("HTTP %d and no answer of Telegram's (%d bytes)", status, len(body))}
	}
	return r, err
}

func (p *poller) post(ctx context.Context, method string, params any, r *reply) (status int, body []byte, err error) {
	ask, err := json.Marshal(params)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/"+method, bytes.NewReader(ask))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	begun := time.Now()
	resp, err := p.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // only read
	r.date = apianswer.Date(resp.Header)
	r.skew = apianswer.Skew(begun, time.Now(), r.date)
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, body, err
}

// read uses Telegram's error code, because the HTTP status may come from a proxy.
func (p *poller) read(method string, body []byte) (list []json.RawMessage, err error) {
	answer, err := apianswer.Parse(body)
	if err != nil {
		return nil, err
	}
	if answer.Result != nil {
		if method == getUpdates && json.Unmarshal(answer.Result, &list) != nil {
			return nil, apianswer.ErrForeign
		}
		return list, nil
	}
	failed := &pollError{
		method: method,
		cause:  causeOf(answer),
		text:   fmt.Sprintf("%d %s", answer.Code, p.clean(errors.New(answer.Description))),
	}
	if answer.RetryAfter > 0 {
		failed.cause, failed.retryAfter = limited, pause.RetryAfter(answer.RetryAfter)
	}
	return nil, failed
}

func causeOf(a apianswer.Answer) cause {
	switch {
	case a.UnknownToken():
		return revoked
	case a.Code == http.StatusConflict && strings.Contains(a.Description, "webhook"):
		return webhook
	case a.Code == http.StatusConflict:
		return conflict
	}
	return failing
}

// clean returns an error's text without URL and token, shortened.
func (p *poller) clean(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	const hole = "[redacted]" // replaced first, because a placeholder for the token may be in it
	token := cmp.Or(p.token, hole)
	text := strings.NewReplacer(hole, hole, p.url, hole, token, hole, url.QueryEscape(token), hole).Replace(err.Error())
	return clip.Bytes(text, maxDescription, "…")
}
