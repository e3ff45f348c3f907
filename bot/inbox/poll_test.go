package inbox

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const htmlPage = "<html><head><title>502 Bad Gateway</title></head></html>"

func TestPollFailuresBackOffAndRecover(t *testing.T) {
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter)
	}{
		{"proxy's page", func(w http.ResponseWriter) { w.WriteHeader(502); _, _ = fmt.Fprint(w, htmlPage) }},
		{"proxy's 404 is no revocation", func(w http.ResponseWriter) { w.WriteHeader(404); _, _ = fmt.Fprint(w, htmlPage) }},
		{"proxy's 401 is no revocation", func(w http.ResponseWriter) { w.WriteHeader(401) }},
		{"page with 200", func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, htmlPage) }},
		{"half an answer", func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, `{"ok":true,"result":[{"upd`) }},
		{"empty answer", func(http.ResponseWriter) {}},
		{"401 of a gateway", func(w http.ResponseWriter) {
			w.WriteHeader(401)
			_, _ = fmt.Fprint(w, `{"error_code":401,"description":"no route"}`)
		}},
		{"result of another type", func(w http.ResponseWriter) { _, _ = fmt.Fprint(w, `{"ok":true,"result":7}`) }},
		{"telegram's trouble", func(w http.ResponseWriter) { fail(w, 500, "Internal Server Error", "") }},
		{"too many requests with no time", func(w http.ResponseWriter) { fail(w, 429, "Too Many Requests", "") }},
		{"a redirect with the token in it", func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://elsewhere.example/bot"+testToken+"/%zz")
			w.WriteHeader(302)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const failures = 10
				tg, j := newTelegram(), &journal{}
				tg.answer = func(w http.ResponseWriter, n int) bool {
					if n <= failures {
						tt.answer(w)
					}
					return n <= failures
				}
				tg.deliver(message(1, 5, "a"))
				r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
				stop := r.start(t)
				time.Sleep(10 * time.Minute)
				stop()
				assert.Equal(t, []string{"1"}, j.keys())
				assert.Contains(t, r.log.String(), "poll_recovered")
				assert.NotContains(t, r.log.String(), "SECRET")
				at, most := tg.times(), 500*time.Millisecond
				for n := range failures {
					gap := at[n+1].Sub(at[n])
					assert.GreaterOrEqual(t, gap, most/2, "failure %d", n)
					assert.LessOrEqual(t, gap, most, "failure %d", n)
					most = min(2*most, longestPause)
				}
			})
		})
	}
}

func TestRetryAfterIsWaitedInFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		tg.answer = func(w http.ResponseWriter, n int) bool {
			if n == 1 {
				fail(w, 429, "Too Many Requests: retry after 137", `{"retry_after":137}`)
			}
			return n == 1
		}
		tg.deliver(message(1, 5, "a"))
		stop := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j).start(t)
		time.Sleep(136 * time.Second)
		assert.Len(t, tg.times(), 1)
		time.Sleep(2 * time.Second)
		assert.Equal(t, []string{"1"}, j.keys())
		stop()
	})
}

func TestConflictSlowsPolls(t *testing.T) {
	tests := []struct{ name, description, says string }{
		{"another poller", "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running", "polls_rival"},
		{"a webhook", "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first", "webhook_set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tg := newTelegram()
				tg.answer = func(w http.ResponseWriter, _ int) bool { fail(w, 409, tt.description, ""); return true }
				r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, &journal{})
				stop := r.start(t)
				time.Sleep(time.Hour)
				assert.Equal(t, tt.name == "another poller", r.intake.cfg.Pulse.Rival())
				stop()
				at := tg.times()
				require.Greater(t, len(at), 360, "an hour of pauses of at most 10 s")
				for n := 2; n < len(at)-1; n++ {
					assert.GreaterOrEqual(t, at[n+1].Sub(at[n]), 5*time.Second, "no fight")
					assert.LessOrEqual(t, at[n+1].Sub(at[n]), 10*time.Second)
				}
				said := strings.Count(r.log.String(), tt.says)
				assert.Greater(t, said, 3, "it goes on, so it is said again")
				assert.Less(t, said, 8, "but collapsed")
				assert.Contains(t, r.log.String(), "count=1\n")
				assert.Contains(t, r.log.String(), "level=WARN")
			})
		})
	}
}

// deaf accepts a request and never answers.
type deaf struct{ asked chan struct{} }

func (d deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	d.asked <- struct{}{}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestSilentConnectionIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deaf{make(chan struct{}, 100)}
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), newTelegram(), &journal{})
		r.intake.poller.client.Transport = d
		stop := r.start(t)
		time.Sleep(59 * time.Second)
		assert.Len(t, d.asked, 1)
		time.Sleep(2 * time.Second)
		assert.Len(t, d.asked, 2)
		assert.Contains(t, r.log.String(), "no answer within 1m0s")
		stop()
	})
}

