package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/process"
)

func TestP3_WhatIsNotProvenGoneIsAFailure(t *testing.T) {
	who := process.Process{Identity: process.Identity{PID: 9, Start: 1, Boot: boot}}
	tests := []struct {
		name string
		out  process.Outcome
		err  error
		want Failure
	}{
		{"it survived", process.Outcome{}, fmt.Errorf("end 9: %w", process.ErrSurvived), Failure{FailureSurvived, who.Identity, "it survived KILL"}},
		{"it could not be found out", process.Outcome{}, errors.New("no answer"), Failure{FailureUnknown, who.Identity, "no answer"}},
		{"it was spared", process.Outcome{Spared: "guard tmux", Reason: process.GuardTmux}, nil, Failure{FailureSpared, who.Identity, "guard tmux"}},
		{"it was not proven any more", process.Outcome{Spared: "not proven: it left", Reason: process.ReasonUnproven}, nil,
			Failure{FailureUnknown, who.Identity, "not proven: it left"}},
		{"nobody verified it", process.Outcome{Ended: true}, nil, Failure{FailureUnknown, who.Identity, "its end is not verified"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var r Receipt
			tc.out.Process = who
			r.failOutcome(tc.out, tc.err)
			assert.Equal(t, []Failure{tc.want}, r.Failures)
			assert.Equal(t, []string{"process 9: " + tc.want.Detail}, r.reasons())
			assert.False(t, Ending{Outcome: tc.out}.over())
		})
	}
	assert.True(t, Ending{Outcome: process.Outcome{Ended: true, Verified: true}}.over())
}

// A history names some of the processes that were ended, and says how many more there were.
func TestAHistorySaysHowManyWereEnded(t *testing.T) {
	var r Receipt
	for pid, how := range []process.How{process.HowAlreadyGone, process.HowAlreadyGone, process.HowAlreadyGone, process.HowAlreadyGone,
		process.HowAlreadyGone, process.HowAlreadyGone, process.HowKill} {
		r.Others = append(r.Others, Ending{Outcome: process.Outcome{Process: process.Process{Identity: process.Identity{PID: pid}},
			Ended: true, Verified: true, How: how}})
	}
	assert.Equal(t, "; process 6 ended (kill)", r.ended())
	for range 9 {
		r.Others = append(r.Others, r.Others[6])
	}
	assert.Equal(t, strings.Repeat("; process 6 ended (kill)", maxNamed)+"; and 4 more", r.ended())
}
