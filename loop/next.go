package loop

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
)

// seen is the state around a loop at one time.
type seen struct {
	Known bool          // false: the session was forgotten
	State session.State // of the session
	Ended time.Time     // when it ended; zero: unknown
	Now   talk.Activity // of its agent
	Turn  outcome.Outcome
	// Completed means that the agent's to-do list has items, and all of them are completed.
	Completed bool
	// Kept means that the prompt of the loop was kept, although the step is LoopAsk: the save after it
	// failed, or a crash came before it.
	Kept    bool
	Crashed bool // the session has ended because its agent has crashed
	Spent   bool // the session's budget is used up: no prompt is typed
	// Missing is the folder of the session if it does not exist any more.
	Missing string
	// Tree is the name of the session whose loop has the work tree that the agent has moved into.
	Tree string
	// Elsewhere is the folder in which the agent works, if no check runs there.
	Elsewhere string
	// Pressed means that this run of ccbot has pressed Esc in the present turn.
	Pressed bool
}

func sessionOf(r session.Record, known bool) seen {
	open := slices.ContainsFunc(r.Progress.Tasks, func(t port.Task) bool { return t.Status != "completed" })
	crashed := r.Exit != nil && r.Exit.Crashed() && (r.State == session.Stopping || r.State == session.Completed)
	return seen{Known: known, State: r.State, Ended: r.EndedAt, Crashed: crashed, Spent: r.Budget.State == port.BudgetSpent, Now: view.Noted(r), Completed: len(r.Progress.Tasks) > 0 && !open}
}

// do is the next step of a Keeper.
type do string

const (
	doNothing do = ""      // wait
	doKeep    do = "keep"  // queue the prompt; then the step is LoopTurn
	doEsc     do = "esc"   // interrupt the turn
	doCheck   do = "check" // run the check
	// The others only change the loop's file.
	doTurnOver do = "turn_over" // the step is LoopCheck
	doAgain    do = "again"     // another attempt of the same iteration
	doRuns     do = "runs"      // the turn runs after a resume or a limit
	doHeld     do = "held"      // the reason for which the prompt is not typed, or none any more
	doPlanned  do = "planned"   // the plan is made, and is implemented next
	doIterate  do = "iterate"
	doWait     do = "wait" // for the end of a limit
	doPause    do = "pause"
	doEnd      do = "end"
)

// act is one decision.
type act struct {
	Do     do
	State  port.LoopState // of doEnd
	Reason port.LoopReason
	Detail string
	Until  time.Time // of doWait
	Said   bool      // of doTurnOver: the answer has the stop word
	Works  bool      // of doRuns: the agent works
	Passed bool      // of doIterate: the last phase follows
}

const (
	// maxRepeats limits the failed checks in a row that found the same as an earlier one.
	maxRepeats = 3
	// maxEqualOutputs takes its place where no work tree is known: equal outputs alone prove less.
	maxEqualOutputs = 10
	// maxCuts limits the runs of a check during which ccbot has ended: the check may be the reason.
	maxCuts = 5
	// orphanGrace is how long a loop stays paused after the end of its session.
	orphanGrace = 10 * time.Minute
)

// personTyped is the pause after a prompt that is not the loop's.
var personTyped = act{Do: doPause, Reason: port.WhyPersonActed, Detail: "a prompt in the terminal"}

// next decides one step of a loop. It is pure.
func next(l Loop, s seen, now time.Time) act {
	if a := orphan(l, s, now); a.Do != doNothing || !l.State.Moves() {
		return a
	}
	switch at := l.reached(now); {
	case l.Step == port.LoopAsk && s.Kept && s.State == session.Running:
		return act{Do: doKeep} // and a bound ends the turn
	case l.Step == port.LoopAsk && s.Kept:
		return act{}
	case !l.waits(now):
	case at == "":
		return act{}
	case l.Step != port.LoopAsk:
		return act{Do: doEnd, State: port.LoopExhausted, Reason: at}
	}
	switch {
	case l.Step == port.LoopAsk:
		return l.nextPrompt(s, now)
	case l.Step == port.LoopTurn:
		return l.nextInTurn(s, now)
	}
	return l.nextCheck(s, now)
}

