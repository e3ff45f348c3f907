package ccbot_test

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// constants returns the values of the program's constants and variables, as its source has them, by
// package and name.
func constants(t *testing.T) map[string]string {
	t.Helper()
	values := make(map[string]string)
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && !s.test && len(spec.Values) == len(spec.Names) {
				for i, name := range spec.Names {
					values[s.pkg+"."+name.Name] = types.ExprString(spec.Values[i])
				}
			}
			return true
		})
	}
	return values
}

// documentedLimits has the limits in the text of pages, each with the constant of the program and
// its value. The table of files has its own test.
var documentedLimits = []struct{ page, text, constant, value string }{
	{"PROMISES", "by its command line within a minute", "lifecycle.noticeEvery", "time.Minute"},
	{"PROMISES", "after 1, 2, 4 … minutes, then every hour", "lifecycle.RetryMost", "time.Hour"},
	{"PROMISES", "without a reply is sent again after 30 s", "bot/outbox.callTimeout", "30 * time.Second"},
	{"PROMISES", "sent more than 15 minutes before", "bot/prompt.MaxAge", "15 * time.Minute"},
	{"PROMISES", "away for more than 15 minutes", "bot/prompt.MaxAge", "15 * time.Minute"},
	{"PROMISES", "An update that fails three times", "bot/inbox.attempts", "3"},
	{"PROMISES", "after a kill and at three more starts", "bot/inbox.mostTries", "3"},
	{"PROMISES", "An outage of Telegram of more than five minutes", "bot/inbox.longOutage", "5 * time.Minute"},
	{"PROMISES", "only after ten minutes in which `getMe`", "bot/inbox.revokedAfter", "10 * time.Minute"},
	{"PROMISES", "at least ten answers", "bot/inbox.revokedAnswers", "10"},
	{"PROMISES", "pauses of at most 5 s", "bot/inbox.mostPause", "5 * time.Second"},
	{"PROMISES", "a text above 4,096 characters", "internal/cuttext.full", "4096"},
	{"PROMISES", "all but the last have 3,500 characters", "internal/cuttext.long", "3500"},
	{"PROMISES", "after 1.5 seconds they are separate", "bot/inbox.albumQuiet", "1500 * time.Millisecond"},
	{"PROMISES", "1.5 seconds after its last part", "bot/inbox.albumQuiet", "1500 * time.Millisecond"},
	{"PROMISES", "off by more than two minutes", "bot/inbox.maxSkew", "2 * time.Minute"},
	{"PROMISES", "is full for more than 10 minutes", "lifecycle/typing.typedTTL", "10 * time.Minute"},
	{"PROMISES", "older than its newest 1,000", "bot/conversation.maxMessages", "1000"},
	{"PROMISES", "asks after 20 seconds", "lifecycle/typing.ProofWait", "20 * time.Second"},
	{"PROMISES", "30 minutes at most", "cmd/ccbot/telegram.downloadFor", "30 * time.Minute"},
	{"PROMISES", "one minute without a byte", "cmd/ccbot/telegram.stallAfter", "time.Minute"},
	{"PROMISES", "above three full messages", "bot/answer.maxPile", "3 * render.Limit"},
	{"PROMISES", "the first and last three", "bot/answer.piled", "3"},
	{"PROMISES", "above 96 KiB as a file", "bot/render.maxSource", "96 << 10"},
	{"PROMISES", "After three kills in one boot", "internal/suspect.mostDeaths", "3"},
	{"PROMISES", "as a file above 40 messages", "bot/answer.maxAgain", "40"},
	{"PROMISES", "The first twenty parts", "bot/conversation.maxShown", "40"}, // two marks each
	{"PROMISES", "A list item over 8 KB", "bot/render.maxPiece", "8 << 10"},
	{"PROMISES", "at most 64 MB", "internal/membudget.Most", "64 << 20"},
	{"PROMISES", "more than 30 % of the budget", "internal/transcript.lineShare", "30"},
	{"PROMISES", "the first 10,000 parts", "internal/transcript.maxBlocks", "10_000"},
	{"PROMISES", "reports that within five seconds", "tmux.answerTimeout", "4 * time.Second"},
	{"PROMISES", "notified after 30 seconds", "tmux.silenceNotice", "30 * time.Second"},
	{"PROMISES", "two captures 200 ms apart", "lifecycle/dialog.Rest", "200 * time.Millisecond"},
	{"PROMISES", "at the latest after 2 s", "lifecycle/dialog.RestTimeout", "2 * time.Second"},
	{"PROMISES", "opened in the last minute", "lifecycle.unseenFor", "time.Minute"},
	{"PROMISES", "without ccbot, for ten minutes", "internal/hookwire.timeout", "10 * time.Minute"},

	{"security", "did not listen for more than two minutes", "bot/inbox.tapLife", "2 * time.Minute"},
	{"security", "up to four marks", "internal/glyph.maxMarks", "4"},
	{"security", "more than eight empty lines", "internal/glyph.maxEmpty", "8"},
	{"security", "more than forty in a row", "internal/glyph.maxBlanks", "40"},
	{"security", "`git diff --shortstat` have 2 seconds", "internal/git.timeout", "2 * time.Second"},
	{"security", "the first 1,000 entries", "cmd/ccbot/statefolder.mostLooked", "1000"},
	{"security", "The chat gets 60 messages", "bot/ask.burst", "60"},
	{"security", "then one in ten seconds", "bot/ask.refill", "10 * time.Second"},
	{"security", "While 32 requests of a session wait", "bot/ask.maxUnsettled", "32"},
	{"security", "for at least ten minutes", "bot/ask.floodSpan", "10 * time.Minute"},
	{"security", "is posted after 5 seconds", "lifecycle/dialog.RelayGrace", "5 * time.Second"},
	{"security", "rejected after 2 seconds", "hooks.contradictedTimeout", "2 * time.Second"},
	{"security", "or after a minute without such a file", "hooks.notNamedTimeout", "time.Minute"},
	{"security", "at most 200 rejected events and 16 MiB", "hooks.maxRejected", "200"},
	{"security", "at most 200 rejected events and 16 MiB", "hooks.maxRejectedBytes", "16 << 20"},
	{"security", "`asks/`, a week", "bot/ask.keep", "7 * 24 * time.Hour"},
	{"security", "(at most 52 MB)", "bot/outbox.MaxFile", "50 << 20"},
	{"security", "have at most 80 bytes", "host/received.maxName", "80"},
	{"security", "a recording of at most 20 MB", "bot/attachment.MaxRecording", "20 << 20"},
	{"security", "for at most 2 minutes", "cmd/ccbot/voice.voiceFor", "2 * time.Minute"},
	{"security", "it has at most 64 MB", "internal/systemfont.maxFile", "64 << 20"},

	{"operations", "at most 300 lines at once", "internal/loglimit.Burst", "300"},
	{"operations", "(`orphan_window` 4,096)", "internal/loglimit.maxWindows", "4096"},
	{"operations", "then one in 10 seconds", "internal/loglimit.Interval", "10 * time.Second"},
	{"operations", "is cut at 16 KiB", "internal/loglimit.MaxValue", "16 << 10"},
	{"operations", "a line a minute", "internal/loglimit.FaultInterval", "time.Minute"},
	{"operations", "10,000 lines at once", "internal/loglimit.debugBurst", "10_000"},
	{"operations", "then 100 a second", "internal/loglimit.debugInterval", "10 * time.Millisecond"},
	{"operations", "or for 30 seconds", "tmux.silenceNotice", "30 * time.Second"},
	{"operations", "off by more than two minutes", "bot/inbox.maxSkew", "2 * time.Minute"},
	{"operations", "after ten minutes ccbot ends with 2", "bot/inbox.revokedAfter", "10 * time.Minute"},
	{"operations", "an hour at most", "internal/pause.MaxRetryAfter", "time.Hour"},
	{"operations", "up to 30 s later", "internal/watch.slowRetry", "30 * time.Second"},
	{"operations", "older than 7 days", "hooks.keepEvents", "7 * 24 * time.Hour"},
	{"operations", "ended three times at a transcript", "internal/suspect.mostDeaths", "3"},
	{"operations", "the newest 200 stay", "hooks.maxRejected", "200"},

	{"configuration", "at least two seconds after a hang-up", "lifecycle/ending.termAfter", "2 * time.Second"},
	{"configuration", "up to three times", "bot/questions.maxReminders", "3"},
	{"configuration", "(up to 24 h)", "bot/settings.quietMost", "24 * time.Hour"},
	{"configuration", "at least every 10 minutes", "archive.longest", "10 * time.Minute"},
	{"configuration", "`backups/purged/` for 7 days", "recovery.PurgedFor", "7 * 24 * time.Hour"},
	{"configuration", "the newest ten stay", "recovery.backupsKept", "10"},
	{"configuration", "a start warns after 2 seconds", "cmd/ccbot/running.tmuxTimeout", "2 * time.Second"},
	{"configuration", "ends after two more", "tmux.answerTimeout", "4 * time.Second"},
	{"configuration", "no 262 kB for a start", "cmd/ccbot/statefolder.LeastFree", "256 << 10"},
	{"configuration", "ends within 5 seconds", "cmd/ccbot-hook.bound", "3 * time.Second"},
	{"configuration", "for more than a second while ccbot runs", "cmd/ccbot/statefolder.goneConfirm", "time.Second"},
	{"configuration", "less than 1 GiB", "internal/gauge.leastFree", "1 << 30"},

	{"groups", "name up to ten groups", "cmd/ccbot/running.mostRefusedGroups", "10"},
	{"session-schema", "more than 16 MiB", "internal/spool.DefaultMaxSize", "16 << 20"},
	{"session-schema", "100 lines of history", "internal/session.historyLimit", "100"},
	{"session-schema", "of about 1,000 bytes", "internal/session.whyLimit", "1000"},
	{"session-schema", "100 to-do items", "internal/transcript.maxTasks", "100"},
	{"session-schema", "of 200 letters", "internal/transcript.maxText", "200"},
	{"session-schema", "at most five earlier names", "internal/session.formerNames", "5"},

	{"manual", "for the sessions of the last three days", "bot/report.recentLoss", "3 * 24 * time.Hour"},
	{"manual", "One older than 15 minutes", "bot/prompt.MaxAge", "15 * time.Minute"},
	{"manual", "older than 15 minutes when ccbot reads it", "bot/prompt.MaxAge", "15 * time.Minute"},
	{"manual", "At most 20 MB", "cmd/ccbot/telegram.cloudLimit", "20 << 20"},
	{"manual", "or 2 GB with your own Bot API server", "cmd/ccbot/telegram.ownLimit", "2 << 30"},
	{"manual", "up to 52 MB", "bot/outbox.MaxFile", "50 << 20"},
	{"manual", "or for 15 minutes", "bot/browse.timeout", "15 * time.Minute"},
	{"manual", "8 levels, 3 seconds", "bot/browse.searchTimeout", "3 * time.Second"},
	{"manual", "within ten minutes the same message", "internal/hookwire.timeout", "10 * time.Minute"},

	{"setup", "works once, for 10 minutes", "cmd/ccbot/setup.codeFor", "10 * time.Minute"},

	{"service", "for ten minutes of `getMe`", "bot/inbox.revokedAfter", "10 * time.Minute"},
	{"service", "ends within five seconds", "cmd/ccbot/running.drainTime", "4 * time.Second"},

	{"doctor", "older than an hour", "cmd/ccbot/doctor.resting", "time.Hour"},
	{"doctor", "ended three times at a file", "internal/suspect.mostDeaths", "3"},

	{"voice", "within two minutes", "cmd/ccbot/voice.voiceFor", "2 * time.Minute"},

	{"cli", "ask again for half a minute", "cmd/ccbot/running.retries", "30"},
	{"cli", "idle for ten seconds", "lifecycle/outcome.Silence", "10 * time.Second"},
	{"cli", "has run for 15 minutes", "bot/prompt.MaxAge", "15 * time.Minute"},
	{"cli", "up to five processes of other users", "cmd/ccbot/show.maxIgnored", "5"},
	{"cli", "at least four of its last letters", "internal/naming.shortestEnd", "4"},

	{"dev/performance", "the last 1 MB", "internal/transcript.tailSize", "1 << 20"},
	{"dev/performance", "up to 4 MB ahead of the chat", "bot/answer.maxAhead", "4 << 20"},
	{"dev/performance", "otherwise the last 8 MB", "internal/transcript.farthestFrom", "8 << 20"},
	{"dev/performance", "the last 2 MB", "internal/transcript.lastWindow", "2 << 20"},
	{"dev/performance", "up to 32 MB without a word of it", "internal/transcript.lastFarthest", "32 << 20"},
	{"dev/performance", "from 1 MB before the request", "internal/transcript.searchBack", "1 << 20"},
	{"dev/performance", "the last 256 KB, at most 8 MB", "internal/transcript.promptFarthest", "8 << 20"},
	{"dev/performance", "the last 256 KB before it", "internal/transcript.listChunk", "256 << 10"},
	{"dev/performance", "entries of 4 MB", "internal/transcript.entrySpan", "4 << 20"},
	{"dev/performance", "at most 20 MB of text", "bot/history.maxFile", "20 << 20"},
	{"dev/performance", "Five seconds after it is ready", "cmd/ccbot/running.startTime", "5 * time.Second"},
}

