package ending_test

import (
	coding "ccbot/agent"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
)

const boot = tabletest.Boot

// machine is a process table in memory whose End is a function of the test.
type machine struct {
	*tabletest.Table
	end func(ctx context.Context, p process.Process, prove func(process.Process) error, g process.Grace) (process.Outcome, error)
}

func newMachine() *machine { return &machine{Table: tabletest.New()} }

func (m *machine) Shared() []session.Record { return nil }

func (m *machine) End(ctx context.Context, id process.Identity, prove func(process.Process) error,
	_ func(context.Context) error, g process.Grace) (process.Outcome, error) {
	p, err := m.Inspect(id.PID)
	if err != nil {
		return process.Outcome{}, err
	}
	return m.end(ctx, p, prove, g)
}

// add starts a process.
func (m *machine) add(pid, parent int, args ...string) process.Identity {
	return m.Start(pid, args, tabletest.Below(parent))
}

func (m *machine) ender(outcome func(string)) *ending.Ender {
	log := slog.New(slog.DiscardHandler)
	return &ending.Ender{Processes: m, KillGrace: 12 * time.Second, Outcome: outcome, Log: log,
		Evidence: &evidence.Sources{Instance: "i", Agents: coding.Agents{coding.Default: {Witness: claude.Witness{Command: "claude"}}}, Records: m, Processes: m,
			Bindings: func() ([]hookwire.Binding, []error) { return nil, nil }, Log: log}}
}

// ended is a session that ended after all processes of the machine had started.
func ended() *session.Record {
	r := &session.Record{ID: uuid.New(), AgentSessionID: uuid.New(), State: session.Archived}
	r.EndedMoment = process.Moment{Boot: boot, Tick: 8000}
	return r
}

// endOne ends a process that the record bound; End returns the outcome.
func endOne(t *testing.T, out process.Outcome, err error) (receipt ending.Receipt, who process.Identity, counted []string) {
	t.Helper()
	m := newMachine()
	who = m.add(9, 1, "claude")
	m.end = func(_ context.Context, p process.Process, _ func(process.Process) error, _ process.Grace) (process.Outcome, error) {
		out.Process = p
		return out, err
	}
	r := ended()
	r.Bound = []process.Identity{who}
	s := m.ender(func(what string) { counted = append(counted, what) }).Of(r, func() error { return nil }, func() {})
	all, failures, failed := s.EndLeftovers(t.Context())
	require.NoError(t, failed)
	return ending.Receipt{Others: all, Failures: failures}, who, counted
}

func TestP3_UnprovenEndIsFailure(t *testing.T) {
	tests := []struct {
		name   string
		out    process.Outcome
		err    error
		kind   ending.FailureKind
		detail string
	}{
		{"it survived", process.Outcome{}, fmt.Errorf("end 9: %w", process.ErrSurvived), ending.FailureSurvived, "it survived KILL"},
		{"it could not be found out", process.Outcome{}, errors.New("no answer"), ending.FailureUnknown, "no answer"},
		{"it was spared", process.Outcome{Spared: "guard tmux", Reason: process.GuardTmux}, nil, ending.FailureSpared, "guard tmux"},
		{"it was not proven any more", process.Outcome{Spared: "not proven: it left", Reason: process.ReasonUnproven}, nil, ending.FailureUnknown, "not proven: it left"},
		{"nobody verified it", process.Outcome{Ended: true}, nil, ending.FailureUnknown, "its end is not verified"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			receipt, who, _ := endOne(t, tc.out, tc.err)
			assert.Equal(t, []ending.Failure{{Kind: tc.kind, ID: who, Detail: tc.detail}}, receipt.Failures)
			assert.Equal(t, []string{"process 9: " + tc.detail}, receipt.Reasons())
			assert.False(t, receipt.HasEnded() && tc.out.Verified)
			assert.Empty(t, receipt.EndedText())
		})
	}
	receipt, _, _ := endOne(t, process.Outcome{How: process.HowTerm, Ended: true, Verified: true}, nil)
	assert.Empty(t, receipt.Failures)
	assert.True(t, receipt.HasEnded())
}

