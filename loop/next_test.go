package loop

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle/outcome"
	"ccbot/port/talk"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// TestNext is the whole rule.
func TestNext(t *testing.T) {
	base := Loop{ID: uuid.New(), State: Running, Phase: Ask, Iteration: 2, Attempt: 1, Bounds: Bounds{Turns: 5}, CreatedAt: noon.Add(-time.Hour)}
	with := func(change func(l *Loop)) Loop { l := base.Clone(); change(&l); return l }
	in := func(p Phase, more ...func(l *Loop)) Loop {
		return with(func(l *Loop) {
			l.Phase = p
			for _, change := range more {
				change(l)
			}
		})
	}
	late := func(l *Loop) { l.Bounds.Until = noon }
	resumed := func(l *Loop) { l.Resumed = true }
	esc := func(l *Loop) { l.Esc = BoundCost }
	idle := seen{Known: true, State: session.Running, Now: talk.Activity{Phase: talk.PhaseIdle}}
	turn := func(k outcome.Kind) seen { s := idle; s.Turn.Kind = k; return s }
	of := func(state session.State) seen { s := idle; s.State = state; return s }
	doing := func(a talk.Activity) seen { s := idle; s.Now = a; return s }
	failed := func(f transcript.Failure) seen { s := turn(outcome.Failed); s.Turn.Failure = f; return s }
	limit := transcript.Failure{Kind: transcript.FailedLimit, Until: noon.Add(time.Hour)}
	checked := func(exit int) func(l *Loop) { return func(l *Loop) { l.Last = &Result{Iteration: 2, Exit: exit} } }
	tests := []struct {
		name string
		loop Loop
		seen seen
		want act
	}{
		{"paused", with(func(l *Loop) { l.State = Paused }), idle, act{}},
		{"done", with(func(l *Loop) { l.State = Done }), seen{}, act{}},
		{"its session is forgotten", base, seen{}, act{Do: doEnd, State: Orphaned, Reason: EndedSession}},
		{"its session was archived", base, seen{Known: true, State: session.Archived, Ended: noon}, act{Do: doPause, Reason: EndedSession, Detail: "archived"}},
		{"archived, paused, in the grace", with(func(l *Loop) { l.State = Paused }), seen{Known: true, State: session.Archived, Ended: noon.Add(-time.Minute)}, act{}},
		{"archived, paused, after the grace", with(func(l *Loop) { l.State = Paused }), seen{Known: true, State: session.Archived, Ended: noon.Add(-time.Hour)}, act{Do: doEnd, State: Orphaned, Reason: EndedSession}},
		{"its session is lost", base, of(session.Lost), act{Do: doPause, Reason: LostSession, Detail: "lost"}},
		{"lost and paused stays so", with(func(l *Loop) { l.State = Paused }), seen{Known: true, State: session.Lost}, act{}},

		{"ask", base, idle, act{Do: doKeep}},
		{"ask while a person's turn runs", base, doing(talk.Activity{Phase: talk.PhaseWorking}), act{Do: doKeep}},
		{"ask while it comes back", base, of(session.Restoring), act{}},
		{"ask at a dialog", base, doing(talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}), act{Do: doPause, Reason: OpenDialog, Detail: "Bash"}},
		{"ask when logged out", base, doing(talk.Activity{Phase: talk.PhaseLoggedOut}), act{Do: doPause, Reason: APIError}},
		{"ask at a limit", base, doing(talk.Activity{Phase: talk.PhaseLimited, Until: noon.Add(time.Hour)}), act{Do: doWait, Until: noon.Add(time.Hour + afterLimit)}},
		{"ask after all turns", with(func(l *Loop) { l.Used.Turns = 5 }), idle, act{Do: doEnd, State: Exhausted, Reason: BoundTurns}},
		{"ask too late", in(Ask, late), idle, act{Do: doEnd, State: Exhausted, Reason: BoundUntil}},
		{"waiting", with(func(l *Loop) { l.State, l.Until = Waiting, noon.Add(time.Second) }), idle, act{}},
		{"waiting at a bound", in(Ask, late, func(l *Loop) { l.State, l.Until = Waiting, noon.Add(time.Hour) }), idle, act{Do: doEnd, State: Exhausted, Reason: BoundUntil}},
		{"waited", with(func(l *Loop) { l.State, l.Until = Waiting, noon }), idle, act{Do: doKeep}},

		{"the turn runs", in(Turn), turn(outcome.Open), act{}},
		{"answered", in(Turn), turn(outcome.Answered), act{Do: doTurnOver}},
		{"answered too late", in(Turn, late), turn(outcome.Answered), act{Do: doTurnOver}},
		{"answered, and a person has typed", in(Turn), seen{Known: true, State: session.Running, Turn: outcome.Outcome{Kind: outcome.Answered, Others: true}}, act{Do: doPause, Reason: PersonActed, Detail: "a prompt in the terminal"}},
		{"and was resumed", in(Turn, resumed), seen{Known: true, State: session.Running, Turn: outcome.Outcome{Kind: outcome.Answered, Others: true}}, act{Do: doTurnOver}},
		{"too late in the turn", in(Turn, late), turn(outcome.Open), act{Do: doEsc, Reason: BoundUntil}},
		{"Esc is pressed once", in(Turn, late, esc), seen{Known: true, State: session.Running, Pressed: true}, act{}},
		{"Esc of an earlier run", in(Turn, late, esc), turn(outcome.Open), act{Do: doEsc, Reason: BoundUntil}},
		{"too late, and a dialog is open", in(Turn, late), turn(outcome.Asks), act{Do: doPause, Reason: OpenDialog}},
		{"stopped by a bound", in(Turn, late, esc), turn(outcome.Stopped), act{Do: doEnd, State: Exhausted, Reason: BoundCost}},
		{"stopped by a person", in(Turn), turn(outcome.Stopped), act{Do: doPause, Reason: Interrupted}},
		{"stopped, and resumed", in(Turn, resumed), turn(outcome.Stopped), act{Do: doAgain}},
		{"failed", in(Turn), failed(transcript.Failure{Text: "500"}), act{Do: doPause, Reason: APIError, Detail: "500"}},
		{"at a limit", in(Turn), failed(limit), act{Do: doWait, Until: limit.Until.Add(afterLimit)}},
		{"at a limit without an end", in(Turn), failed(transcript.Failure{Kind: transcript.FailedLimit}), act{Do: doWait, Until: noon.Add(unknownLimit + afterLimit)}},
		{"unproven", in(Turn), turn(outcome.Unproven), act{Do: doPause, Reason: NotProven}},
		{"unproven, and resumed", in(Turn, resumed), turn(outcome.Unproven), act{Do: doPause, Reason: NotProven}},
		{"withdrawn", in(Turn), turn(outcome.Withdrawn), act{Do: doPause, Reason: NotSent}},
		{"no end is seen", in(Turn), turn(outcome.IdleAgain), act{Do: doPause, Reason: NoEnd}},
		{"its agent asks", in(Turn), turn(outcome.Asks), act{Do: doPause, Reason: OpenDialog}},

		{"no result", in(Check), idle, act{Do: doCheck}},
		{"the result of an earlier iteration", in(Check, func(l *Loop) { l.Last = &Result{Iteration: 1} }), idle, act{Do: doCheck}},
		{"it succeeds", in(Check, checked(0)), idle, act{Do: doEnd, State: Done}},
		{"it fails", in(Check, checked(2)), idle, act{Do: doIterate}},
		{"it fails in the same way", in(Check, checked(2), func(l *Loop) { l.Repeats = maxRepeats }), idle, act{Do: doPause, Reason: NoProgress}},
		{"it succeeds too late", in(Check, checked(0), late), idle, act{Do: doEnd, State: Done}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, next(tt.loop, tt.seen, noon)) })
	}
}

