package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	stdlog "log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
)

// networkFaults are faults that the network, Telegram or the service manager causes at a first
// start.
var networkFaults = []firstFault{
	{"the proxy does not answer", func(p *patient) {
		p.lives()
		p.set("TELEGRAM_API_URL", "https://api.example")
		p.set("HTTPS_PROXY", "http://127.0.0.1:1")
	}, stays, []string{"telegram_unreachable", "look=.*HTTPS_PROXY"}, "telegram_unreachable"},
	{"an untrusted certificate of the Bot API, as with a wrong `SSL_CERT_FILE`", func(p *patient) {
		p.lives()
		p.set("SSL_CERT_FILE", "/none")
		p.asks(&tls.Config{}, nil)
	}, stays, []string{"telegram_unreachable", "look=.*SSL_CERT_FILE"}, "telegram_unreachable"},
	{"an expired certificate of the Bot API, as with a wrong clock", func(p *patient) {
		p.lives()
		p.asks(&tls.Config{Certificates: []tls.Certificate{p.expired()}}, nil)
	}, stays, []string{"telegram_unreachable", "look=.*timedatectl"}, "telegram_unreachable"},
	{"the clock differs from Telegram's", func(p *patient) {
		p.lives()
		p.asks(nil, func(_ string, w http.ResponseWriter) (answer string) {
			w.Header().Set("Date", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
			return ""
		})
	}, stays, []string{"clock_differs", "mend=.*timedatectl"}, "clock_skewed"},
	{"no file of `NODE_EXTRA_CA_CERTS`", func(p *patient) {
		p.lives()
		p.set("NODE_EXTRA_CA_CERTS", "/none")
	}, stays, nil, "ca_unreadable"},
	{"another program polls with the token", func(p *patient) {
		p.lives()
		p.asks(nil, func(method string, _ http.ResponseWriter) (answer string) {
			if method != "getUpdates" {
				return ""
			}
			return `{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"}`
		})
	}, stays, []string{"polls_rival", "error=.*only one bot instance"}, "polls_rival"},
	{"a webhook", func(p *patient) {
		p.lives()
		p.asks(nil, func(method string, _ http.ResponseWriter) (answer string) {
			switch method {
			case "getUpdates":
				return `{"ok":false,"error_code":409,"description":"Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"}`
			case "getWebhookInfo":
				return `{"ok":true,"result":{"url":"https://else.example/secret"}}`
			}
			return ""
		})
	}, stays, []string{"webhook_set", "error=.*deleteWebhook"}, "webhook_set"},
	{"an allowed person writes in another group", func(p *patient) {
		api := p.lives()
		api.Group(-1000000000077, "All", false)
		me := api.Person(5, "Ann")
		p.set("ALLOWED_USERS", "5")
		me.Send(-1000000000077, "/list")
	}, stays, nil, "group_refused"},
	{"privacy mode, and no administrator in an allowed group", func(p *patient) {
		p.lives()
		p.set("ALLOWED_CHATS", "-1000000000077")
		p.asks(nil, func(method string, _ http.ResponseWriter) (answer string) {
			if method == "getChatMember" {
				return `{"ok":true,"result":{"status":"member"}}`
			}
			return ""
		})
	}, stays, nil, "group_privacy"},
	{"the service ends at logout", func(p *patient) { p.lives(); p.unit(); p.script("loginctl", "echo no") }, stays, nil, "unit_ends_at_logout"},
}

// asks starts a Bot API for the patient, with TLS unless secure is nil. change returns the answer
// to a method, or "" for the usual answer.
func (p *patient) asks(secure *tls.Config, change func(method string, w http.ResponseWriter) (answer string)) (api *httptest.Server) {
	p.t.Helper()
	api = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		method, answer := filepath.Base(q.URL.Path), ""
		if change != nil {
			answer = change(method, w)
		}
		switch {
		case answer != "":
		case method == "getMe":
			answer = `{"ok":true,"result":{"id":7,"is_bot":true,"username":"my_bot"}}`
		case method == "getUpdates":
			time.Sleep(time.Second)
			answer = `{"ok":true,"result":[]}`
		case method == "getWebhookInfo":
			answer = `{"ok":true,"result":{"url":""}}`
		default:
			answer = `{"ok":true,"result":true}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	api.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
	if api.TLS = secure; secure != nil {
		api.StartTLS()
	} else {
		api.Start()
	}
	p.t.Cleanup(api.Close)
	p.set("TELEGRAM_API_URL", api.URL)
	return api
}

// TestCertificatesOfSettingsFile: run, doctor and setup trust what ccbot.env names, without the
// variables in the environment.
func TestCertificatesOfSettingsFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPatient(t)
			p.away()
			p.lives()
			api := p.asks(&tls.Config{}, nil)
			path := p.write("ca/own.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw})), 0o600)
			if name == "SSL_CERT_DIR" {
				path = filepath.Dir(path)
			}
			p.write("s/ccbot.env", name+"="+path+"\nTELEGRAM_BOT_TOKEN="+p.env["TELEGRAM_BOT_TOKEN"]+"\n", 0o600)
			delete(p.env, "TELEGRAM_BOT_TOKEN")
			delete(p.env, "ALLOWED_USERS")
			said := func(args ...string) string {
				cmd := exec.Command(p.me, args...)
				cmd.Env = p.environ()
				out, _ := cmd.CombinedOutput()
				return string(out)
			}
			assert.Contains(t, said("setup", "--allow", "1", "--yes", "--hooks=false", "--service=false"), "Bot: @my_bot")
			assert.Contains(t, said("doctor"), "the token is that of @my_bot")
			p.starts("msg=ready")
		})
	}
}

// TestSetupNamesTheRemedy of a certificate that is not trusted.
func TestSetupNamesTheRemedy(t *testing.T) {
	p := newPatient(t)
	p.away()
	p.asks(&tls.Config{}, nil)
	p.write("s/ccbot.env", "TELEGRAM_BOT_TOKEN="+goodToken+"\n", 0o600)
	delete(p.env, "TELEGRAM_BOT_TOKEN")
	delete(p.env, "ALLOWED_USERS")
	_, errs := p.ccbot(exit.Failure, "setup", "--allow", "1", "--yes", "--hooks=false", "--service=false")
	assert.Contains(t, errs, "; look at SSL_CERT_FILE")
}

// expired returns a certificate of the loopback address that is no longer valid.
func (p *patient) expired() tls.Certificate {
	p.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(p.t, err)
	one := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1e9, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert, err := x509.CreateCertificate(rand.Reader, one, one, &key.PublicKey, key)
	require.NoError(p.t, err)
	return tls.Certificate{Certificate: [][]byte{cert}, PrivateKey: key}
}
