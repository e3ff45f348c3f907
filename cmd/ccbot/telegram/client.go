package telegram

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/token"
)

// Proxy returns the proxy of a request, or nil, like http.Transport's field of that name.
type Proxy = func(*http.Request) (*url.URL, error)

// Client makes a client for the Bot API with separate connections. It replaces token.Standin in a
// URL by the token, only for that server. It follows no redirect: the Bot API has none, and the
// redirect of a captive portal would receive the call. proxy is nil if there is none.
func Client(secret token.Token, server string, proxy Proxy) *http.Client {
	connections := &http.Transport{
		Proxy:               proxy,
		DialContext:         persistent(dialOnce),
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingWithin},
	}
	return &http.Client{Transport: secret.Transport(server, connections),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// A silent connection is pinged. Without that, a connection that died unnoticed, as while the
// machine slept, would be used again and again.
const (
	pingAfter  = 30 * time.Second
	pingWithin = 15 * time.Second
)

// redacting is an http client with errors that contain no URL, because the URL only makes them
// long.
type redacting struct{ client *http.Client }

// Do sends a request.
func (r redacting) Do(q *http.Request) (*http.Response, error) {
	resp, err := r.client.Do(q)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = fmt.Errorf("%s: %w", strings.ToLower(e.Op), e.Err)
	}
	return resp, err
}

// callTimeout bounds a call of the Bot API that is made here. The outbox bounds its own calls,
// because an upload takes longer.
const callTimeout = 60 * time.Second

// New makes the Bot API client. It does not contain the token; see Client.
func New(secret token.Token, server string, proxy Proxy, log *slog.Logger) (*tgbot.Bot, error) {
	api, err := tgbot.New(token.Standin, tgbot.WithServerURL(server), tgbot.WithSkipGetMe(),
		tgbot.WithHTTPClient(callTimeout, redacting{Client(secret, server, proxy)}),
		tgbot.WithErrorsHandler(func(err error) { log.Debug("telegram_client", logkey.Error, err) }))
	if err != nil {
		return nil, fmt.Errorf("telegram: %w", err)
	}
	return api, nil
}

// ErrRevoked is returned if Telegram does not know the token.
var ErrRevoked = exit.Usage(errors.New("telegram does not know TELEGRAM_BOT_TOKEN: ask @BotFather for the present one"))

// CheckHint names what a person looks at after an error of a call that the Bot API did not answer.
func CheckHint(err error) string {
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	_, isUnknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, noRoots := errors.AsType[x509.SystemRootsError](err)
	switch _, isOther := errors.AsType[x509.HostnameError](err); {
	case isOther:
		return "the network, which may ask you to log in with a browser, and TELEGRAM_API_URL"
	case isInvalid && invalid.Reason == x509.Expired:
		return "the clock of this machine (sudo timedatectl set-ntp true)"
	case isUnknown, noRoots:
		return "SSL_CERT_FILE, the package ca-certificates, and a proxy with its own certificates"
	}
	return "the network, HTTPS_PROXY and TELEGRAM_API_URL"
}

// Connect asks Telegram who the bot is, until there is an answer: at boot the network may come
// later than ccbot. tried is called after each try with the pause until the next one, zero once
// Telegram has answered. A token that Telegram does not know is final.
func Connect(ctx context.Context, client *http.Client, server string, tried func(wait time.Duration), log *slog.Logger) (*models.User, error) {
	for tries := 0; ; tries++ {
		var me models.User
		asking, cancel := context.WithTimeout(ctx, callTimeout)
		_, err := Ask(asking, client, server, "getMe", struct{}{}, &me)
		cancel()
		switch {
		case err == nil:
			tried(0)
			return &me, nil
		case errors.Is(err, ErrRevoked):
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		again := waitAfter(err, pause.Doubled(time.Second, 30*time.Second, tries))
		tried(again)
		log.Warn("telegram_unreachable", logkey.RetryIn, again.String(), logkey.Error, err, logkey.Look, CheckHint(err))
		if err := pause.For(ctx, again); err != nil {
			return nil, err
		}
	}
}

// waitAfter is how long to wait after a call that failed: wait, or the time that Telegram asks for
// if that is longer.
func waitAfter(err error, wait time.Duration) time.Duration {
	if limited, ok := errors.AsType[*tgbot.TooManyRequestsError](err); ok {
		return max(wait, pause.RetryAfter(limited.RetryAfter))
	}
	return wait
}
