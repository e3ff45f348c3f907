package transcript

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/internal/session/disktest"
	"ccbot/port/talk"
)

// TestLongTranscriptIsReadFromEnd counts the bytes that are read of a transcript of more than
// 200 MB, which is mostly a hole.
func TestLongTranscriptIsReadFromEnd(t *testing.T) {
	projects, id := t.TempDir(), uuid.New()
	path := filepath.Join(projects, "-x", id.String()+suffix)
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	const hole, kib, mib = 200 << 20, 1 << 10, 1 << 20
	var turns strings.Builder
	for n := 0; turns.Len() < 4*mib; n++ {
		turns.WriteString(prompt("do it") + calls(fmt.Sprint("c", n), "Bash", `{"command":"make"}`) +
			returns(fmt.Sprint("c", n), strings.Repeat("x", 10_000), "{}") + reply(fmt.Sprint("m", n), "done") + turnEnd)
	}
	file, err := os.Create(path)
	require.NoError(t, err)
	_, err = file.WriteAt([]byte("\n"+turns.String()), hole)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	end := talk.Cursor{Path: path, Offset: hole + 1 + int64(turns.Len())}

	tests := []struct {
		name string
		most int64
		read func() error
	}{
		{"the check before a resume", 1100 * kib, func() error { _, err := Check(projects, id); return err }},
		{"the end", 100 * kib, func() error {
			got, err := jsonl.End(path)
			assert.Equal(t, end, got)
			return err
		}},
		{"the last answer", 2200 * kib, func() error {
			items, _, err := Form().LastAnswer(t.Context(), end)
			assert.Len(t, items, 1)
			return err
		}},
		{"a reader whose cursor is at the end", 10 * kib, func() error {
			r := Form().Open(end)
			defer r.Close()
			_, more, err := r.Next()
			assert.False(t, more)
			return err
		}},
		{"the work since a cursor", 200 * kib, func() error {
			from := strings.LastIndex(turns.String()[:turns.Len()-100*kib], "\n") + 1
			next, err := Advance(history.Progress{Path: path, Offset: hole + 1 + int64(from)}, path)
			assert.Equal(t, end.Offset, next.Offset)
			assert.NotZero(t, next.Turns)
			return err
		}},
		{"the work of a conversation that is new to the record", 8300 * kib, func() error {
			next, err := Advance(history.Progress{}, path)
			assert.Equal(t, end.Offset, next.Offset)
			assert.NotZero(t, next.Turns)
			return err
		}},
		{"what became of a call", 1300 * kib, func() error {
			_, _, err := FindOutcome(t.Context(), Sought{Path: path, From: end.Offset, Tool: "Bash", Input: json.RawMessage(`{}`), At: time.Now()})
			return err
		}},
		{"the command of an output", 300 * kib, func() error { Form().BashCommand(end); return nil }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			before := disktest.BytesRead(t)
			require.NoError(t, tc.read())
			assert.LessOrEqual(t, disktest.BytesRead(t)-before, tc.most)
		})
	}
}