// quantity matches a limit in a text: a number with its unit.
var quantity = regexp.MustCompile(`(?i)\b(\d[\d,.]*|one|two|three|four|five|six|ten|twenty|forty)\s(s|ms|seconds?|minutes?|hours?|days?|weeks?|[KM]i?B|bytes|times)\b|\b(an?|last) (minute|hour|day|week)\b|\d\s%`)

// noLimits are quantities in the pages below that are not constants of the program.
var noLimits = []string{"within 10 s after a network outage", "down for more than 24 hours",
	"at 80 and 95 %", "5 MB; fonts-noto-cjk has rarer characters, 90 MB", "half a minute after any failure"}

// TestPagesHaveLimitsOfProgram compares the limits in the text of the pages with the constants. In
// some pages each quantity is such a limit.
func TestPagesHaveLimitsOfProgram(t *testing.T) {
	values, text, rest := constants(t), make(map[string]string), make(map[string]string)
	for name, page := range pages(t) {
		text[name] = strings.Join(strings.Fields(page), " ")
	}
	for _, l := range documentedLimits {
		page := "docs/" + l.page + ".md"
		assert.Equal(t, l.value, values[l.constant], "%s, which %s has as %q", l.constant, page, l.text)
		assert.True(t, strings.Contains(text[page], l.text), "%s has %q, the value of %s", page, l.text, l.constant)
		rest[page] = strings.ReplaceAll(cmp.Or(rest[page], text[page]), l.text, "")
	}
	for _, page := range []string{"docs/PROMISES.md", "docs/security.md", "docs/manual.md", "docs/setup.md", "docs/service.md", "docs/doctor.md", "docs/voice.md"} {
		left := rest[page]
		for _, one := range noLimits {
			left = strings.ReplaceAll(left, one, "")
		}
		assert.Empty(t, quantity.FindAllString(left, -1), "%s has limits without a constant", page)
	}
}

