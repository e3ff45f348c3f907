package attention

import (
	"strings"

	"ccbot/bot/chat"
	"ccbot/i18n"
	"ccbot/port"
)

// Loop returns the line about a loop in the texts about its session: "Loop: 3 of 20, last check
// failed"; empty for nil.
func Loop(p chat.Phrases, l *port.Loop) string {
	if l == nil {
		return ""
	}
	return p.Say(i18n.LoopLine, i18n.Args{"Details": LoopDetails(p, *l)})
}

// Scheduled returns the line about a session's next scheduled prompt; empty if there is none.
func Scheduled(p chat.Phrases, r port.Session) string {
	if r.Scheduled.IsZero() {
		return ""
	}
	return p.Say(i18n.ScheduleLine, i18n.Args{"At": p.Moment(r.Scheduled)})
}

// LoopDetails returns the details of a loop in a line.
func LoopDetails(p chat.Phrases, l port.Loop) string {
	var all []string
	if l.State != port.LoopRunning || l.Reason == port.HeldBudget {
		all = append(all, LoopState(p, l))
	}
	if turn := max(1, l.Used.Turns); l.Bounds.Turns > 0 {
		all = append(all, p.Say(i18n.LoopOf, i18n.Args{"Used": turn, "Most": l.Bounds.Turns}))
	} else {
		all = append(all, LoopTurn(p, l))
	}
	if phase := LoopPhase(p, l); phase != "" {
		all = append(all, phase)
	}
	switch {
	case l.Last == nil || l.State == port.LoopDone:
	case l.Last.Exit == 0:
		all = append(all, p.Say(i18n.LoopCheckPassed))
	default:
		all = append(all, p.Say(i18n.LoopCheckFailed))
	}
	return strings.Join(all, p.Say(i18n.JoinParts))
}

// LoopReason returns why a loop is paused or has ended, in a sentence with what to do; empty: it is
// neither, or that says its state.
func LoopReason(p chat.Phrases, l port.Loop) string {
	ended := l.State == port.LoopStopped || l.State == port.LoopOrphaned
	if l.Reason == "" || l.State.Moves() || ended && l.Reason != port.WhyNoWorktree {
		return ""
	}
	return p.Say(i18n.LoopKey.Of(string(l.Reason)), i18n.Args{"Detail": chat.FailureText(l.Detail)})
}

// LoopState returns what a loop does now, or how it has ended.
func LoopState(p chat.Phrases, l port.Loop) string {
	switch {
	case l.State == port.LoopRunning && l.Reason == port.HeldBudget:
		return p.Say(i18n.LoopNowKey.Of(string(l.Reason)))
	case l.State == port.LoopRunning:
		return p.Say(i18n.LoopNowKey.Of(string(l.Step)))
	}
	return p.Say(i18n.LoopNowKey.Of(string(l.State)))
}

// LoopPhase returns the name of a live loop's phase; empty: the loop has one phase, or has ended.
func LoopPhase(p chat.Phrases, l port.Loop) string {
	if l.Phase == "" || !l.State.Live() {
		return ""
	}
	return p.Say(i18n.StageKey.Of(string(l.Now())))
}

// LoopTurn returns the number of a loop's turn, and the limit of turns.
func LoopTurn(p chat.Phrases, l port.Loop) string {
	turn := max(1, l.Used.Turns)
	if l.Bounds.Turns == 0 {
		return p.Say(i18n.LoopTurn, i18n.Args{"Turn": turn})
	}
	return p.Say(i18n.LoopTurnOf, i18n.Args{"Turn": turn, "Most": l.Bounds.Turns})
}
