package socket

import (
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/lifecycle/evidence"
)

// TestP9_RefusalsDoNotFillTheLog: the next refusal that has a line counts those before it that had none.
func TestP9_RefusalsDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		a := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: agent}}
		s := a.socket()
		s.refused = newRefusals(slog.New(slog.NewTextHandler(&log, nil)))
		lines := func() []string { return strings.Split(strings.TrimSpace(log.String()), "\n") }
		forbidden := func(pid int) {
			p := peerBelow()
			p.PID = pid
			_, err := s.checked(nil)(t.Context(), p, hookwire.Call{Verb: verbPing})
			require.ErrorAs(t, err, new(*control.Refusal))
		}
		forged := func() {
			p := peerBelow()
			p.Chain[0].Exe = "/usr/bin/python3"
			_, err := s.checked(s.permission)(t.Context(), p, permission(t, asItIs))
			require.ErrorAs(t, err, new(*control.Refusal))
		}

		forbidden(11)
		forbidden(12)
		forged()
		time.Sleep(refusalEvery - 1)
		forbidden(13)
		require.Len(t, lines(), 1)
		assert.Contains(t, lines()[0], `msg=control_refused verb=ping pid=11 why="forbidden: an agent may not do this" count=1`)

		time.Sleep(time.Nanosecond)
		forged()
		forbidden(14)
		require.Len(t, lines(), 2)
		assert.Contains(t, lines()[1], `verb=permission pid=9 why="not our hook" exe=/usr/bin/python3 count=4`)

		time.Sleep(time.Hour)
		forbidden(15)
		require.Len(t, lines(), 3)
		assert.Contains(t, lines()[2], "pid=15 ")
		assert.Contains(t, lines()[2], "count=2")
	})
}

func TestRefusalsOfManyAtOnceAreAllCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		r := newRefusals(slog.New(slog.NewTextHandler(&log, nil)))
		var all sync.WaitGroup
		for pid := range 50 {
			all.Go(func() { r.note("pid", pid) })
		}
		all.Wait()
		assert.Equal(t, 1, strings.Count(log.String(), "control_refused"))
		time.Sleep(refusalEvery)
		r.note("pid", 50)
		counted := 0
		for _, found := range regexp.MustCompile(`count=(\d+)`).FindAllStringSubmatch(log.String(), -1) {
			n, err := strconv.Atoi(found[1])
			require.NoError(t, err)
			counted += n
		}
		assert.Equal(t, 51, counted, log.String())
	})
}
