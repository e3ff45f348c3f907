package i18n

import "strings"

//go:generate go test -count=1 -run ^TestKeysAreThoseOfTheCatalogue$ . -args -write

// Key names one sentence. Each sentence of locales/en.json that the program names has a constant in
// keys_gen.go, with the names of its blanks behind it. The keys of the others are made of codes.
type Key string

// Codes is how the keys begin that are made of one kind of codes.
type Codes string

// The kinds of codes, each with an example.
const (
	SaidKey     Codes = "said_"       // what a rule has changed: recovery.mark_lost
	StepsKey    Codes = "steps_"      // where the steps of a turn are shown: card
	WeekdayKey  Codes = "weekday_"    // a day of the week, 0 is Sunday
	MenuKey     Codes = "menu_"       // a command's line in the menu: new
	StateKey    Codes = "state_"      // a session's state: running
	CountKey    Codes = "count_"      // how many sessions are in a state: lost
	PhaseKey    Codes = "phase_"      // an agent's phase: waiting_answer
	LimitKey    Codes = "limit_"      // the time over which a limit counts: week
	HowKey      Codes = "how_"        // that a process has ended, and how: term
	ReasonKey   Codes = "reason_"     // why a process was left alone: tmux
	FailureKey  Codes = "failure_"    // what an end could not prove: survived
	SourceKey   Codes = "source_"     // what a writer was recognised by: hook
	FaultKey    Codes = "fault_"      // what is wrong with a transcript: nul
	SystemKey   Codes = "system_"     // a fault of the machine: disk_full
	AnswererKey Codes = "answers_by_" // what else answers permission requests: rules
	ModeKey     Codes = "mode_"       // a permission mode: plan
	HealthKey   Codes = "health_"     // what is wrong with ccbot: see internal/health
	SwitchedKey Codes = "switched_"   // what came of a wish for a mode or a model that was not done: unread
)

// Of is the key of a code.
func (c Codes) Of(code string) Key { return Key(string(c) + strings.ReplaceAll(code, ".", "_")) }
