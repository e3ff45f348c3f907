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
	{"PROMISES", "its group within half a second", "loop.lookInterval", "500 * time.Millisecond"},
	{"PROMISES", "at last every hour", "lifecycle.RetryMost", "time.Hour"},
	{"PROMISES", "sent more than 15 minutes before", "bot/prompt.MaxAge", "15 * time.Minute"},
	{"PROMISES", "An update that fails three times", "bot/inbox.attempts", "3"},
	{"PROMISES", "after a kill and at three more starts", "bot/inbox.mostTries", "3"},
	{"PROMISES", "only after ten minutes in which `getMe`", "bot/inbox.revokedAfter", "10 * time.Minute"},
	{"PROMISES", "is full for more than 10 minutes", "lifecycle/typing.typedTTL", "10 * time.Minute"},
	{"PROMISES", "older than the newest 1,000", "bot/conversation.maxMessages", "1000"},
	{"PROMISES", "30 minutes at most", "cmd/ccbot/telegram.downloadFor", "30 * time.Minute"},
	{"PROMISES", "one minute without a byte", "cmd/ccbot/telegram.stallAfter", "time.Minute"},
	{"PROMISES", "After three kills in one boot", "internal/suspect.mostDeaths", "3"},
	{"PROMISES", "at most 67 MB", "internal/membudget.Most", "64 << 20"},
	{"PROMISES", "the first 10,000 parts", "agent/claude/transcript.maxBlocks", "10_000"},
	{"PROMISES", "more than 33 MB of transcript", "agent/jsonl.lastFarthest", "32 << 20"},
	{"PROMISES", "within a minute after ccbot's end", "lifecycle.unseenFor", "time.Minute"},
	{"PROMISES", "SIGKILL of its Claude Code for up to a minute", "internal/hookwire.checkInterval", "time.Minute"},

	{"security", "did not listen for more than two minutes", "bot/inbox.tapLife", "2 * time.Minute"},
	{"security", "up to four marks", "internal/glyph.maxMarks", "4"},
	{"security", "more than forty in a row", "internal/glyph.maxBlanks", "40"},
	{"security", "the first 1,000 entries", "cmd/ccbot/statefolder.mostLooked", "1000"},
	{"security", "While 32 requests of a session wait", "bot/ask.maxUnsettled", "32"},
	{"security", "for at least ten minutes", "bot/ask.floodSpan", "10 * time.Minute"},
	{"security", "at most 200 rejected events and 16 MiB", "hooks.maxRejected", "200"},
	{"security", "at most 200 rejected events and 16 MiB", "hooks.maxRejectedBytes", "16 << 20"},

	{"operations", "at most 300 lines at once", "internal/loglimit.Burst", "300"},
	{"operations", "(`orphan_window` 4,096)", "internal/loglimit.maxWindows", "4096"},
	{"operations", "then one in 10 seconds", "internal/loglimit.Interval", "10 * time.Second"},
	{"operations", "as a full disk, one in a minute", "internal/loglimit.FaultInterval", "time.Minute"},
	{"operations", "ended three times at a transcript", "internal/suspect.mostDeaths", "3"},

	{"configuration", "three times at most", "bot/questions.maxReminders", "3"},
	{"configuration", "the newest ten stay", "recovery.backupsKept", "10"},
	{"configuration", "its newest 1,000 messages", "bot/conversation.maxMessages", "1000"},
	{"configuration", "the record for 7 days in", "recovery.PurgedFor", "7 * 24 * time.Hour"},

	{"manual", "older than 15 minutes when ccbot reads it", "bot/prompt.MaxAge", "15 * time.Minute"},
	{"manual", "At most 20 MiB", "cmd/ccbot/telegram.cloudLimit", "20 << 20"},
	{"manual", "or 2 GiB with your own Bot API server", "cmd/ccbot/telegram.ownLimit", "2 << 30"},
	{"manual", "up to 52 MB", "bot/outbox.MaxFile", "50 << 20"},
	{"manual", "up to 15 minutes after its last use", "bot/browse.timeout", "15 * time.Minute"},
	{"manual", "too long for its message (up to 20 are sent)", "bot/ask.maxAll", "20 * render.Limit"},
	{"manual", "or up to 20 MiB of it as a Markdown file", "bot/history.maxFile", "20 << 20"},
	{"manual", "within ten minutes the same message", "internal/hookwire.timeout", "10 * time.Minute"},
	{"manual", "next text within ten minutes is the reason", "bot/ask.maxWhy", "10 * time.Minute"},

	{"setup", "works once, for 10 minutes", "cmd/ccbot/setup.codeFor", "10 * time.Minute"},

	{"service", "for ten minutes of `getMe`", "bot/inbox.revokedAfter", "10 * time.Minute"},
	{"service", "ends within five seconds", "cmd/ccbot/engine.drainTimeout", "4 * time.Second"},

	{"voice", "of at most 20 MiB", "bot/attachment.MaxRecording", "20 << 20"},
	{"voice", "within two minutes", "cmd/ccbot/voice.voiceFor", "2 * time.Minute"},

	{"machines", "within ten minutes, once", "fleet/join.TTL", "10 * time.Minute"},
	{"machines", "silent for 7 seconds", "fleet/beat.Timeout", "7 * time.Second"},
	{"machines", "not renewed for 90 days", "fleet/rights.HostTTL", "90 * 24 * time.Hour"},
	{"security", "once, within ten minutes", "fleet/join.TTL", "10 * time.Minute"},
	{"security", "calls by at most a minute", "fleet/seal.MaxAge", "time.Minute"},

	{"PROMISES", "or after two seconds", "lifecycle/dialog.RestTimeout", "2 * time.Second"},
	{"cli", "has run for 15 minutes", "bot/prompt.MaxAge", "15 * time.Minute"},
	{"cli", "up to five processes of other users", "cmd/ccbot/show.maxIgnored", "5"},
	{"cli", "at least four of its last letters", "internal/naming.shortestEnd", "4"},
	{"cli", "more than 3,000 characters", "loop/template.maxShown", "3000"},
	{"cli", "for one reason at most every 12 hours", "schedule.mentionInterval", "12 * time.Hour"},
	{"cli", "there for ten minutes", "loop.orphanGrace", "10 * time.Minute"},
	{"cli", "five such ends", "loop.maxCuts", "5"},
	{"cli", "three checks without progress", "loop.maxRepeats", "3"},

	{"claude-code", "keeps its last three outputs", "internal/hookwire.keptRows", "3"},
	{"session-schema", "the last five earlier names", "internal/session.formerNames", "5"},
	{"dev/versions", "The oldest that works is 2.1.128", "agent/claude/claudesettings.Oldest", `"2.1.128"`},
}

