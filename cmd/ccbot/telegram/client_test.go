package telegram

import (
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
)

// TestConnectWaitsForRetryAfter: asking again too early makes it longer.
func TestConnectWaitsForRetryAfter(t *testing.T) {
	limited := fmt.Errorf("x: %w", &tgbot.TooManyRequestsError{Message: "Too Many Requests", RetryAfter: 300})
	for _, tt := range []struct {
		name string
		err  error
		wait time.Duration
		want time.Duration
	}{
		{"nobody is in reach", net.ErrClosed, time.Second, time.Second},
		{"told to wait", limited, time.Second, 5 * time.Minute},
		{"told to wait less", &tgbot.TooManyRequestsError{RetryAfter: 3}, 30 * time.Second, 30 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, waitAfter(tt.err, tt.wait)) })
	}
}

// TestLookAtNamesTheCause of an error of TLS or the network.
func TestLookAtNamesTheCause(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{x509.HostnameError{Certificate: &x509.Certificate{}, Host: "api.telegram.org"}, "log in"},
		{x509.SystemRootsError{Err: net.ErrClosed}, "ca-certificates"},
		{x509.UnknownAuthorityError{}, "SSL_CERT_FILE"},
		{x509.CertificateInvalidError{Reason: x509.Expired}, "clock"},
		{net.ErrClosed, "HTTPS_PROXY"},
	} {
		assert.Contains(t, CheckHint(fmt.Errorf("getMe: %w", tt.err)), tt.want)
	}
}

// TestUnheardCountsTheRestricted: they are also members.
func TestUnheardCountsTheRestricted(t *testing.T) {
	status := ""
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if strings.HasSuffix(q.URL.Path, "getMe") {
			_, _ = io.WriteString(w, `{"ok":true,"result":{"id":7}}`)
			return
		}
		_, _ = io.WriteString(w, `{"ok":true,"result":`+status+`}`)
	}))
	defer api.Close()
	for said, want := range map[string][]int64{
		`{"status":"member"}`:                       {-5},
		`{"status":"restricted","is_member":true}`:  {-5},
		`{"status":"restricted","is_member":false}`: nil,
		`{"status":"administrator"}`:                nil,
	} {
		status = said
		assert.Equal(t, want, RestrictedGroups(t.Context(), api.Client(), api.URL, []int64{-5}), said)
	}
}
