package i18n

import "strings"

//go:generate go test -count=1 -run ^TestKeysAreThoseOfTheCatalogue$ . -args -write

// Key names one sentence. Each sentence of locales/en.json that the program names has a constant in
// keys_gen.go, followed by the names of its blanks. The keys of the others are made of codes.
type Key string

// Codes is the prefix of the keys for one kind of codes.
type Codes string

// The kinds of codes, each with an example.
const (
	ChangeKey   Codes = "said_"        // the change by a rule: recovery.mark_lost
	StepsKey    Codes = "steps_"       // the place of a turn's steps: card
	WeekdayKey  Codes = "weekday_"     // a day of the week, 0 is Sunday
	MenuKey     Codes = "menu_"        // a command's line in the menu: new
	StateKey    Codes = "state_"       // a session's state: running
	CountKey    Codes = "count_"       // how many sessions are in a state: lost
	PhaseKey    Codes = "phase_"       // an agent's phase: waiting_answer
	LimitKey    Codes = "limit_"       // the time over which a limit counts: week
	HowKey      Codes = "how_"         // that a process has ended, and how: term
	ReasonKey   Codes = "reason_"      // why a process was left alone: tmux
	FailureKey  Codes = "failure_"     // the missing proof of an end: survived
	SourceKey   Codes = "source_"      // the source that recognized a writer: hook
	FaultKey    Codes = "fault_"       // a fault of a transcript: nul
	SystemKey   Codes = "system_"      // a fault of the machine: disk_full
	UnfitKey    Codes = "agent_unfit_" // why ccbot cannot operate an agent: old
	CauseKey    Codes = "cause_"       // an error of the system, in a sentence: disk_full
	RefusedKey  Codes = "refused_"     // how many updates of a kind were refused: message
	AnswererKey Codes = "answers_by_"  // another answerer of permission requests: rules
	ModeKey     Codes = "mode_"        // a permission mode: plan
	HealthKey   Codes = "health_"      // a fault of ccbot: see internal/health
	AgeKey      Codes = "age_"         // a duration's unit: minutes
	FormatKey   Codes = "format_"      // the form of a number or time: see format.go
	BudgetKey   Codes = "budget_of_"   // what a cap is for: session
	LoopKey     Codes = "loop_why_"    // why a loop is paused or has ended: max_turns
	StageKey    Codes = "loop_phase_"  // the phase of a loop: fix
	LoopNowKey  Codes = "loop_now_"    // what a loop does, or how it has ended: check
	ScheduleKey Codes = "skip_why_"    // why a scheduled prompt was skipped, or a schedule has ended: busy
	SwitchedKey Codes = "switched_"    // the reason why a mode or model was not changed: unread
)

// Of is the key of a code.
func (c Codes) Of(code string) Key { return Key(string(c) + strings.ReplaceAll(code, ".", "_")) }