var (
	codeBlock = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	buttonRef = regexp.MustCompile(`\[(\p{Lu}[^\][]{1,40})\](?:[^(:[]|$)`)
)

// TestPagesNameButtonsThatAreThere looks for each button that a page has in brackets among the
// English texts.
func TestPagesNameButtonsThatAreThere(t *testing.T) {
	data, err := os.ReadFile("i18n/locales/en.json")
	require.NoError(t, err)
	var texts map[string]any
	require.NoError(t, json.Unmarshal(data, &texts))
	var labels []string
	for _, text := range texts {
		if label, plain := text.(string); plain && len(label) < 60 {
			labels = append(labels, regexp.MustCompile(`\\\{\\\{.*?\\\}\\\}`).ReplaceAllString(regexp.QuoteMeta(label), ".*"))
		}
	}
	known := regexp.MustCompile("^(" + strings.Join(labels, "|") + ")$")
	seen := 0
	for name, page := range pages(t) {
		for _, m := range buttonRef.FindAllStringSubmatch(strings.Join(strings.Fields(codeBlock.ReplaceAllString(page, "")), " "), -1) {
			seen++
			label, cut := strings.CutSuffix(m[1], " …")
			assert.True(t, known.MatchString(label) || cut && slices.ContainsFunc(labels, func(l string) bool { return strings.HasPrefix(l, label) }),
				"%s names the button [%s]", name, m[1])
		}
	}
	assert.Greater(t, seen, 100)
}

// TestPageHasEachMetric compares the names of metrics in docs/configuration.md and in
// docs/operations.md with the names in the program.
func TestPageHasEachMetric(t *testing.T) {
	name := regexp.MustCompile(`\bccbot_[a-z_]+[a-z]\b`)
	var want []string
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && !s.test && s.pkg == "cmd/ccbot/metrics" && name.MatchString(text.Value) {
				want = append(want, name.FindString(text.Value))
			}
			return true
		})
	}
	_, section, _ := strings.Cut(pages(t)["docs/configuration.md"], "\n## Metrics\n")
	section, _, _ = strings.Cut(section, "\n## ")
	assert.ElementsMatch(t, want, name.FindAllString(section, -1))
	for _, one := range name.FindAllString(pages(t)["docs/operations.md"], -1) {
		assert.Contains(t, want, strings.TrimSuffix(one, "_bucket"), "docs/operations.md names it")
	}
}
