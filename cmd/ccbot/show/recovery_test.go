package show

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/ending"
	"ccbot/recovery"
	"ccbot/tmux"
)

func idOf(last byte) uuid.UUID { return uuid.UUID{15: last} }

// reported is a recovery in which something of everything happened.
func reported(t *testing.T) (recovery.Report, func(uuid.UUID) string) {
	t.Helper()
	window, err := tmux.ParseWindowID("@21")
	require.NoError(t, err)
	names := map[uuid.UUID]string{idOf(1): "api", idOf(2): "web", idOf(3): "doc"}
	gone := ending.Ending{}
	gone.Process.PID, gone.Process.Comm, gone.How, gone.Ended, gone.Verified = 7, "claude", process.HowTerm, true, true
	spared := ending.Ending{}
	spared.Process.PID, spared.Spared = 8, "it is another agent"
	return recovery.Report{At: at, Took: 1500 * time.Millisecond, Records: 3,
		States: map[session.State]int{session.Running: 1, session.Lost: 2}, Ages: []recovery.AgeBucket{{UpTo: time.Hour, Count: 1}, {Count: 2}},
		Backup: "2026-03-04T12-00-00.000Z",
		Results: []recovery.Result{
			{Action: recovery.Action{Do: lifecycle.Reattach, Record: idOf(1), Why: "its pane is there", Evidence: "%3"}, Took: time.Second},
			{Action: recovery.Action{Do: lifecycle.MarkLost, Record: idOf(2), Closed: session.ClosedReboot, Why: "its pane and its process are gone", Evidence: "boot \x1b[1mb"}},
			{Action: recovery.Action{Do: lifecycle.EndLeftovers, Record: idOf(3), Why: "something of it still runs"}, Ended: []ending.Ending{gone, spared}},
			{Action: recovery.Action{Do: lifecycle.Discard, Record: idOf(4), Why: "its window was never made"}, Err: errors.New("no room")},
		},
		Notices: []recovery.Notice{
			{Kind: recovery.OrphanWindow, Pane: tmux.Pane{Window: window, WindowName: "ccbot"}, Why: "no Session record references it"},
			{Kind: recovery.StaleWindow, Record: idOf(2), Window: "@5", Why: "the window is gone"},
			{Kind: recovery.Unreadable, File: "x.json", Why: "version 99"},
		}}, func(id uuid.UUID) string { return names[id] }
}

func TestReportForPeople(t *testing.T) {
	var out strings.Builder
	AccountOf(reported(t)).Print(&terminal.Printer{Out: &out})
	assert.Equal(t, `web (00000002): mark_lost
    why:      its pane and its process are gone (reboot)
    evidence: boot ·[1mb
doc (00000003): end_leftovers
    why:      something of it still runs
    process 7 (claude) ended (term), verified gone
    process 8 was spared: it is another agent
no name (00000004): discard
    why:      its window was never made
    FAILED:   no room
api (00000001): reattach: its pane is there (%3)
orphan_window @21 ccbot: no Session record references it
stale_window @5 web (00000002): the window is gone
unreadable x.json: version 99
2 changed, 1 failed, 3 notices; the records as they were: ccbot recover --restore 2026-03-04T12-00-00.000Z
`, out.String())
}

// The bot's answer is what the command prints, whichever side it was made on.
func TestReportForPrograms(t *testing.T) {
	a := AccountOf(reported(t))
	data, err := json.Marshal(a)
	require.NoError(t, err)
	var again Account
	require.NoError(t, json.Unmarshal(data, &again))
	assert.Equal(t, a, again)
	var got map[string]any
	require.NoError(t, json.Unmarshal(data, &got))
	assert.InDelta(t, 1.5, got["took_seconds"], 0)
	assert.Equal(t, map[string]any{"running": 1.0, "lost": 2.0}, got["states"])
	assert.Equal(t, []any{map[string]any{"up_to_seconds": 3600.0, "count": 1.0}, map[string]any{"count": 2.0}}, got["ages"])
	assert.Equal(t, false, got["dry_run"])
}
