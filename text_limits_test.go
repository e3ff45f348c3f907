package ccbot_test

import (
	"encoding/json"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// textLimits are the sizes in texts of the chat, each with the constant of the program and its
// value.
var textLimits = []struct{ text, size, constant, value string }{
	{"file_too_big", `20 (MiB|МиБ)`, "cmd/ccbot/telegram.cloudLimit", "20 << 20"},
	{"file_too_big", `2 (GiB|ГиБ)`, "cmd/ccbot/telegram.ownLimit", "2 << 30"},
}

// TestTextsHaveLimitsOfProgram compares the sizes in the texts of each language with the constants.
// Any other size is a blank, which the program fills.
func TestTextsHaveLimitsOfProgram(t *testing.T) {
	values, size := constants(t), regexp.MustCompile(`\d\s*([kMGT]i?B|[КМГ]и?Б)`)
	files, err := filepath.Glob("i18n/locales/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var texts map[string]any // a text, or its plural forms
		require.NoError(t, json.Unmarshal(data, &texts))
		for _, l := range textLimits {
			assert.Equal(t, l.value, values[l.constant], "%s, which %s names", l.constant, l.text)
			text, _ := texts[l.text].(string)
			rest := regexp.MustCompile(l.size).ReplaceAllString(text, "")
			assert.NotEqual(t, text, rest, "%s: %s has the value of %s", file, l.text, l.constant)
			texts[l.text] = rest
		}
		for key, text := range texts {
			said, err := json.Marshal(text)
			require.NoError(t, err)
			assert.NotRegexp(t, size, string(said), "%s: %s has a size without a constant", file, key)
		}
	}
}

// soundWords are the words of the manual for the occasions of package chat that may make a sound.
var soundWords = map[string]string{
	"AgentAsks": "questions", "PromptUndecided": "other decisions", "SecondWriter": "other decisions", "Reminder": "reminders",
	"WorkInterrupted": "work that a restart cut short", "TmuxEnded": "the end of tmux", "NotSwitched": "a failed switch of mode or model",
	"LimitUrgent": "near limits", "LimitNear": "the first warning of a limit", "LoopWaits": "most ends and pauses of a loop",
	"Fault": "faults", "AgentFailed": "at its error", "TurnDone": "at its answer or end", "Crashed": "A crash, a failed start, or a window lost while ccbot runs, of the current session or in a topic, also sounds",
	"OtherDone": "unless you choose a sound or full answers for notices",
}

// TestManualNamesEachSound finds an occasion that makes a sound and that the manual does not name.
func TestManualNamesEachSound(t *testing.T) {
	manual := strings.Join(strings.Fields(pages(t)["docs/manual.md"]), " ")
	occasions := 0
	for _, s := range sources(t) {
		if s.path != "bot/chat/sounds.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil {
				return true
			}
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Occasion" {
				for _, name := range spec.Names {
					occasions++
					require.Contains(t, soundWords, name.Name, "the manual has words for each sound")
					assert.Contains(t, manual, soundWords[name.Name], name.Name)
				}
			}
			return true
		})
	}
	assert.Len(t, soundWords, occasions)
}

// quietWords are the words of the manual for the occasions that quiet hours silence: all of them,
// or only those without a prompt in them.
var quietWords = map[string]map[string]string{
	"byDay":             {"Reminder": "reminders", "LoopWaits": "loops and schedules"},
	"outsideQuietHours": {"TurnDone": "turns without an error", "LimitNear": "the first warning of a limit"},
	"asChosen":          {"OtherDone": "notices"},
}

// TestManualHasQuietHours compares the manual's sentence about quiet hours with the table of
// sounds.
func TestManualHasQuietHours(t *testing.T) {
	manual := strings.Join(strings.Fields(pages(t)["docs/manual.md"]), " ")
	m := regexp.MustCompile(`Quiet hours silence ([^;.]*); unless you send the session a prompt in them, also ([^.]*)\.`).FindStringSubmatch(manual)
	require.NotNil(t, m)
	silenced := 0
	for _, s := range sources(t) {
		if s.path != "bot/chat/sounds.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			row, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			occasion, when := types.ExprString(row.Key), types.ExprString(row.Value)
			if when == "always" || when == "inFront" {
				return true
			}
			silenced++
			words, sentence := quietWords[when][occasion], m[2]
			if when == "byDay" {
				sentence = m[1]
			}
			require.NotEmpty(t, words, "the manual has words for %s, %s", occasion, when)
			assert.Contains(t, sentence, words, occasion)
			return true
		})
	}
	assert.Equal(t, 5, silenced)
}
