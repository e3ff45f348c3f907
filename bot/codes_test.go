package bot_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/turn"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/health"
	"ccbot/internal/session"
	"ccbot/internal/sourcetest"
	"ccbot/lifecycle"
	"ccbot/port"
	"ccbot/port/talk"
)

// codes are all codes of each kind of keys.
func codes(t *testing.T, w *chattest.World) map[i18n.Codes][]string {
	t.Helper()
	consts := func(prefix string, dirs ...string) (all []string) {
		for _, dir := range dirs {
			all = append(all, chattest.Consts(t, "../"+dir, prefix)...)
		}
		return all
	}
	states := each.As(session.States(), func(s session.State) string { return string(s) })
	states, counted := append(states, string(port.StateUnknown)), states
	modes := each.As([]port.Mode{port.ModeManual, port.ModeAcceptEdits, port.ModePlan, port.ModeAuto, port.ModeBypass, "dontAsk"}, func(m port.Mode) string { return string(m) })
	commands := []string{"hosts", "loop", "loops", "at", "every", "schedules", "here", "default"} // in the menu once there are any
	for _, list := range w.Menus() {
		for _, c := range list.Commands {
			commands = append(commands, c.Name)
		}
	}
	return map[i18n.Codes][]string{
		i18n.ChangeKey: rules(t),
		i18n.BudgetKey: consts("of", "bot/budget"),
		i18n.ScheduleKey: each.As([]port.SkipReason{port.SkipMissed, port.SkipBusy, port.SkipLooped, port.SkipBarred, port.SkipNotResumed, port.SkipNotStarted, port.SkipEnded,
			port.SkipForgotten}, func(r port.SkipReason) string { return string(r) }),
		i18n.StepsKey:    {string(turn.OnCard), string(turn.Nowhere)},
		i18n.WeekdayKey:  {"0", "1", "2", "3", "4", "5", "6"},
		i18n.MenuKey:     commands,
		i18n.StateKey:    states,
		i18n.CountKey:    counted,
		i18n.PhaseKey:    consts("Phase", "port/talk"),
		i18n.LimitKey:    {string(talk.FiveHours), string(talk.Week)},
		i18n.HowKey:      consts("How", "internal/process"),
		i18n.ReasonKey:   slices.Concat(consts("Reason", "lifecycle/ending", "lifecycle/evidence", "internal/process"), consts("Guard", "internal/process"), consts("guard", "internal/process")),
		i18n.FailureKey:  consts("Failure", "lifecycle/ending"),
		i18n.SourceKey:   append(consts("Source", "internal/process"), "unclear"),
		i18n.FaultKey:    consts("Fault", "agent/claude/transcript"),
		i18n.SystemKey:   consts("", "internal/sysfault"),
		i18n.AnswererKey: consts("Answers", "port/talk"),
		i18n.ModeKey:     modes,
		i18n.HealthKey:   each.As(health.Codes(), func(c health.Code) string { return string(c) }),
		i18n.LoopKey:     append(consts("Why", "port"), consts("Bound", "port")...),
		i18n.StageKey:    {string(port.PhasePlan), string(port.PhaseImplement), string(port.PhaseCheck), string(port.PhaseFix), string(port.PhaseDone)},
		i18n.LoopNowKey:  {string(port.LoopAsk), string(port.LoopTurn), string(port.LoopCheck), string(port.LoopWaiting), string(port.LoopPaused), string(port.LoopDone), string(port.LoopExhausted), string(port.LoopStopped), string(port.LoopOrphaned), string(port.HeldBudget)},
		i18n.UnfitKey:    consts("Unfit", "port/refusal"),
		i18n.CauseKey:    append(consts("", "internal/sysfault"), "name_too_long", "missing"),
		i18n.RefusedKey: {models.AllowedUpdateMessage, models.AllowedUpdateEditedMessage, models.AllowedUpdateCallbackQuery,
			models.AllowedUpdateMyChatMember, "other"},
		i18n.AgeKey:      {"seconds", "minutes", "hours", "days"},
		i18n.FormatKey:   {"clock", "seconds", "day", "date", "moment", "at", "at_day", "since", "until", "dollars", "rounded", "sizes"},
		i18n.SwitchedKey: slices.DeleteFunc(consts("Switch", "port"), func(outcome string) bool { return outcome == "" }),
	}
}

// rules are the rules of a record's history that have a sentence, as /why names them.
func rules(t *testing.T) []string {
	t.Helper()
	all := []string{string(session.BroughtBack), "resume.seen", "resume.followed", "recovery.tidy_transfer", "stopped.archived", "stopped.completed", "stopped.cleanup_failed",
		"stop.you", "stop.other", "stop.by", "ended.signal", "ended.status"}
	for _, rule := range append(chattest.Consts(t, "../lifecycle", "rule"), chattest.Consts(t, "../lifecycle", "Rule")...) {
		if rule != "stopped" && !strings.HasPrefix(rule, "resume.") {
			all = append(all, rule)
		}
	}
	for _, do := range []lifecycle.Do{lifecycle.Reattach, lifecycle.Bind, lifecycle.Discard, lifecycle.FinishRestore, lifecycle.Fail, lifecycle.FinishStop, lifecycle.Conclude,
		lifecycle.MarkLost, lifecycle.EndLeftovers} {
		all = append(all, "recovery."+string(do))
	}
	for _, name := range []string{"TakeOver", "Abandon", "SetAside"} {
		all = append(all, "recovery."+chattest.Consts(t, "../recovery", name)[0])
	}
	return all
}

// TestCodesHaveSentences: each code of another package has a sentence, and each sentence is of a
// code, or the program names its constant.
func TestCodesHaveSentences(t *testing.T) {
	data, err := os.ReadFile("../i18n/locales/en.json")
	require.NoError(t, err)
	var sentences map[string]any
	require.NoError(t, json.Unmarshal(data, &sentences))
	said := saidByName(t)
	for kind, codes := range codes(t, chattest.NewWorld(t)) {
		require.NotEmpty(t, codes, kind)
		for _, code := range codes {
			key := string(kind.Of(code))
			said[key] = true
			assert.NotNil(t, sentences[key], key)
		}
	}
	for key, text := range sentences {
		assert.True(t, said[key] || quoted(data, key), "no code and no source has %s: %v", key, text)
	}
}

// quoted reports whether a sentence contains another one, such as the words of a button.
func quoted(data []byte, key string) bool { return bytes.Contains(data, []byte("{{.Word."+key+"}}")) }

// saidByName returns the keys whose constants the program has, without its tests.
func saidByName(t *testing.T) map[string]bool {
	t.Helper()
	constants, constant := make(map[string]bool), regexp.MustCompile(`\bi18n\.([A-Z]\w+)`)
	for _, source := range sourcetest.OfProgram(t) {
		for _, m := range constant.FindAllSubmatch(source, -1) {
			constants[string(m[1])] = true
		}
	}
	keys, err := os.ReadFile("../i18n/keys_gen.go")
	require.NoError(t, err)
	all := make(map[string]bool)
	for _, m := range regexp.MustCompile(`(\w+) +Key = "(\w+)"`).FindAllStringSubmatch(string(keys), -1) {
		all[m[2]] = constants[m[1]]
	}
	return all
}