// loud is a transport whose errors have the URL.
type loud struct{ err error }

func (l loud) RoundTrip(*http.Request) (*http.Response, error) { return nil, l.err }

// TestP9_ErrorsHideToken: net/http's errors have the URL, and with it the token.
func TestP9_ErrorsHideToken(t *testing.T) {
	tests := []struct {
		name string
		err  error
	}{
		{"plain", errors.New("connection reset by peer")},
		{"url", errors.New("POST https://api.telegram.org/bot" + testToken + "/getUpdates failed")},
		{"escaped", errors.New("POST https://api.telegram.org/bot12345%3ASECRET-token/getUpdates failed")},
		{"at the cut", errors.New(strings.Repeat("x", maxDescription-8) + testToken)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, filepath.Join(t.TempDir(), "inbox"), newTelegram(), &journal{})
			r.intake.poller.client.Transport = loud{tt.err}
			_, err := r.intake.poller.poll(t.Context(), 0, time.Second)
			require.Error(t, err)
			for e := err; e != nil; e = errors.Unwrap(e) {
				assert.NotContains(t, e.Error(), "SECRET")
				assert.NotContains(t, e.Error(), "12345")
			}
			assert.NotContains(t, fmt.Sprintf("%+v", err), "SECRET")
		})
	}
}

func TestP9_RealNetworkErrorsHideToken(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}))
	p := newPoller(Config{Client: server.Client(), API: server.URL, Token: testToken})
	_, reset := p.poll(t.Context(), 0, time.Second)
	server.Close()
	_, refused := p.poll(t.Context(), 0, time.Second)
	for _, err := range []error{reset, refused} {
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "SECRET")
		assert.NotContains(t, err.Error(), "/bot")
	}
}

// TestIDsMayStartAnew: after a week of silence Telegram continues with a random id, possibly below
// the offset.
func TestIDsMayStartAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg, j := newTelegram(), &journal{}
		tg.deliver(message(1000, 5, "a"))
		stop := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j).start(t)
		time.Sleep(8 * 24 * time.Hour)
		tg.deliver(message(3, 5, "b"))
		synctest.Wait()
		tg.deliver(message(4, 5, "c"))
		time.Sleep(time.Minute)
		stop()
		assert.Equal(t, []string{"1000", "3", "4"}, j.keys())
		assert.Empty(t, tg.unconfirmed())
	})
}

// TestHastyServerIsPolledSlowly: a server that returns nothing new at once does not keep a core
// busy.
func TestHastyServerIsPolledSlowly(t *testing.T) {
	for name, answer := range map[string]string{"nothing": "", "an update that was confirmed": message(1, 5, "a")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tg, j := newTelegram(), &journal{}
				var patient atomic.Bool
				tg.answer = func(w http.ResponseWriter, n int) bool {
					if n > 1 && !patient.Load() {
						_, _ = fmt.Fprintf(w, `{"ok":true,"result":[%s]}`, answer)
					}
					return n > 1 && !patient.Load()
				}
				tg.deliver(message(1, 5, "a"))
				stop := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j).start(t)
				time.Sleep(10 * time.Minute)
				assert.Less(t, len(tg.times()), 200)
				patient.Store(true)
				tg.deliver(message(2, 5, "b"))
				time.Sleep(10 * time.Second)
				stop()
				assert.Equal(t, []string{"1", "2"}, j.keys())
			})
		})
	}
}

// TestP4_AbsurdRetryAfterIsCapped: polls continue after an hour, regardless of a longer requested
// pause.
func TestP4_AbsurdRetryAfterIsCapped(t *testing.T) {
	for _, seconds := range []string{"9000000000", "9223372036854775807", "1e30"} {
		synctest.Test(t, func(t *testing.T) {
			tg, j := newTelegram(), &journal{}
			tg.answer = func(w http.ResponseWriter, n int) bool {
				if n == 1 {
					fail(w, 429, "Too Many Requests", `{"retry_after":`+seconds+`}`)
				}
				return n == 1
			}
			tg.deliver(message(1, 5, "a"))
			r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
			stop := r.start(t)
			time.Sleep(time.Minute)
			if len(tg.times()) == 1 { // an invalid number is an answer from another server
				assert.Equal(t, 59*time.Minute, r.intake.cfg.Pulse.Wait(time.Now()))
			}
			time.Sleep(time.Hour)
			assert.Equal(t, []string{"1"}, j.keys())
			assert.Zero(t, r.intake.cfg.Pulse.Wait(time.Now()))
			stop()
		})
	}
}
