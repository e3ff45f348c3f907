package port

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
)

// Loops runs loops: each prompts a session again and again until a command succeeds.
type Loops interface {
	// Start begins a loop. With the key of an earlier call it returns the loop of that call. Errors:
	// refusal.LoopHeld if another loop has the session or the feature, refusal.NoAgent.
	Start(ctx context.Context, q LoopRequest) (Loop, error)
	// All returns all loops, the newest last.
	All(ctx context.Context) ([]Loop, error)
	// Change carries out a person's decision. refusal.Changed: the loop's state does not allow it.
	Change(ctx context.Context, c LoopChange) (Loop, error)
}

// LoopRequest is the loop that a person wants.
type LoopRequest struct {
	Key     uuid.UUID  `json:"key"` // of the request: it starts one loop
	Session uuid.UUID  `json:"session_id"`
	Feature string     `json:"feature,omitempty"` // empty: the branch
	Task    string     `json:"task"`
	Check   string     `json:"check"`
	Bounds  LoopBounds `json:"bounds"`
	LoopTerms
	Phases   LoopPhases  `json:"phases,omitzero"`
	Template *LoopSource `json:"template,omitempty"` // that the rest was copied from; nil: none
	// Worktree makes the loop work in a new git worktree, in a new session like Session.
	Worktree bool  `json:"worktree,omitempty"`
	By       int64 `json:"by,omitempty"` // the person in the chat; 0: a person at the desk
}

// LoopWorktree is the git worktree of a loop. It is removed after the end of the loop and of its
// session, if nothing in it would be lost.
type LoopWorktree struct {
	From    uuid.UUID `json:"from"`            // the session that the loop was started for
	Dir     string    `json:"dir,omitempty"`   // its top folder; empty: it is not made yet
	Stays   string    `json:"stays,omitempty"` // a folders.Work, or the error of its removal
	Removed bool      `json:"removed,omitempty"`
}

// LoopTerms is what a loop needs in addition to its check to be done.
type LoopTerms struct {
	StopWord string `json:"stop_word,omitempty"` // alone in a line of the last answer; empty: none
	ToDo     bool   `json:"todo,omitempty"`      // the agent's to-do list has an item, and each is completed
}

// LoopChange is a person's decision about a loop.
type LoopChange struct {
	Loop uuid.UUID `json:"loop_id"`
	// Session is the session of the loop, or an earlier one. It names the machine.
	Session uuid.UUID `json:"session_id,omitzero"`
	Do      LoopDo    `json:"do"`
	// More is added to the bounds by LoopRaise. A loop that a bound has ended continues with it; a
	// paused one stays paused. Until counts as the new end time.
	More LoopBounds `json:"more,omitzero"`
	// By is the person in the chat, who owns the loop after LoopResume or LoopRaise; 0: a person at the
	// desk.
	By int64 `json:"by,omitempty"`
	// Barred is the reason of LoopPause: the loop's person or place is no longer allowed. LoopResume with it resumes only a loop that
	// was paused for that.
	Barred bool `json:"barred,omitempty"`
}

// LoopDo is a kind of decision about a loop.
type LoopDo string

// The decisions. The turn that runs is not interrupted.
const (
	LoopPause  LoopDo = "pause"
	LoopResume LoopDo = "resume"
	LoopStop   LoopDo = "stop"
	LoopRaise  LoopDo = "raise"
)

// LoopState is the state of a loop.
type LoopState string

// The states. The first three are live.
const (
	LoopRunning   LoopState = "running"
	LoopWaiting   LoopState = "waiting"   // for the end of the account's limit
	LoopPaused    LoopState = "paused"    // until a person resumes it
	LoopDone      LoopState = "done"      // the check has succeeded
	LoopExhausted LoopState = "exhausted" // a bound was reached
	LoopStopped   LoopState = "stopped"   // by a person, or before it began
	LoopOrphaned  LoopState = "orphaned"  // its session has ended
)