// TestReached: each bound is reached exactly at its value.
func TestReached(t *testing.T) {
	tests := []struct {
		name  string
		bound Bounds
		under Used
		at    Used
		early time.Duration // before now, for bounds in time
		want  Reason
	}{
		{"tokens", Bounds{Tokens: 10}, Used{Tokens: 9}, Used{Tokens: 10}, 0, BoundTokens},
		{"cost", Bounds{Cost: 1}, Used{Cost: 0.99}, Used{Cost: 1}, 0, BoundCost},
		{"an unknown price", Bounds{Cost: 1}, Used{}, Used{Unpriced: true}, 0, BoundCost},
		{"minutes", Bounds{Minutes: 60}, Used{}, Used{}, time.Second, BoundMinutes},
		{"until", Bounds{Until: noon}, Used{}, Used{}, time.Second, BoundUntil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := Loop{Bounds: tt.bound, Used: tt.under, CreatedAt: noon.Add(-time.Hour)}
			assert.Empty(t, l.reached(noon.Add(-tt.early)))
			l.Used = tt.at
			assert.Equal(t, tt.want, l.reached(noon))
		})
	}
	l := Loop{Bounds: Bounds{Cost: 1, NoCost: true}, Used: Used{Unpriced: true}}
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
		l.noteResult(Result{Exit: 1, Print: "same"})
		assert.Equal(t, want, l.Repeats, i)
	}
	l.noteResult(Result{Exit: 1, Print: "other"})
	assert.Zero(t, l.Repeats)
	l.noteResult(Result{Exit: 1})
	assert.Zero(t, l.Repeats, "without a known tree there is no standstill")
}
