package loop

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/talk"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// TestNext is the whole rule.
func TestNext(t *testing.T) {
	base := Loop{Loop: port.Loop{ID: uuid.New(), State: port.LoopRunning, Step: port.LoopAsk, Iteration: 2, Attempt: 1, Bounds: port.LoopBounds{Turns: 5}, CreatedAt: noon.Add(-time.Hour)}}
	with := func(change func(l *Loop)) Loop { l := base.Clone(); change(&l); return l }
	in := func(p port.LoopStep, more ...func(l *Loop)) Loop {
		return with(func(l *Loop) {
			l.Step = p
			for _, change := range more {
				change(l)
			}
		})
	}
	late := func(l *Loop) { l.Bounds.Until = noon }
	resumed := func(l *Loop) { l.Resumed = true }
	esc := func(l *Loop) { l.Esc = port.BoundCost }
	idle := seen{Known: true, State: session.Running, Now: talk.Activity{Phase: talk.PhaseIdle}}
	turn := func(k outcome.Kind) seen { s := idle; s.Turn.Kind = k; return s }
	of := func(state session.State) seen { s := idle; s.State = state; return s }
	doing := func(a talk.Activity) seen { s := idle; s.Now = a; return s }
	failed := func(f talk.Failure) seen { s := turn(outcome.Failed); s.Turn.Failure = f; return s }
	limit := talk.Failure{Kind: talk.FailedLimit, Until: noon.Add(time.Hour)}
	ended := func(ago time.Duration) talk.Failure {
		return talk.Failure{Kind: talk.FailedLimit, Until: noon.Add(-ago)}
	}
	waited := func(ago time.Duration) func(l *Loop) {
		return func(l *Loop) { l.State, l.Until = port.LoopWaiting, noon.Add(-ago) }
	}
	working := func(s seen) seen { s.Now.Phase = talk.PhaseWorking; return s }
	typed := func(s seen) seen { s.Turn.Others = true; return s }
	checked := func(exit int) func(l *Loop) {
		return func(l *Loop) { l.Last = &port.CheckResult{Iteration: 2, Exit: exit} }
	}
	tests := []struct {
		name string
		loop Loop
		seen seen
		want act
	}{
		{"paused", with(func(l *Loop) { l.State = port.LoopPaused }), idle, act{}},
		{"done", with(func(l *Loop) { l.State = port.LoopDone }), seen{}, act{}},
		{"its session is forgotten", base, seen{}, act{Do: doEnd, State: port.LoopOrphaned, Reason: port.WhySessionEnded}},
		{"its session was archived", base, seen{Known: true, State: session.Archived, Ended: noon}, act{Do: doPause, Reason: port.WhySessionEnded, Detail: "archived"}},
		{"archived, paused, in the grace", with(func(l *Loop) { l.State = port.LoopPaused }), seen{Known: true, State: session.Archived, Ended: noon.Add(-time.Minute)}, act{}},
		{"archived, paused, after the grace", with(func(l *Loop) { l.State = port.LoopPaused }), seen{Known: true, State: session.Archived, Ended: noon.Add(-time.Hour)}, act{Do: doEnd, State: port.LoopOrphaned, Reason: port.WhySessionEnded}},
		{"its session is lost", base, of(session.Lost), act{Do: doPause, Reason: port.WhySessionLost, Detail: "lost"}},
		{"lost and paused stays so", with(func(l *Loop) { l.State = port.LoopPaused }), seen{Known: true, State: session.Lost}, act{}},

		{"ask", base, idle, act{Do: doKeep}},
		{"ask while a person's turn runs", base, doing(talk.Activity{Phase: talk.PhaseWorking}), act{Do: doKeep}},
		{"ask while it comes back", base, of(session.Restoring), act{}},
		{"ask at a dialog", base, doing(talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}), act{Do: doPause, Reason: port.WhyDialog, Detail: "Bash"}},
		{"ask when logged out", base, doing(talk.Activity{Phase: talk.PhaseLoggedOut}), act{Do: doPause, Reason: port.WhyAPIError}},
		{"ask at a limit", base, doing(talk.Activity{Phase: talk.PhaseLimited, Until: noon.Add(time.Hour)}), act{Do: doWait, Until: noon.Add(time.Hour + talk.ContinuesWithin)}},
		{"ask after all turns", with(func(l *Loop) { l.Used.Turns = 5 }), idle, act{Do: doEnd, State: port.LoopExhausted, Reason: port.BoundTurns}},
		{"ask too late", in(port.LoopAsk, late), idle, act{Do: doEnd, State: port.LoopExhausted, Reason: port.BoundUntil}},
		{"waiting", with(func(l *Loop) { l.State, l.Until = port.LoopWaiting, noon.Add(time.Second) }), idle, act{}},
		{"waiting at a bound in the last phase", in(port.LoopAsk, late, func(l *Loop) {
			l.State, l.Until, l.Phase, l.Attempt = port.LoopWaiting, noon.Add(time.Hour), port.PhaseDone, 1
		}), idle, act{Do: doEnd, State: port.LoopDone}},
		{"waiting at a bound in a turn of the last phase", in(port.LoopTurn, late, func(l *Loop) {
			l.State, l.Until, l.Phase, l.Attempt = port.LoopWaiting, noon.Add(time.Hour), port.PhaseDone, 1
		}), idle, act{Do: doEnd, State: port.LoopExhausted, Reason: port.BoundUntil}},
		{"waiting at a bound", in(port.LoopAsk, late, func(l *Loop) { l.State, l.Until = port.LoopWaiting, noon.Add(time.Hour) }), idle, act{Do: doEnd, State: port.LoopExhausted, Reason: port.BoundUntil}},
		{"waited", with(func(l *Loop) { l.State, l.Until = port.LoopWaiting, noon }), idle, act{Do: doKeep}},

		{"the turn runs", in(port.LoopTurn), turn(outcome.Open), act{}},
		{"answered", in(port.LoopTurn), turn(outcome.Answered), act{Do: doTurnOver}},
		{"answered too late", in(port.LoopTurn, late), turn(outcome.Answered), act{Do: doTurnOver}},
		{"answered, and a person has typed", in(port.LoopTurn), seen{Known: true, State: session.Running, Turn: outcome.Outcome{Kind: outcome.Answered, Others: true}}, act{Do: doPause, Reason: port.WhyPersonActed, Detail: "a prompt in the terminal"}},
		{"and was resumed", in(port.LoopTurn, resumed), seen{Known: true, State: session.Running, Turn: outcome.Outcome{Kind: outcome.Answered, Others: true}}, act{Do: doTurnOver}},
		{"too late in the turn", in(port.LoopTurn, late), turn(outcome.Open), act{Do: doEsc, Reason: port.BoundUntil}},
		{"Esc is pressed once", in(port.LoopTurn, late, esc), seen{Known: true, State: session.Running, Pressed: true}, act{}},
		{"Esc of an earlier run", in(port.LoopTurn, late, esc), turn(outcome.Open), act{Do: doEsc, Reason: port.BoundUntil}},
		{"too late, and a dialog is open", in(port.LoopTurn, late), turn(outcome.Asks), act{Do: doPause, Reason: port.WhyDialog}},
		{"stopped by a bound", in(port.LoopTurn, late, esc), turn(outcome.Stopped), act{Do: doEnd, State: port.LoopExhausted, Reason: port.BoundCost}},
		{"stopped by a person", in(port.LoopTurn), turn(outcome.Stopped), act{Do: doPause, Reason: port.WhyInterrupted}},
		{"stopped, and resumed", in(port.LoopTurn, resumed), turn(outcome.Stopped), act{Do: doAgain}},
		{"failed", in(port.LoopTurn), failed(talk.Failure{Text: "500"}), act{Do: doPause, Reason: port.WhyAPIError, Detail: "500"}},
		{"at a limit", in(port.LoopTurn), failed(limit), act{Do: doWait, Until: limit.Until}},
		{"at a limit without an end", in(port.LoopTurn), failed(talk.Failure{Kind: talk.FailedLimit}), act{Do: doPause, Reason: port.WhyAPIError}},
		{"after a limit Claude Code may continue", in(port.LoopTurn, waited(0)), failed(ended(0)), act{}},
		{"and has not", in(port.LoopTurn, waited(talk.ContinuesWithin)), failed(ended(talk.ContinuesWithin)), act{Do: doAgain}},
		{"or works already", in(port.LoopTurn, waited(talk.ContinuesWithin)), working(failed(ended(talk.ContinuesWithin))), act{}},
		{"or a person has typed", in(port.LoopTurn, waited(0)), typed(failed(ended(0))), personTyped},
		{"and continues", in(port.LoopTurn, waited(0)), turn(outcome.Open), act{Do: doRuns}},
		{"and continues after a bound", in(port.LoopTurn, waited(0), late), turn(outcome.Open), act{Do: doEsc, Reason: port.BoundUntil}},
		{"and has continued to the end", in(port.LoopTurn, waited(0)), turn(outcome.Answered), act{Do: doTurnOver}},
		{"and is at the next limit", in(port.LoopTurn, waited(0)), failed(limit), act{Do: doWait, Until: limit.Until}},
		{"unproven", in(port.LoopTurn), turn(outcome.Unproven), act{Do: doPause, Reason: port.WhyUnproven}},
		{"unproven, and resumed", in(port.LoopTurn, resumed), turn(outcome.Unproven), act{Do: doPause, Reason: port.WhyUnproven}},
		{"withdrawn", in(port.LoopTurn), turn(outcome.Withdrawn), act{Do: doPause, Reason: port.WhyWithdrawn}},
		{"no end is seen", in(port.LoopTurn), turn(outcome.IdleAgain), act{Do: doPause, Reason: port.WhyNoEnd}},
		{"its agent asks", in(port.LoopTurn), turn(outcome.Asks), act{Do: doPause, Reason: port.WhyDialog}},

		{"no result", in(port.LoopCheck), idle, act{Do: doCheck}},
		{"the result of an earlier iteration", in(port.LoopCheck, func(l *Loop) { l.Last = &port.CheckResult{Iteration: 1} }), idle, act{Do: doCheck}},
		{"it succeeds", in(port.LoopCheck, checked(0)), idle, act{Do: doEnd, State: port.LoopDone}},
		{"it fails", in(port.LoopCheck, checked(2)), idle, act{Do: doIterate}},
		{"it fails in the same way", in(port.LoopCheck, checked(2), func(l *Loop) { l.Repeats = maxRepeats }), idle, act{Do: doPause, Reason: port.WhyNoProgress}},
		{"it succeeds too late", in(port.LoopCheck, checked(0), late), idle, act{Do: doEnd, State: port.LoopDone}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, next(tt.loop, tt.seen, noon)) })
	}
}