// Live reports whether the loop has not ended.
func (s LoopState) Live() bool { return s.Moves() || s == LoopPaused }

// Moves reports whether the loop continues by itself.
func (s LoopState) Moves() bool { return s == LoopRunning || s == LoopWaiting }

// LoopStep is the step of an iteration.
type LoopStep string

// The steps.
const (
	LoopAsk   LoopStep = "ask"   // the prompt's key is on disk; the prompt may be queued
	LoopTurn  LoopStep = "turn"  // the prompt is queued, and its turn has not ended
	LoopCheck LoopStep = "check" // the turn has ended; the check runs, or has to run
)

// LoopReason is the reason of a pause or an end, or the reached bound.
type LoopReason string

// The reasons.
const (
	WhyPerson       LoopReason = "person"        // a person has asked for the pause or the end
	WhyPersonActed  LoopReason = "person_acted"  // a person has used the session
	WhyBarred       LoopReason = "not_allowed"   // the loop's person, or the place of the session
	WhyInterrupted  LoopReason = "interrupted"   // the turn was interrupted, as with Esc in the terminal
	WhyDialog       LoopReason = "dialog"        // the agent asks for something
	WhyAPIError     LoopReason = "api_error"     // a request failed, or the account is not accepted
	WhySessionLost  LoopReason = "session_lost"  // its window or its agent is gone
	WhySessionEnded LoopReason = "session_ended" // on purpose
	WhyCrashed      LoopReason = "agent_crashed"
	WhyNoFolder     LoopReason = "folder_missing"   // of the session
	WhyTreeHeld     LoopReason = "folder_held"      // the agent has moved into the work tree of another loop; Detail names its session
	WhyElsewhere    LoopReason = "folder_elsewhere" // the agent works in Detail, which is no work tree of the repository of its start
	WhyUnproven     LoopReason = "prompt_unproven"  // it is not known whether the agent has the prompt
	WhyWithdrawn    LoopReason = "prompt_withdrawn"
	WhyAway         LoopReason = "away"              // ccbot was away for longer than a loop may continue unasked
	WhyNoEnd        LoopReason = "turn_end_not_seen" // the agent is idle, and its turn has no end
	WhyNoProgress   LoopReason = "no_progress"
	WhyCheckStays   LoopReason = "check_not_ended" // a process of the check is not proven gone
	WhyCheckNotRun  LoopReason = "check_not_run"   // the check could not be started
	WhyCheckCut     LoopReason = "check_cut"       // ccbot has ended several times while the check ran
	WhyNoWorktree   LoopReason = "worktree_not_made"
	BoundTurns      LoopReason = "max_turns"
	BoundTokens     LoopReason = "max_tokens"
	BoundCost       LoopReason = "max_cost"
	BoundMinutes    LoopReason = "max_minutes"
	BoundUntil      LoopReason = "until"
	// HeldBudget is the reason for which the prompt of a loop that moves is not typed.
	HeldBudget LoopReason = "budget"
)

// LoopBounds end a loop. Zero fields do not count; a loop has at least one bound.
type LoopBounds struct {
	Turns   int       `json:"turns,omitempty"`
	Tokens  int64     `json:"tokens,omitempty"`
	Cost    float64   `json:"cost,omitempty"` // in dollars, at list prices
	Minutes int       `json:"minutes,omitempty"`
	Until   time.Time `json:"until,omitzero"`
	// NoCost makes an answer without a known price count as free. Without it such an answer counts
	// as more than Cost.
	NoCost bool `json:"no_cost,omitempty"`
}

// Empty reports whether there is no bound.
func (b LoopBounds) Empty() bool {
	return b.Turns <= 0 && b.Tokens <= 0 && b.Cost <= 0 && b.Minutes <= 0 && b.Until.IsZero()
}