// quantity matches a limit in a text: a number with its unit.
var quantity = regexp.MustCompile(`(?i)\b(\d[\d,.]*|one|two|three|four|five|six|ten|twenty|forty)\s(s|ms|seconds?|minutes?|hours?|days?|weeks?|[KM]i?B|bytes|times)\b|\b(an?|last) (minute|hour|day|week)\b|\d\s%`)

// noLimits are quantities in the pages below that are not constants of the program.
var noLimits = []string{"down for more than 24 hours", "half a minute after its start"}

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
	assert.Greater(t, seen, 50)
}

// TestPagesQuoteTextsOfChat looks for each text that a page quotes among the English texts; "…"
// stands for any part of it.
func TestPagesQuoteTextsOfChat(t *testing.T) {
	data, err := os.ReadFile("i18n/locales/en.json")
	require.NoError(t, err)
	texts, seen := string(data), 0
	for _, name := range []string{"docs/doctor.md", "docs/manual.md", "docs/security.md", "docs/PROMISES.md"} {
		page := strings.Join(strings.Fields(codeBlock.ReplaceAllString(pages(t)[name], "")), " ")
		for _, m := range regexp.MustCompile(`"([A-Za-z][^"]*)"`).FindAllStringSubmatch(page, -1) {
			seen++
			words := regexp.MustCompile("(?i)" + strings.ReplaceAll(regexp.QuoteMeta(m[1]), " … ", ".*"))
			assert.True(t, words.MatchString(texts), "%s quotes %q, and the chat has no such text", name, m[1])
		}
	}
	assert.Greater(t, seen, 5)
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

// sent has the words of docs/operator.md for what each feature of the chat sends, besides names and
// buttons.
var sent = map[string]string{
	"bot/answer":     "answers",
	"bot/ask":        "commands, questions and plans that wait for you",
	"bot/browse":     "folders",
	"bot/budget":     "costs",
	"bot/changes":    "changed files",
	"bot/dialog":     "the terminal",
	"bot/files":      "`ccbot send`",
	"bot/groups":     "machines",
	"bot/health":     "faults",
	"bot/history":    "conversations",
	"bot/hosts":      "machines",
	"bot/idle":       "processes",
	"bot/inform":     "", // nothing
	"bot/limit":      "your waiting texts",
	"bot/longtext":   "long answers",
	"bot/loops":      "loops' checks",
	"bot/menu":       "names",
	"bot/modes":      "faults",
	"bot/moves":      "conversations",
	"bot/prompt":     "your waiting texts",
	"bot/questions":  "questions",
	"bot/report":     "processes",
	"bot/schedules":  "schedules",
	"bot/screenshot": "pictures of the terminal",
	"bot/sessions":   "branches",
	"bot/settings":   "names",
	"bot/several":    "the host name",
	"bot/shell":      "output of `!command`",
	"bot/status":     "command lines",
	"bot/textlist":   "names",
	"bot/topics":     "names of sessions",
	"bot/turn":       "steps with commands, paths and to-dos",
	"bot/usage":      "`/usage`",
	"bot/waiting":    "questions",
	"bot/why":        "pids",
	"bot/writers":    "command lines",
}

// TestOperatorPageNamesWhatFeaturesSend: a new feature of the chat has its words in the list of
// what goes to Telegram.
func TestOperatorPageNamesWhatFeaturesSend(t *testing.T) {
	_, list, found := strings.Cut(pages(t)["docs/operator.md"], "\n## What goes to Telegram?\n")
	require.True(t, found)
	list, _, _ = strings.Cut(list, "\n## ")
	features := make(map[string]bool)
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			made, ok := n.(*ast.CompositeLit)
			if ok && !s.test && made.Type != nil && strings.HasPrefix(s.pkg, "bot/") && types.ExprString(made.Type) == "chat.Feature" {
				features[s.pkg] = true
			}
			return true
		})
	}
	for feature := range features {
		assert.Contains(t, sent, feature, "it sends texts or files")
		assert.Contains(t, list, sent[feature], "docs/operator.md, for %s", feature)
	}
	for feature := range sent {
		assert.True(t, features[feature], "%s is no feature", feature)
	}
}

