package i18n

import "strings"

//go:generate go test -count=1 -run ^TestKeysAreThoseOfTheCatalogue$ . -args -write

// Key names one sentence. Each sentence of locales/en.json that the program names has a constant in
// keys_gen.go, with the names of its blanks behind it. The functions below make a key from a code, such
// as a session's state.
type Key string

// SaidKey is the key of the sentence about a change by a rule, such as "recovery.mark_lost".
func SaidKey(rule string) Key { return Key("said_" + strings.ReplaceAll(rule, ".", "_")) }

// StepsKey is the key of where the steps of a turn are shown, such as "card".
func StepsKey(where string) Key { return Key("steps_" + where) }

// MenuKey is the key of a command's line in the menu, such as "new".
func MenuKey(command string) Key { return Key("menu_" + command) }

// StateKey is the key of a session's state, such as "running".
func StateKey(state string) Key { return Key("state_" + state) }

// PhaseKey is the key of an agent's phase, such as "waiting_answer".
func PhaseKey(phase string) Key { return Key("phase_" + phase) }

// LimitKey is the key of the time over which a limit counts, such as "week".
func LimitKey(window string) Key { return Key("limit_" + window) }

// HowKey is the key of how a process ended, such as "term".
func HowKey(how string) Key { return Key("how_" + how) }

// ReasonKey is the key of why a process was left alone, such as "tmux".
func ReasonKey(code string) Key { return Key("reason_" + code) }

// FailureKey is the key of what an end could not prove, such as "survived".
func FailureKey(kind string) Key { return Key("failure_" + kind) }

// SourceKey is the key of what a writer was recognised by, such as "hook".
func SourceKey(source string) Key { return Key("source_" + source) }

// FaultKey is the key of what is wrong with a transcript, such as "nul".
func FaultKey(fault string) Key { return Key("fault_" + fault) }

// AnswererKey says what else answers permission requests, see hooks.Answerer.
func AnswererKey(what string) Key { return Key("answers_by_" + what) }

// ModeKey is the key of the name of a permission mode.
func ModeKey(mode string) Key { return Key("mode_" + mode) }

// HealthKey is the key of what is wrong with ccbot, see internal/health.
func HealthKey(code string) Key { return Key("health_" + code) }

// SwitchedKey is the key of what came of a wish for a mode or a model, where it was not done.
func SwitchedKey(outcome string) Key { return Key("switched_" + outcome) }