// orphan decides about a loop whose session has ended. A loop of a session that was ended on
// purpose waits for a while, because the person may bring the session back.
func orphan(l Loop, s seen, now time.Time) act {
	over := s.State.EndedOnPurpose() && !s.Crashed || s.State == session.Abandoned
	switch {
	case !l.State.Live() || s.Known && s.State.Open() || l.preparing():
		return act{}
	case !s.Known, over && !now.Before(s.Ended.Add(orphanGrace)):
		return act{Do: doEnd, State: port.LoopOrphaned, Reason: port.WhySessionEnded}
	case !l.State.Moves() && !(s.Crashed && l.Reason == port.WhySessionEnded): // its exit was read late
		return act{}
	case s.Crashed: // it waits for as long as the session can be resumed
		return act{Do: doPause, Reason: port.WhyCrashed, Detail: string(s.State)}
	case over || s.State == session.Stopping:
		return act{Do: doPause, Reason: port.WhySessionEnded, Detail: string(s.State)}
	}
	return act{Do: doPause, Reason: port.WhySessionLost, Detail: string(s.State)}
}

// late returns the first bound in time that is reached.
func (l *Loop) late(now time.Time) port.LoopReason {
	b := l.Bounds
	switch {
	case !b.Until.IsZero() && !now.Before(b.Until):
		return port.BoundUntil
	case b.Minutes > 0 && !now.Before(l.CreatedAt.Add(time.Duration(b.Minutes)*time.Minute)):
		return port.BoundMinutes
	}
	return ""
}

// reached returns the first bound that is reached, except for the number of turns.
func (l *Loop) reached(now time.Time) port.LoopReason {
	b := l.Bounds
	switch at := l.late(now); {
	case at != "":
		return at
	case b.Tokens > 0 && l.Used.Tokens >= b.Tokens:
		return port.BoundTokens
	case b.Cost > 0 && (l.Used.Cost >= b.Cost || l.Used.Unpriced && !b.NoCost):
		return port.BoundCost
	}
	return ""
}

// waits reports whether the loop waits for the end of a limit.
func (l *Loop) waits(now time.Time) bool { return l.State == port.LoopWaiting && now.Before(l.Until) }

// looks reports whether a decision needs a look at a turn: the present one, or the last one, after
// which a person may have typed in the terminal.
func (l *Loop) looks(now time.Time) bool {
	switch l.Step {
	case port.LoopTurn:
		return l.State.Moves() && !l.waits(now) || l.Typed == nil
	case port.LoopCheck:
		return l.State.Moves() && l.Typed != nil && l.Last != nil && l.Last.Iteration == l.Iteration
	}
	return l.State.Moves() && l.Before != nil && !now.Before(l.Until)
}

func (l *Loop) nextPrompt(s seen, now time.Time) act {
	at := l.reached(now)
	if at == "" && l.Bounds.Turns > 0 && l.Used.Turns >= l.Bounds.Turns {
		at = port.BoundTurns
	}
	switch {
	case at != "" && l.unsentEnd():
		return act{Do: doEnd, State: port.LoopDone}
	case at != "":
		return act{Do: doEnd, State: port.LoopExhausted, Reason: at}
	case s.State != session.Running:
		return act{} // it starts, or comes back
	case s.Missing != "":
		return act{Do: doPause, Reason: port.WhyNoFolder, Detail: s.Missing}
	case s.Tree != "":
		return act{Do: doPause, Reason: port.WhyTreeHeld, Detail: s.Tree}
	case s.Elsewhere != "":
		return act{Do: doPause, Reason: port.WhyElsewhere, Detail: s.Elsewhere}
	case s.Now.Phase.Waiting():
		return act{Do: doPause, Reason: port.WhyDialog, Detail: s.Now.What}
	case s.Now.Phase == talk.PhaseLimited && s.Now.Until.After(now):
		return act{Do: doWait, Until: s.Now.Until.Add(talk.ContinuesWithin)}
	case s.Now.Phase == talk.PhaseLoggedOut:
		return act{Do: doPause, Reason: port.WhyAPIError, Detail: s.Now.What}
	case s.Turn.Others:
		return personTyped
	}
	return act{Do: doKeep}
}