// endedProcesses has the words of P2 for each package that ends processes, or whose commands end
// with a context.
var endedProcesses = map[string]string{
	"lifecycle/ending":            "an agent that the record itself bound",
	"loop":                        "the check of a loop",
	"cmd/ccbot/voice":             "`VOICE_COMMAND` with its process group",
	"internal/git":                "such as git",
	"agent/claude/claudesettings": "a short command of ccbot's own",
	"tmux":                        "ccbot's own tmux client",
	"cmd/ccbot-codex":             "the two processes of `ccbot-codex`",
	"agent/codex":                 "a short command of ccbot's own",
	"cmd/ccbot":                   "a short command of ccbot's own",
}

// TestP2_PageNamesEndedProcesses: a package that begins to end processes needs its words in P2.
func TestP2_PageNamesEndedProcesses(t *testing.T) {
	_, promise, _ := strings.Cut(pages(t)["docs/PROMISES.md"], "\n## P2 ")
	promise, _, _ = strings.Cut(promise, "\nNo button overrides")
	found := make(map[string]bool)
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if of, ok := n.(*ast.SelectorExpr); ok && !s.test {
				if name := types.ExprString(of); name == "process.Grace" || name == "exec.CommandContext" {
					found[s.pkg] = true
				}
			}
			return true
		})
	}
	for pkg := range found {
		if strings.HasPrefix(pkg, "try/") || pkg == "cmd/ccbot-try" || pkg == "cmd/ccbot-codex" ||
			strings.HasPrefix(pkg, "tools/") || strings.HasPrefix(pkg, "e2e") || strings.HasSuffix(pkg, "test") {
			continue
		}
		words := endedProcesses[pkg]
		assert.NotEmpty(t, words, "%s ends processes", pkg)
		assert.Contains(t, promise, words, "docs/PROMISES.md, for %s", pkg)
	}
	for pkg := range endedProcesses {
		assert.True(t, found[pkg], "%s ends no process", pkg)
	}
}
