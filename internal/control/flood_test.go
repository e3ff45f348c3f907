package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/loglimit"
	"ccbot/internal/process"
)

// lockedBuffer is a log that is written and read at the same time.
type lockedBuffer struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *lockedBuffer) lines(event string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.out.String(), "msg="+event+" ")
}

// hiddenTable is a process table in which no process can be read.
type hiddenTable struct{}

func (hiddenTable) Inspect(int) (process.Process, error) {
	return process.Process{}, errors.New("hidden")
}

// TestP9_CallersDoNotFloodLog calls the socket again and again, as another program of the machine
// can.
func TestP9_CallersDoNotFloodLog(t *testing.T) {
	const flood = 2 * loglimit.Burst
	tests := []struct {
		event, code string
		prepare     func(t *testing.T, s *service)
	}{
		{"control_peer_unknown", codePeer, func(_ *testing.T, s *service) { s.table = hiddenTable{} }},
		{"control_busy", codeBusy, func(_ *testing.T, s *service) {
			s.verbs["echo"] = verb{handle: echo} // there is no place
		}},
		{"control_failed", codeInternal, func(_ *testing.T, s *service) {
			s.Handle("echo", func(context.Context, Peer, hookwire.Call) (json.RawMessage, error) { return nil, errors.New("failed") })
		}},
	}
	for _, tt := range tests {
		t.Run(tt.event, func(t *testing.T) {
			s, log := newService(t), &lockedBuffer{}
			s.log = slog.New(loglimit.New(slog.NewTextHandler(log, nil)))
			tt.prepare(t, s)
			s.run(t)
			for range flood {
				_, err := Do(t.Context(), s.path, hookwire.Call{Verb: "echo"})
				refusal := (*Refusal)(nil)
				require.ErrorAs(t, err, &refusal)
				require.Equal(t, tt.code, refusal.Code)
			}
			require.NoError(t, s.stop())
			assert.GreaterOrEqual(t, log.lines(tt.event), loglimit.Burst)
			assert.Less(t, log.lines(tt.event), flood)
		})
	}
}