// nextInTurn decides while a prompt is queued or its turn runs. An ended turn counts before a
// bound: the check of a finished turn costs nothing and may find the task done.
func (l *Loop) nextInTurn(s seen, now time.Time) act {
	failed := func(why port.LoopReason, detail string) act {
		switch {
		case l.Esc != "":
			return act{Do: doEnd, State: port.LoopExhausted, Reason: l.Esc}
		case l.Resumed && !l.Ran:
			return act{Do: doAgain}
		}
		return act{Do: doPause, Reason: why, Detail: detail}
	}
	switch o := s.Turn; o.Kind {
	case outcome.Answered, outcome.Textless, outcome.CommandDone:
		if o.Others && !l.Resumed {
			return personTyped
		}
		if l.Phase == port.PhasePlan {
			return act{Do: doPlanned}
		}
		return act{Do: doTurnOver, Said: l.StopWord != "" && says(o.Text, l.StopWord)}
	case outcome.Stopped:
		return failed(port.WhyInterrupted, "")
	case outcome.Failed:
		if !o.Failure.Until.IsZero() && l.Esc == "" {
			return l.nextAtLimit(s, now)
		}
		return failed(port.WhyAPIError, o.Failure.Text)
	case outcome.Withdrawn:
		return failed(port.WhyWithdrawn, "")
	case outcome.IdleAgain:
		if l.Resumed && !l.Worked { // the agent did not go on with the turn after the pause
			return act{Do: doAgain}
		}
		return failed(port.WhyNoEnd, "")
	case outcome.Unproven, outcome.Undecided:
		return act{Do: doPause, Reason: port.WhyUnproven}
	case outcome.Asks:
		return act{Do: doPause, Reason: port.WhyDialog, Detail: s.Now.What}
	case outcome.SessionEnded, outcome.AgentEnded:
		return act{Do: doPause, Reason: port.WhySessionLost, Detail: string(s.State)}
	}
	if at := l.reached(now); at != "" && !s.Pressed {
		return act{Do: doEsc, Reason: at}
	}
	works := s.Now.Phase == talk.PhaseWorking
	if l.State == port.LoopWaiting || l.Resumed && (!l.Ran || !l.Worked && works) {
		return act{Do: doRuns, Works: works}
	}
	held := port.LoopReason("")
	if s.Spent && l.Typed == nil {
		held = port.HeldBudget
	}
	if held != l.Reason {
		return act{Do: doHeld, Reason: held}
	}
	return act{}
}

// nextAtLimit decides about a turn that a limit has ended. At first the agent may continue it by
// itself.
func (l *Loop) nextAtLimit(s seen, now time.Time) act {
	until := s.Turn.Failure.Until
	switch {
	case s.Turn.Others && !l.Resumed:
		return personTyped
	case now.Before(until):
		return act{Do: doWait, Until: until}
	case now.Before(until.Add(talk.ContinuesWithin)), s.Now.Phase == talk.PhaseWorking:
		return act{}
	}
	return act{Do: doAgain}
}

func (l *Loop) nextCheck(s seen, now time.Time) act {
	last := l.Last
	if last == nil || last.Iteration != l.Iteration {
		switch at := l.late(now); {
		case at != "":
			return act{Do: doEnd, State: port.LoopExhausted, Reason: at}
		case l.Begun >= maxCuts:
			return act{Do: doPause, Reason: port.WhyCheckCut}
		case s.Missing != "":
			return act{Do: doPause, Reason: port.WhyNoFolder, Detail: s.Missing}
		case s.Tree != "":
			return act{Do: doPause, Reason: port.WhyTreeHeld, Detail: s.Tree}
		case s.Elsewhere != "":
			return act{Do: doPause, Reason: port.WhyElsewhere, Detail: s.Elsewhere}
		}
		return act{Do: doCheck}
	}
	missing := l.missing(s)
	passed := last.Exit == 0 && missing == ""
	switch {
	case passed && l.endsDone():
		return act{Do: doEnd, State: port.LoopDone}
	case s.Turn.Others:
		return personTyped
	case passed:
		return act{Do: doIterate, Passed: true}
	case l.Repeats >= mostRepeats(last.Print):
		return act{Do: doPause, Reason: port.WhyNoProgress}
	}
	return act{Do: doIterate, Detail: missing}
}