// Or returns the bounds, and those of other for the kinds that b does not have.
func (b LoopBounds) Or(other LoopBounds) LoopBounds {
	if b.Until.IsZero() {
		b.Until = other.Until
	}
	return LoopBounds{Turns: cmp.Or(b.Turns, other.Turns), Tokens: cmp.Or(b.Tokens, other.Tokens), Cost: cmp.Or(b.Cost, other.Cost),
		Minutes: cmp.Or(b.Minutes, other.Minutes), Until: b.Until, NoCost: b.NoCost || other.NoCost}
}

// MostLoopBounds has the highest bound of each kind. A much higher one would overflow.
var MostLoopBounds = LoopBounds{Turns: 1_000_000, Tokens: 1_000_000_000_000, Cost: 1_000_000, Minutes: 1_000_000}

// Possible reports whether each bound is a number between zero and the highest one.
func (b LoopBounds) Possible() bool {
	most := MostLoopBounds
	return b.Turns >= 0 && b.Turns <= most.Turns && b.Tokens >= 0 && b.Tokens <= most.Tokens &&
		b.Cost >= 0 && b.Cost <= most.Cost && b.Minutes >= 0 && b.Minutes <= most.Minutes
}

// LoopUsed is the use of a loop.
type LoopUsed struct {
	Turns    int     `json:"turns"`
	Tokens   int64   `json:"tokens"`
	Cost     float64 `json:"cost"` // in dollars, at list prices
	Unpriced bool    `json:"unpriced,omitempty"`
}

// CheckResult is the result of a check.
type CheckResult struct {
	Iteration int           `json:"iteration"`
	Exit      int           `json:"exit"` // -1: it was ended by a signal, or took too long
	Tail      string        `json:"tail"` // the end of its output
	At        time.Time     `json:"at"`
	Took      time.Duration `json:"took"`
	Commit    string        `json:"commit,omitempty"` // checked out after the turn; empty: unknown
	// Print identifies the output and, where it is known, the content of the work tree; empty: it proves nothing.
	Print string `json:"print,omitempty"`
}

// Loop describes one loop.
type Loop struct {
	ID      uuid.UUID `json:"id"`
	Session uuid.UUID `json:"session"`
	Name    string    `json:"name"`              // of the session, when the loop began
	Repo    string    `json:"repo"`              // top folder, or the session's folder
	Feature string    `json:"feature,omitempty"` // empty: no branch is checked out
	Commit  string    `json:"commit,omitempty"`  // checked out when it began; empty: unknown
	// Baseline is the folders.Since of the work tree when it began; empty: unknown.
	Baseline string `json:"baseline,omitempty"`
	Task     string `json:"task"`
	Check    string `json:"check"` // for /bin/sh
	LoopTerms
	Phases LoopPhases `json:"phases,omitzero"`
	// Phase is the phase whose prompt is sent next, or was sent last; empty: the loop has one phase.
	Phase    LoopPhase   `json:"phase,omitempty"`
	Template *LoopSource `json:"template,omitempty"` // never changed; nil: none
	// Worktree is nil if the loop works in the folder of the session that it was started for. While
	// it is being made, Session is that session.
	Worktree  *LoopWorktree `json:"worktree,omitempty"`
	Bounds    LoopBounds    `json:"bounds"`
	State     LoopState     `json:"state"`
	Reason    LoopReason    `json:"reason,omitempty"`
	Detail    string        `json:"detail,omitempty"` // of Reason, in English or as the agent shows it
	Until     time.Time     `json:"until,omitzero"`   // the end of LoopWaiting
	Step      LoopStep      `json:"step"`
	Iteration int           `json:"iteration"` // from 1
	Attempt   int           `json:"attempt"`   // of the iteration's prompt, from 1
	Used      LoopUsed      `json:"used"`
	Last      *CheckResult  `json:"last,omitempty"` // never changed
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`
	By        int64         `json:"by,omitempty"` // the person in the chat whose loop it is; 0: a person at the desk, or unknown
}
