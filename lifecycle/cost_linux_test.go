package lifecycle

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/internal/session"
	"ccbot/internal/session/disktest"
	"ccbot/port/talk"
)

// A person waits during the resume of a conversation unknown to the record, as after an import.
func TestResumeReadsOnlyConversationEnd(t *testing.T) {
	const hole, most = 200 << 20, 12 << 20
	tests := []struct {
		name   string
		resume func(w *world, r session.Record) (session.Record, error)
	}{
		{"in the same conversation", func(w *world, r session.Record) (session.Record, error) { return w.restoreIt(r.ID) }},
		{"in a copy", func(w *world, r session.Record) (session.Record, error) {
			q := w.request()
			q.ForkOf = r.AgentSessionID
			return w.Start(w.ctx, q)
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r := w.archived()
				require.NoError(t, os.Truncate(w.transcript(r.AgentSessionID), hole))
				w.writeRaw(r, "\n"+strings.Repeat(userLine("hello")+"\n", 20_000)+`{"type":"permission-mode","permissionMode":"plan"}`+"\n")
				end, err := jsonl.End(w.transcript(r.AgentSessionID))
				require.NoError(t, err)
				w.edit(r.ID, func(r *session.Record) {
					r.Progress, r.Cursors, r.TranscriptEnd = history.Progress{}, []talk.Cursor{end}, end.Offset
				})
				before := disktest.BytesRead(t)
				back, err := tc.resume(w, r)
				require.NoError(t, err)
				assert.LessOrEqual(t, disktest.BytesRead(t)-before, int64(most))
				assert.Contains(t, w.argvOf(back), "plan", "what the end says")
			})
		})
	}
}