// TestReached: each bound is reached exactly at its value.
func TestReached(t *testing.T) {
	tests := []struct {
		name  string
		bound port.LoopBounds
		under port.LoopUsed
		at    port.LoopUsed
		early time.Duration // before now, for bounds in time
		want  port.LoopReason
	}{
		{"tokens", port.LoopBounds{Tokens: 10}, port.LoopUsed{Tokens: 9}, port.LoopUsed{Tokens: 10}, 0, port.BoundTokens},
		{"cost", port.LoopBounds{Cost: 1}, port.LoopUsed{Cost: 0.99}, port.LoopUsed{Cost: 1}, 0, port.BoundCost},
		{"an unknown price", port.LoopBounds{Cost: 1}, port.LoopUsed{}, port.LoopUsed{Unpriced: true}, 0, port.BoundCost},
		{"minutes", port.LoopBounds{Minutes: 60}, port.LoopUsed{}, port.LoopUsed{}, time.Second, port.BoundMinutes},
		{"until", port.LoopBounds{Until: noon}, port.LoopUsed{}, port.LoopUsed{}, time.Second, port.BoundUntil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := Loop{Loop: port.Loop{Bounds: tt.bound, Used: tt.under, CreatedAt: noon.Add(-time.Hour)}}
			assert.Empty(t, l.reached(noon.Add(-tt.early)))
			l.Used = tt.at
			assert.Equal(t, tt.want, l.reached(noon))
		})
	}
	l := Loop{Loop: port.Loop{Bounds: port.LoopBounds{Cost: 1, NoCost: true}, Used: port.LoopUsed{Unpriced: true}}}
	assert.Empty(t, l.reached(noon))
}

// TestStableOutput: what changes without progress does not count.
func TestStableOutput(t *testing.T) {
	const a = "--- FAIL: TestX (0.03s)\n    /tmp/go-build12/x_test.go:7: at 12:01:02 got 0xc000123\nFAIL\tx\t0.412s\n"
	const b = "--- FAIL: TestX (0.41s)\n    /tmp/go-build99/x_test.go:7: at 13:44:59 got 0xc000456\nFAIL\tx\t1.2s\n"
	assert.NotEqual(t, stable(a), stable("--- FAIL: TestY (0.03s)"))
	assert.Equal(t, len(stable(a)), len(stable(b)))
	var l Loop
	for i, want := range []int{0, 1, 2, 3} {
		l.noteResult(port.CheckResult{Exit: 1, Print: "same"})
		assert.Equal(t, want, l.Repeats, i)
	}
	l.noteResult(port.CheckResult{Exit: 1, Print: "other"})
	assert.Zero(t, l.Repeats)
	assert.Equal(t, []int{maxRepeats, maxEqualOutputs}, []int{mostRepeats("same"), mostRepeats(ofOutput + "same")})
}
