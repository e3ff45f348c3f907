package inbox

import (
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestOutageIsReportedAtItsEnd: once per outage of more than five minutes, before its messages
// are handled. An error of Telegram is an answer, and sleep of the machine is not an outage.
func TestOutageIsReportedAtItsEnd(t *testing.T) {
	silent := func(w http.ResponseWriter) { w.WriteHeader(http.StatusGatewayTimeout) }
	gateway := func(w http.ResponseWriter) { fail(w, 502, "Bad Gateway", "") }
	rival := func(w http.ResponseWriter) { fail(w, 409, "Conflict: terminated by other getUpdates request", "") }
	for _, tt := range []struct {
		name   string
		answer func(w http.ResponseWriter)
		away   time.Duration
		asleep bool
		want   []time.Duration
	}{
		{"short", silent, 4 * time.Minute, false, nil},
		{"long", silent, 20 * time.Minute, false, []time.Duration{20 * time.Minute}},
		{"a gateway answers for Telegram", gateway, 20 * time.Minute, false, []time.Duration{20 * time.Minute}},
		{"another program polls", rival, 20 * time.Minute, false, nil},
		{"the machine sleeps", silent, 20 * time.Minute, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tg, j := newTelegram(), &journal{}
				var down atomic.Bool
				down.Store(true) // before the first answer there is no outage
				tg.answer = func(w http.ResponseWriter, _ int) bool {
					is := down.Load()
					if is {
						tt.answer(w)
					}
					return is
				}
				r := newRig(t, filepath.Join(t.TempDir(), "inbox"), tg, j)
				c := &sinceStart{began: time.Now()}
				r.store.Clock = c
				stop := r.start(t)
				time.Sleep(30 * time.Minute)
				assert.Empty(t, r.reports.outages)
				for n := range 2 {
					down.Store(false)
					time.Sleep(30 * time.Second)
					tg.deliver(message(int64(10*n+1), 5, "before"))
					synctest.Wait()
					down.Store(true)
					time.Sleep(pollTime)
					tg.deliver(message(int64(10*n+2), 5, "late"))
					time.Sleep(tt.away - pollTime)
					if tt.asleep {
						c.asleep += tt.away
					}
					assert.Len(t, r.reports.outages, n*len(tt.want))
				}
				down.Store(false)
				time.Sleep(time.Minute)
				stop()
				assert.Equal(t, append(tt.want, tt.want...), r.reports.outages)
				assert.Equal(t, []string{"1", "2", "11", "12"}, j.keys())
			})
		})
	}
}
