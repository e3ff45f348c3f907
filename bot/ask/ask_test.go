package ask

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudeask"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/glyph"
	"ccbot/port/talk"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

const person = 42

func requestOf(tool, input string, suggestions ...string) talk.Request {
	q := talk.Request{
		ID: "abcdefghijklmnopqrstuv", Session: uuid.MustParse("0190a000-0000-7000-8000-000000000001"),
		Agent: "10.1.b", Hook: "11.2.b",
		Cwd: "/home/u/proj", Tool: tool, Input: json.RawMessage(input), RequestedAt: noon,
	}
	for _, s := range suggestions {
		q.Suggestions = append(q.Suggestions, json.RawMessage(s))
	}
	q.Ask = claudeask.Of(q)
	return q
}

func stateOf(tool, input string, suggestions ...string) State {
	return New(requestOf(tool, input, suggestions...), address.Conversation{ChatID: 7})
}

func viewer(t testing.TB, lang string) Viewer {
	t.Helper()
	return Viewer{Words: i18n.Load(glyph.Name).For(lang), Home: "/home/u"}
}

// described returns a state after a change of its request.
func described(s State) State {
	s.Request.Ask = claudeask.Of(s.Request)
	return s
}

// written returns a card as it is on disk.
func written(t require.TestingT, s State) string {
	data, err := json.Marshal(s)
	require.NoError(t, err)
	return string(data)
}

// whole reports whether the message shows the whole request.
func whole(s State) bool { return judge(s).whole }

// screen returns a view as plain text, with its buttons below.
func screen(v View) string {
	var b strings.Builder
	b.WriteString(v.Text.Text)
	for _, row := range v.Options {
		b.WriteString("\n")
		for _, button := range row {
			b.WriteString("[" + button.Text + "]")
		}
	}
	return b.String()
}

func words(v View) string {
	var all []string
	for _, row := range v.Options {
		for _, button := range row {
			all = append(all, button.Text)
		}
	}
	return strings.Join(all, "|")
}

func verbs(v View) string {
	var all []string
	for _, row := range v.Options {
		for _, button := range row {
			all = append(all, button.Value)
		}
	}
	return strings.Join(all, " ")
}

func object(pairs ...any) string {
	var b strings.Builder
	b.WriteString("{")
	for i := 0; i < len(pairs); i += 2 {
		value, _ := json.Marshal(pairs[i+1])
		fmt.Fprintf(&b, "%s%q:%s", strings.Repeat(",", min(i, 1)), pairs[i], value)
	}
	return b.String() + "}"
}

const (
	twoQuestions = `{"questions":[{"question":"Which database?","header":"Database","options":[{"label":"Postgres","description":"Relational"},{"label":"SQLite","description":"Embedded"}],"multiSelect":false},{"question":"Which features?","header":"Features","options":[{"label":"Logs","description":""},{"label":"Traces","description":"OTEL"},{"label":"Metrics"}],"multiSelect":true}]}`
	npmRule      = `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"localSettings"}`
	somePlan     = "# Plan\n\n1. Look at `main.go`\n1. Change **it**\n\n```go\nfunc main() {}\n```\n\n- [ ] test\n"
)
