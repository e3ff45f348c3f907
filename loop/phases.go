package loop

import (
	"errors"
	"slices"
	"strings"

	"ccbot/port"
	"ccbot/port/talk"
)

// ErrBadPhase is returned for a phase whose prompt could not be sent.
var ErrBadPhase = errors.New("the prompt of a phase is blank, or a command: it has to be a text")

// phases are the phases that a file may have; a loop of one phase has none.
var phases = []port.LoopPhase{"", port.PhasePlan, port.PhaseImplement, port.PhaseFix, port.PhaseDone}

// validPhases returns why the prompts of phases cannot be sent.
func validPhases(p port.LoopPhases) error {
	for _, text := range []string{p.Plan, p.Implement, p.Fix, p.Done} {
		if _, class, ok := talk.Normalise(text); text != "" && (!ok || class != talk.ClassPlain) {
			return ErrBadPhase
		}
	}
	return nil
}

// firstPhase is the phase with which a loop begins.
func firstPhase(p port.LoopPhases) port.LoopPhase {
	switch {
	case p == (port.LoopPhases{}):
		return ""
	case p.Plan != "":
		return port.PhasePlan
	}
	return port.PhaseImplement
}

// afterCheck is the phase after a check that has not ended the loop.
func (l *Loop) afterCheck(passed bool) port.LoopPhase {
	switch {
	case l.Phase == "":
		return ""
	case passed:
		return port.PhaseDone
	}
	return port.PhaseFix
}

// endsDone reports whether a successful check ends the loop: no prompt of the last phase is due.
func (l *Loop) endsDone() bool { return l.Phases.Done == "" || l.Phase == port.PhaseDone }

// unsentEnd reports whether only the prompt of the last phase was not sent, after a successful
// check.
func (l *Loop) unsentEnd() bool { return l.Phase == port.PhaseDone && l.Attempt == 1 }

// headed puts the prompt of the present phase above the text that it is about.
func (l *Loop) headed(text string) string {
	own := map[port.LoopPhase]string{port.PhasePlan: l.Phases.Plan, port.PhaseImplement: l.Phases.Implement, port.PhaseFix: l.Phases.Fix,
		port.PhaseDone: l.Phases.Done}[l.Phase]
	switch {
	case own == "":
		return text
	case l.Phase == port.PhaseFix:
		return strings.TrimSpace(own) + "\n\n" + text
	}
	return strings.TrimSpace(own) + "\n\nThe task:\n\n" + text
}

// isPhase reports whether this version knows a phase.
func isPhase(s port.LoopPhase) bool { return slices.Contains(phases, s) }
