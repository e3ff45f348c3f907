package inbox

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// refuses answers with a code that does not know the token.
func refuses(code int) func(w http.ResponseWriter, n int) bool {
	return func(w http.ResponseWriter, _ int) bool { fail(w, code, http.StatusText(code), ""); return true }
}

// TestP4_RefusedPollEndsNothing: after one 401 or 404 the waiting message is handled.
func TestP4_RefusedPollEndsNothing(t *testing.T) {
	for _, code := range []int{401, 404} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tg, j := newTelegram(), &journal{}
				tg.answer = func(w http.ResponseWriter, n int) bool { return n == 1 && refuses(code)(w, n) }
				tg.deliver(message(1, 5, "a"))
				r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
				stop := r.start(t)
				time.Sleep(10 * time.Second)
				assert.Equal(t, []string{"1"}, j.keys())
				assert.Equal(t, 1, tg.whoAsked(), "a second opinion")
				assert.Contains(t, r.log.String(), "bot_token_refused")
				assert.Contains(t, r.log.String(), "poll_recovered")
				stop()
			})
		})
	}
}

// TestRevokedTokenEndsRun: the token is revoked after ten minutes of such answers of getMe.
func TestRevokedTokenEndsRun(t *testing.T) {
	for _, code := range []int{401, 404} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tg := newTelegram()
				tg.answer, tg.me = refuses(code), refuses(code)
				r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, &journal{})
				begun := time.Now()
				ended := make(chan error, 1)
				go func() { ended <- r.intake.Run(t.Context(), t.Context()) }()
				time.Sleep(revokedAfter - time.Second)
				synctest.Wait()
				assert.Empty(t, ended)
				assert.True(t, r.intake.cfg.Pulse.UnknownToken())
				assert.Equal(t, 1, strings.Count(r.log.String(), "bot_token_refused"), "it is logged every ten minutes")
				err := <-ended
				require.ErrorIs(t, err, ErrRevoked)
				assert.GreaterOrEqual(t, time.Since(begun), revokedAfter)
				assert.GreaterOrEqual(t, tg.whoAsked(), revokedAnswers)
				assert.NotContains(t, err.Error()+r.log.String(), "SECRET")
			})
		})
	}
}

// TestRevocationNeedsOneOpinion: any other result restarts the ten minutes.
func TestRevocationNeedsOneOpinion(t *testing.T) {
	page := func(w http.ResponseWriter, _ int) bool {
		w.WriteHeader(401)
		_, _ = fmt.Fprint(w, htmlPage)
		return true
	}
	cut := func(http.ResponseWriter, int) bool { panic(http.ErrAbortHandler) }
	tests := []struct {
		name   string
		others func(w http.ResponseWriter, n int) bool // the 50th answer; nil: the real one
		of     string
	}{
		{"getMe knows the token", nil, getMe},
		{"getMe is a page", page, getMe},
		{"getMe is a 500", refuses(500), getMe},
		{"getMe has no answer", cut, getMe},
		{"a poll succeeds", nil, getUpdates},
		{"a poll is a page", page, getUpdates},
		{"a poll has a rival", refuses(409), getUpdates},
		{"a poll has no answer", cut, getUpdates},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tg := newTelegram()
				var other time.Time
				once := func(method string) func(w http.ResponseWriter, n int) bool {
					return func(w http.ResponseWriter, n int) bool {
						if method != tt.of || n != 50 {
							return refuses(401)(w, n)
						}
						other = time.Now()
						return tt.others != nil && tt.others(w, n)
					}
				}
				tg.answer, tg.me = once(getUpdates), once(getMe)
				r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, &journal{})
				r.intake.poller.client.Transport = brittle{tg}
				begun := time.Now()
				err := r.intake.Run(t.Context(), t.Context())
				require.ErrorIs(t, err, ErrRevoked)
				assert.Less(t, other.Sub(begun), revokedAfter)
				assert.GreaterOrEqual(t, time.Since(other), revokedAfter)
			})
		})
	}
}

// TestP4_UnknownPollMethodEndsNothing: getMe knows the token, so getUpdates is retried.
func TestP4_UnknownPollMethodEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tg := newTelegram()
		tg.answer = refuses(404)
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, &journal{})
		stop := r.start(t)
		time.Sleep(24 * time.Hour)
		assert.False(t, r.intake.cfg.Pulse.UnknownToken())
		_, goesOn, failing := r.intake.cfg.Pulse.State(time.Now())
		assert.True(t, goesOn && failing)
		stop()
	})
}

// TestRevocationNeedsTenAnswers: the time alone proves nothing, because the machine may have slept.
func TestRevocationNeedsTenAnswers(t *testing.T) {
	var d tokenDoubt
	now := time.Now()
	for n := range revokedAnswers - 1 {
		assert.False(t, d.note(now.Add(time.Duration(n)*time.Hour)))
	}
	assert.True(t, d.note(now.Add(revokedAnswers*time.Hour)))
}

// brittle breaks the connection if a handler panics.
type brittle struct{ to http.RoundTripper }

func (b brittle) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if recover() != nil {
			err = http.ErrServerClosed
		}
	}()
	return b.to.RoundTrip(r)
}
