package port

// LoopPhases are the prompts of a loop's phases. The zero value is a loop of one phase: the task
// again and again.
type LoopPhases struct {
	// Plan is sent first; its turn is not checked. Empty: the loop begins with Implement.
	Plan string `json:"plan,omitempty"`
	// Implement and Fix are above the task, and above the output of a failed check. Empty: only
	// these are sent.
	Implement string `json:"implement,omitempty"`
	Fix       string `json:"fix,omitempty"`
	// Done is sent after a successful check, and its turn is checked again. Empty: the loop ends.
	Done string `json:"done,omitempty"`
}

// LoopPhase is a phase of a loop.
type LoopPhase string

// The phases.
const (
	PhasePlan      LoopPhase = "plan"
	PhaseImplement LoopPhase = "implement"
	PhaseCheck     LoopPhase = "check"
	PhaseFix       LoopPhase = "fix"
	PhaseDone      LoopPhase = "done"
)

// Now is the present phase, also of a loop of one phase.
func (l Loop) Now() LoopPhase {
	switch {
	case l.State == LoopDone:
		return PhaseDone
	case l.Step == LoopCheck:
		return PhaseCheck
	case l.Phase != "":
		return l.Phase
	case l.Iteration > 1:
		return PhaseFix
	}
	return PhaseImplement
}