// apply changes a loop by a decision. It is pure.
func (l *Loop) apply(a act, now time.Time) {
	if l.Reason == port.HeldBudget {
		l.Reason = ""
	}
	switch a.Do {
	case doKeep:
		l.State, l.Until, l.Step = port.LoopRunning, time.Time{}, port.LoopTurn
		l.Used.Turns++
	case doEsc:
		l.Esc = cmp.Or(l.Esc, a.Reason)
	case doTurnOver:
		if l.Resumed {
			l.Typed = nil // prompts of the pause may be after it
		}
		l.State, l.Until, l.Step, l.Resumed, l.Ran, l.Worked, l.Begun = port.LoopRunning, time.Time{}, port.LoopCheck, false, false, false, 0
		l.Said = a.Said
	case doAgain:
		l.again()
	case doRuns:
		l.State, l.Until, l.Ran, l.Worked = port.LoopRunning, time.Time{}, l.Resumed, l.Resumed && a.Works
	case doHeld:
		l.Reason = a.Reason
	case doPlanned:
		if l.Resumed {
			l.Typed = nil // as in doTurnOver
		}
		l.State, l.Until, l.Phase, l.Attempt = port.LoopRunning, time.Time{}, port.PhaseImplement, 0
		l.again()
	case doIterate:
		l.Iteration, l.Attempt, l.Missing, l.Phase = l.Iteration+1, 0, a.Detail, l.afterCheck(a.Passed)
		l.again()
	case doWait:
		l.State, l.Until = port.LoopWaiting, a.Until.UTC()
	case doPause:
		l.State, l.Reason, l.Detail, l.Until = port.LoopPaused, a.Reason, a.Detail, time.Time{}
	case doEnd:
		l.State, l.Reason, l.Detail, l.Until = a.State, a.Reason, a.Detail, time.Time{}
	}
	l.UpdatedAt = now.UTC()
}

// again begins another attempt.
func (l *Loop) again() {
	l.Attempt++
	if l.Typed != nil && l.Typed.Mark != nil {
		l.Before = l.Typed
	}
	l.Step, l.Typed, l.Resumed, l.Ran, l.Worked, l.Esc = port.LoopAsk, nil, false, false, false, ""
}

// addBounds raises the bounds that the loop has: from the present use, if that is higher.
func (l *Loop) addBounds(more port.LoopBounds, now time.Time) {
	b, used, most := &l.Bounds, l.Used, port.MostLoopBounds
	past := int(math.Ceil(now.Sub(l.CreatedAt).Minutes()))
	b.Turns = raised(b.Turns, used.Turns, more.Turns, most.Turns)
	b.Tokens = raised(b.Tokens, used.Tokens, more.Tokens, most.Tokens)
	b.Cost = raised(b.Cost, used.Cost, more.Cost, most.Cost)
	b.Minutes = raised(b.Minutes, past, more.Minutes, most.Minutes)
	if !b.Until.IsZero() && more.Until.After(now) {
		b.Until = more.Until.UTC()
	}
	b.NoCost = b.NoCost || more.NoCost
}

// raised is one bound with more, up to the highest one. A bound that the loop does not have stays
// zero.
func raised[N int | int64 | float64](has, used, more, most N) N {
	if has <= 0 || !(more > 0) { // it may be no number
		return has
	}
	return min(min(max(has, used), most)+min(more, most), most)
}

// maxPrints bounds the prints that a loop keeps.
const maxPrints = 100

// ofOutput begins the print of a check whose work tree is unknown, as it is outside of git repositories.
const ofOutput = "output:"

// mostRepeats is the number of repeats of a print at which there is no progress.
func mostRepeats(print string) int {
	if strings.HasPrefix(print, ofOutput) {
		return maxEqualOutputs
	}
	return maxRepeats
}

// noteResult puts the result of a check into the loop.
func (l *Loop) noteResult(r port.CheckResult) {
	l.Last, l.Begun = &r, 0
	failed := r.Print != "" && (r.Exit != 0 || l.StopWord != "" || l.ToDo) // or it may be not enough
	before := l.Prints
	if strings.HasPrefix(r.Print, ofOutput) { // the one before alone: outputs may come and go
		before = before[max(0, len(before)-1):]
	}
	if failed && slices.Contains(before, r.Print) {
		l.Repeats++
	} else {
		l.Repeats = 0
	}
	if failed {
		l.Prints = append(l.Prints, r.Print)
		l.Prints = l.Prints[max(0, len(l.Prints)-maxPrints):]
	}
}