// The record's description of a cleanup names the process to end, not a process that reuses its
// pid.
func TestCleanupNamesProcess(t *testing.T) {
	receipt, who, _ := endOne(t, process.Outcome{}, process.ErrSurvived)
	c := receipt.Cleanup(nil)
	assert.Equal(t, []process.Identity{who}, c.Processes)
	assert.Equal(t, 1, c.Attempts)
	assert.True(t, receipt.HasFailed(c))
	assert.False(t, receipt.HasFailed(nil))
	assert.Equal(t, 2, receipt.Cleanup(c).Attempts)
}

// A history names some ended processes and counts the others.
func TestHistoryCountsEndedProcesses(t *testing.T) {
	var r ending.Receipt
	for pid, how := range []process.How{process.HowAlreadyGone, process.HowAlreadyGone, process.HowAlreadyGone, process.HowAlreadyGone,
		process.HowAlreadyGone, process.HowAlreadyGone, process.HowKill} {
		r.Others = append(r.Others, ending.Ending{Outcome: process.Outcome{Process: process.Process{Identity: process.Identity{PID: pid}},
			Ended: true, Verified: true, How: how}})
	}
	assert.Equal(t, "; process 6 ended (kill)", r.EndedText())
	for range 9 {
		r.Others = append(r.Others, r.Others[6])
	}
	assert.Equal(t, strings.Repeat("; process 6 ended (kill)", 6)+"; and 4 more", r.EndedText())
}

func TestOutcomes(t *testing.T) {
	ended := func(how process.How) process.Outcome { return process.Outcome{How: how, Ended: true, Verified: true} }
	tests := []struct {
		name string
		out  process.Outcome
		err  error
		want []string
	}{
		{"a hang-up was enough", ended(process.HowHangUp), nil, []string{"hup"}},
		{"after TERM", ended(process.HowTerm), nil, []string{"term"}},
		{"after KILL", ended(process.HowKill), nil, []string{"kill"}},
		{"it had ended before", ended(process.HowAlreadyGone), nil, nil},
		{"it survived", process.Outcome{How: process.HowKill}, process.ErrSurvived, []string{"failed"}},
		{"its end is not verified", process.Outcome{How: process.HowTerm, Ended: true}, nil, []string{"failed"}},
		{"it could not be read", process.Outcome{Spared: "it cannot be read", Reason: process.ReasonUnreadable}, assert.AnError, []string{"failed"}},
		{"nothing is known", process.Outcome{}, nil, []string{"failed"}},
		{"it is another's", process.Outcome{Spared: "it is another agent", Reason: evidence.ReasonOtherAgent}, nil, []string{"spared"}},
		{"it was protected from some step on", process.Outcome{How: process.HowTerm, Spared: "it is another agent"}, nil, []string{"spared"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, counted := endOne(t, tt.out, tt.err)
			assert.Equal(t, tt.want, counted)
		})
	}
}

// Several leftovers end at the same time: the first is proven while the record is saved before
// another's KILL.
func TestLeftoverIsProvenDuringSave(t *testing.T) {
	m, r := newMachine(), ended()
	one := m.add(777, 1, "claude", "--resume", r.AgentSessionID.String())
	m.add(778, 1, "claude", "--resume", r.AgentSessionID.String())
	tool := m.add(901, 777, "make")
	m.end = func(ctx context.Context, p process.Process, prove func(process.Process) error, g process.Grace) (process.Outcome, error) {
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { assert.NoError(t, prove(p)) })
			wg.Go(func() { assert.NoError(t, g.BeforeKill(ctx)) })
		}
		wg.Wait()
		return process.Outcome{Process: p, How: process.HowKill, Ended: true, Verified: true}, nil
	}
	save := func() error { r.UpdatedAt, r.Interruption = time.Now(), &session.Interruption{}; return nil }
	all, failures, err := m.ender(nil).Of(r, save, func() {}).EndLeftovers(t.Context())
	require.NoError(t, err)
	assert.Len(t, all, 2)
	assert.Empty(t, failures)
	assert.Equal(t, []session.Tool{{Process: tool, Of: one}}, r.Descendants)
}
