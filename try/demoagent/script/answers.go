package script

import (
	"fmt"
	"strings"
)

const HelpText = "Hello! I am a **demo agent**: I look like Claude Code, but everything I say is scripted and nothing " +
	"leaves this machine. Try one of these:\n\n" +
	"| Write | and see |\n" +
	"|---|---|\n" +
	"| `bash make test` | a permission request |\n" +
	"| `edit notes.md` | a permission request with a diff; `write notes.md` for a new file |\n" +
	"| `agent make lint` | a request of a background agent |\n" +
	"| `ask` | questions to answer; `ask one` and `ask multi` too |\n" +
	"| `plan` | a plan to approve |\n" +
	"| `work 12` | a turn of many steps, with a to-do list |\n" +
	"| `slow 20` | a long turn, to stop or to queue behind |\n" +
	"| `code` | how code, tables and lists look |\n" +
	"| `long 9000` | an answer of several messages |\n" +
	"| `error` | a failed turn |\n" +
	"| `crash` | an agent that dies |\n" +
	"| `say anything` | exactly that |\n\n" +
	"Slash commands work too: `/clear`, `/compact`, `/status`, `/exit`. " +
	"You can also attach to the window and type here yourself."

const codeText = "# A tour of Markdown\n\n" +
	"Some **bold**, some *italic*, some ~~struck~~ text, `inline code` and a [link](https://example.com).\n\n" +
	"```go\npackage main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(\"a < b && c > d\")\n}\n```\n\n" +
	"| Fruit | Count | Note |\n|---|---:|---|\n| Apples | 3 | sweet |\n| Brötchen | 12 | not a fruit |\n\n" +
	"1. First\n2. Second\n   - nested\n   - twice\n\n" +
	"- [x] done\n- [ ] to do\n\n" +
	"> A quote that says nothing,\n> in two lines.\n\n" +
	"---\n\n" +
	"```\nno language here: *stars* and _underscores_ stay\n```"

// EditOld and EditNew are what the word "edit" changes.
const (
	EditOld = "colour = \"red\"\nsize = 10\n"
	EditNew = "colour = \"blue\"\nsize = 10\nweight = 3\n"
)

const planText = "# Demo plan\n\n1. Look at the code\n2. Change as little as possible\n3. Run the tests\n"

// Questions returns the input of AskUserQuestion: of the kind one, multi or comma, otherwise two
// with one answer each.
func Questions(kind string) []Question {
	switch kind {
	case "comma":
		return []Question{{Question: "Which parts, exactly?", Header: "Parts", MultiSelect: true,
			Options: []Option{{"Logs, structured", "Logging"}, {"Metrics", "Prometheus"}, {"Traces, sampled", "OTEL"}}}}
	case "one":
		return []Question{{Question: "Which colour?", Header: "Colour",
			Options: []Option{{"Red", "Warm"}, {"Blue", "Cold"}}}}
	case "multi":
		return []Question{{Question: "Which features?", Header: "Features", MultiSelect: true,
			Options: []Option{{"Logs", "Logging"}, {"Metrics", "Prometheus"}, {"Traces", "OTEL"}}}}
	}
	return []Question{
		{Question: "Which database?", Header: "Database",
			Options: []Option{{"Postgres", "Relational"}, {"SQLite", "Embedded"}, {"Redis", "In memory"}}},
		{Question: "Which language?", Header: "Language",
			Options: []Option{{"Go", "Compiled"}, {"Python", "Interpreted"}}},
	}
}

// quoteAnswer shows that the words arrived.
func quoteAnswer(prompt string) string {
	quoted := []rune(prompt)
	if len(quoted) > 500 {
		quoted = append(quoted[:500], '…')
	}
	return fmt.Sprintf("You wrote:\n\n> %s\n\nI am only a **demo agent**, so I cannot think about it. "+
		"Write `help` to see what I can do.", strings.ReplaceAll(string(quoted), "\n", "\n> "))
}

// Long makes an answer of exactly n characters: numbered lines, every other block of them in a code
// fence, so that a reader can prove that nothing was lost.
func Long(n int) string {
	var b strings.Builder
	for line := 1; b.Len() < n; line++ {
		switch line % 20 {
		case 6:
			b.WriteString("```go\n")
		case 16:
			b.WriteString("```\n\n")
		}
		fmt.Fprintf(&b, "line %05d of a long answer\n", line)
	}
	return b.String()[:n] // ASCII only: a byte is a character
}
