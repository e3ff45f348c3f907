package tabletest_test

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/processtest"
)

// table is what both tables do.
type table interface {
	Self() process.Identity
	Inspect(pid int) (process.Process, error)
	Liveness(id process.Identity) process.Liveness
	End(ctx context.Context, id process.Identity, prove func(process.Process) error, hangUp func(context.Context) error, g process.Grace) (process.Outcome, error)
}

var (
	_ table = (*process.Table)(nil)
	_ table = (*tabletest.Table)(nil)
)

// A test that runs on the table in memory says something about the real one only if both answer
// alike.
func TestEndIsTheRealOne(t *testing.T) {
	agree := func(process.Process) error { return nil }
	mine := func(_ *testing.T, _ table, id process.Identity) process.Identity { return id }
	tests := []struct {
		name    string
		ignores bool // the process ignores TERM
		who     func(t *testing.T, table table, id process.Identity) process.Identity
		prove   func(process.Process) error
		hangUp  func(context.Context) error
		grace   process.Grace
	}{
		{name: "TERM ends it", who: mine, prove: agree},
		{name: "only KILL ends it", ignores: true, who: mine, prove: agree},
		{name: "a hang-up that fails is followed by TERM", who: mine, prove: agree, hangUp: func(context.Context) error { return assert.AnError }},
		{name: "no KILL before its step is written down", ignores: true, who: mine, prove: agree,
			grace: process.Grace{BeforeKill: func(context.Context) error { return assert.AnError }}},
		{name: "it is not proven", who: mine, prove: func(process.Process) error { return errors.New("nothing proves it") }},
		{name: "it is spared for a reason", who: mine, prove: func(process.Process) error { return &process.Spare{Reason: "second"} }},
		{name: "ccbot itself", who: func(_ *testing.T, table table, _ process.Identity) process.Identity { return table.Self() }, prove: agree},
		{name: "an incomplete identity", who: func(*testing.T, table, process.Identity) process.Identity { return process.Identity{PID: 1} }, prove: agree},
		{name: "its pid is another's", prove: agree, who: func(_ *testing.T, _ table, id process.Identity) process.Identity {
			id.Start--
			return id
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			end := func(table table, id process.Identity) (process.Outcome, process.Liveness, error) {
				tt.grace.Term, tt.grace.Kill = 10*time.Millisecond, time.Hour // TERM has all the time that a slow machine needs
				if tt.ignores {
					tt.grace.Kill = 50 * time.Millisecond
				}
				who := tt.who(t, table, id)
				out, err := table.End(t.Context(), who, tt.prove, tt.hangUp, tt.grace)
				assert.Equal(t, who, out.Process.Identity)
				out.Process = process.Process{}
				return out, table.Liveness(id), err
			}
			real, err := process.NewTable()
			require.NoError(t, err)
			made := tabletest.New()
			id := made.StartNow(77, []string{"sleep"})
			made.YieldsTo(77, process.HowTerm)
			if tt.ignores {
				made.YieldsTo(77, process.HowKill)
			}
			want, left, wantErr := end(real, started(t, real, tt.ignores))
			got, stays, gotErr := end(made, id)
			if want.Reason != "" { // the sentence may be another one
				assert.NotEmpty(t, got.Spared)
				got.Spared = want.Spared
			}
			assert.Equal(t, want, got)
			assert.Equal(t, wantErr == nil, gotErr == nil, "%v, %v", wantErr, gotErr)
			assert.Equal(t, errors.Is(wantErr, assert.AnError), errors.Is(gotErr, assert.AnError))
			assert.Equal(t, left, stays)
		})
	}
}

// started starts a real process.
func started(t *testing.T, table table, ignores bool) process.Identity {
	t.Helper()
	line := "echo ready; exec sleep 600"
	if ignores {
		line = "trap '' TERM; " + line
	}
	cmd := exec.Command("/bin/sh", "-c", line)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	processtest.Start(t, cmd)
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	p, err := table.Inspect(cmd.Process.Pid)
	require.NoError(t, err)
	return p.Identity
}
