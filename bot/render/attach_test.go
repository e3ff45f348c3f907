package render

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shape describes an answer's parts: texts as show writes them, files by name with their captions.
func shape(parts []Part) []string {
	var out []string
	for _, p := range parts {
		switch {
		case p.File == nil:
			out = append(out, show(p.Text))
		case p.File.Photo:
			out = append(out, "photo "+p.File.Name+": "+show(p.Text))
		default:
			out = append(out, "file "+p.File.Name+": "+show(p.Text))
		}
	}
	return out
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestLongCodeIsFile(t *testing.T) {
	begin := strings.TrimSpace(numbered(15))
	wide := strings.Repeat("x", 3501)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"in its place", "a\n\n```go\n" + numbered(61) + "```\n\nb", []string{"a", "file code.go: ⟨bold go⟩ · 61 ⏎\n⟨pre:go " + begin + "⟩", "b"}},
		{"not longer than a screen", "```go\n" + numbered(60) + "```", []string{show(Pre(strings.TrimSpace(numbered(60)), "go"))}},
		{"long lines", "```\n" + wide + "\n```", []string{"file code.txt: 1 ⏎\n⟨pre " + wide[:696] + "⟩"}},
		{"a name", "```python src/do it.py\n" + numbered(61) + "```", []string{"src/do it.py", "file code.py: ⟨bold python⟩ · 61 ⏎\n⟨pre:python " + begin + "⟩"}},
		{"a better name", "```python src/do_it.py\n" + numbered(61) + "```", []string{"src/do_it.py", "file do_it.py: ⟨bold python⟩ · 61 ⏎\n⟨pre:python " + begin + "⟩"}},
		{"a name of another kind", "```python ../x.apk\n" + numbered(61) + "```", []string{"../x.apk", "file code.py: ⟨bold python⟩ · 61 ⏎\n⟨pre:python " + begin + "⟩"}},
		{"what a phone would open", "```html\n" + numbered(61) + "```", []string{"file code.txt: ⟨bold html⟩ · 61 ⏎\n⟨pre:html " + begin + "⟩"}},
		{"a difference", "```diff\n" + numbered(61) + "```", []string{"file code.diff: ⟨bold diff⟩ · 61 ⏎\n⟨pre:diff " + begin + "⟩"}},
		{"in a list", "- a\n  ```go\n" + strings.ReplaceAll(numbered(61), "line", "  line") + "  ```\n  b\n- c", []string{"• a", "file code.go: ⟨bold go⟩ · 61 ⏎\n⟨pre:go " + begin + "⟩", "b\n• c"}},
		{"in a quote", "> a\n> ```go\n" + strings.ReplaceAll(numbered(61), "line", "> line") + "> ```\n> b", []string{"⟨blockquote a⟩", "file code.go: ⟨bold go⟩ · 61 ⏎\n⟨pre:go " + begin + "⟩", "⟨blockquote b⟩"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts := Entities(tt.in, 0)
			got := shape(parts)
			for i := range got {
				got[i] = strings.Replace(got[i], "expandable_blockquote", "blockquote", 1)
			}
			assert.Equal(t, tt.want, got)
			assert.Empty(t, wrong(parts, 0))
		})
	}
	parts := Entities("```go\n\tx\n"+numbered(61)+"```", 0)
	assert.Equal(t, "    x\n"+numbered(61), string(parts[0].File.Data))
}

// Each file is a message, so an answer has few.
func TestAnswerHasFewFiles(t *testing.T) {
	src := strings.Repeat("a\n\n```\n"+numbered(61)+"```\n\n", 12)
	files := 0
	for _, p := range Entities(src, 0) {
		if p.File != nil {
			files++
		}
	}
	assert.Equal(t, maxFiles, files)
}

func TestCaptionLeavesRoom(t *testing.T) {
	src := "```\n" + strings.Repeat("x", 4000) + "\n```"
	for _, room := range []int{0, 400, 1000, 1023, 1024, 2000} {
		parts := Entities(src, room)
		require.Len(t, parts, 1)
		assert.LessOrEqual(t, parts[0].Text.Length(), max(0, maxCaption-room), room)
	}
}

func table(columns, rows int, cell string) string {
	var b strings.Builder
	for i := range rows + 1 {
		for j := range columns {
			fmt.Fprintf(&b, "|%s%d.%d", cell, i, j)
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|-", columns) + "|\n")
		}
	}
	return b.String()
}

func TestTables(t *testing.T) {
	tests := []struct {
		name, in, want string
	}{
		{"narrow", table(3, 2, ""), "⟨pre 0.0 │ 0.1 │ 0.2\n────┼─────┼────\n1.0 │ 1.1 │ 1.2\n2.0 │ 2.1 │ 2.2⟩"},
		{"as wide as a phone", table(2, 1, strings.Repeat("a", 25)), "⟨pre "},
		{"wider", table(2, 1, strings.Repeat("a", 26)), "photo table.png: "},
		{"Chinese is twice as wide", table(2, 1, strings.Repeat("语", 13)), "file table.md: ▦ 2 × 1\n⟨bold "},
		{"emoji is twice as wide", table(2, 1, strings.Repeat("✅", 13)), "photo table.png: "},
		{"many narrow rows", table(2, 400, ""), "file table.csv: ▦ 2 × 400\n⟨bold 0.0:⟩ 1.0\n⟨bold 0.1:⟩ 1.1\n\n⟨bold 0.0:⟩ 2.0"},
		{"forty rows", table(9, 40, "cell "), "photo table.png: "},
		{"more rows", table(9, 41, "cell "), "file table.csv: ▦ 9 × 41\n"},
		{"thirty columns", table(30, 2, ""), "photo table.png: "},
		{"more columns", table(31, 2, ""), "file table.csv: ▦ 31 × 2\n"},
		{"no glyph", table(9, 2, "שלום "), "file table.md: ▦ 9 × 2\n"},
		{"too high", table(2, 39, strings.Repeat("long words ", 18)), "file table.md: ▦ 2 × 39\n"},
		{"links", "|a|" + strings.Repeat("b", 70) + "|\n|-|-|\n|[x](http://y.z)|c|", "⟨bold a:⟩ ⟨text_link:http://y.z x⟩\n⟨bold bbb"},
		{"many links", "|a|" + strings.Repeat("b", 70) + "|\n|-|-|\n" + strings.Repeat("|[x](http://y.z)|c|\n", 31), "file table.md: ▦ 2 × 31\n⟨bold a:⟩ ⟨text_link:http://y.z x⟩"},
		{"longer than is parsed", table(20, 300, "abc "), "file table.md: ⟨pre |abc 0.0|"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts := Entities(tt.in, 0)
			assert.Empty(t, wrong(parts, 0))
			got := shape(parts)
			require.Len(t, got, 1)
			assert.Equal(t, tt.want, got[0][:min(len(got[0]), len(tt.want))])
		})
	}
}

func TestCellOfAbsurdLinksIsUnformatted(t *testing.T) {
	src := "[1]: http://y.z/" + strings.Repeat("z", 4000) + "\n\n|a|b|\n|-|-|\n|" + strings.Repeat("[x][1] ", 100) + "the end|c|\n"
	for name, parts := range map[string][]Part{"entities": Entities(src, 0), "rich": Rich(src, 0)} {
		var shown strings.Builder
		for _, p := range parts {
			shown.WriteString(p.Text.Text + p.Rich)
			if p.File != nil {
				shown.Write(p.File.Data)
			}
		}
		assert.Contains(t, shown.String(), "the end", name)
	}
}

func TestTableFiles(t *testing.T) {
	head := "|a|b \\| c|" + strings.Repeat("d", 60) + "|\n|:-|-:|:-:|\n"
	parts := Entities(head+"|语|[x](http://y.z)|`=1+1`|\n", 0)
	require.Len(t, parts, 1)
	assert.Equal(t, "⟨bold a:⟩ 语", show(parts[0].Text)[:len("⟨bold a:⟩ 语")], "a short table with links is listed")

	parts = Entities(head+strings.Repeat("|语|[x](http://y.z)|`=1+1`|\n", 25), 0)
	lines := strings.Split(string(parts[0].File.Data), "\n")
	assert.Equal(t, "| 语 | x (http://y.z) |                             =1+1                             |", lines[2])
	assert.Equal(t, "| a  |         b \\| c | "+strings.Repeat("d", 60)+" |", lines[0])

	parts = Entities(head+strings.Repeat("|=HYPERLINK(\"x\")|-1.5|+49|\n|@x|-rf|\"q, r\"|\n|é|||\n", 15), 0)
	data, ok := strings.CutPrefix(string(parts[0].File.Data), "\uFEFF")
	assert.True(t, ok, "a spreadsheet is told of UTF-8")
	rows, err := csv.NewReader(strings.NewReader(data)).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, [][]string{{"a", "b | c", strings.Repeat("d", 60)}, {"'=HYPERLINK(\"x\")", "-1.5", "+49"}, {"'@x", "'-rf", "\"q, r\""}, {"é", "", ""}}, rows[:4])
}

func TestLongQuotesFold(t *testing.T) {
	long := strings.Repeat("> line\n", 8)
	assert.Equal(t, []string{"⟨expandable_blockquote " + strings.TrimSpace(strings.Repeat("line\n", 8)) + "⟩"}, shape(Entities(long, 0)))
	assert.Equal(t, []string{"⟨blockquote a\nb⟩"}, shape(Entities("> a\n> b", 0)))
	assert.Contains(t, show(Markdown(long)), "⟨blockquote ", "what asks a person for something hides nothing")
	assert.Contains(t, show(Markdown("```\n"+numbered(200)+"```")), "line 200", "and is no file")
}

func TestThinking(t *testing.T) {
	assert.Equal(t, "⟨expandable_blockquote a\n**b** <c>⟩", show(thinking("\na\n**b** \x1b[1m<c>\n")))
	assert.Equal(t, []string{"⟨expandable_blockquote a **b**⟩"}, shape(ThinkingParts(false, "Thought", "a **b**", 0)))
	rich := ThinkingParts(true, "Thought & *more*", "a **b** <tg-button>\n\n- c", 0)
	require.Len(t, rich, 1)
	assert.Equal(t, "<details><summary>Thought &amp; &#42;more&#42;</summary>\n\na &#42;&#42;b&#42;&#42; &lt;tg-button&gt;\n\n&#45; c\n\n</details>", rich[0].Rich)
	assert.Equal(t, "⟨bold ▸ Thought & *more*⟩\n\na **b** <tg-button>\n\n- c", show(rich[0].Text))
	for _, r := range []bool{false, true} {
		assert.Empty(t, ThinkingParts(r, "Thought", " \n", 0), r)
		parts := ThinkingParts(r, "Thought", numbered(5000), 100)
		for i, p := range parts { // the section is this package's own
			parts[i].Rich = strings.TrimSuffix(strings.TrimPrefix(p.Rich, "<details><summary>Thought</summary>"), "</details>")
		}
		assert.Empty(t, wrong(parts, 100), r)
		assert.Contains(t, contents(parts), "line 5000", r)
		assert.Len(t, ThinkingParts(r, "Thought", numbered(50_000), 100), 1, r)
	}
}

func TestAsFile(t *testing.T) {
	tests := []struct {
		name, file string
		in         Part
		want       File
	}{
		{"text", "answer", Part{Text: Markdown("a [b](http://x.y) **c**")}, File{Name: "answer.txt", Data: []byte("a b (http://x.y) c\n")}},
		{"rich", "answer.md", Part{Text: Plain("a"), Rich: "# a"}, File{Name: "answer.md", Data: []byte("# a\n")}},
		{"a file", "answer", Part{File: &File{Name: "t.png", Data: []byte("x"), Photo: true}}, File{Name: "t.png", Data: []byte("x")}},
		{"a path", "../a/b\n\u202etxt", Part{Text: Plain("x")}, File{Name: "a-b--txt.txt", Data: []byte("x\n")}},
		{"no name", "..", Part{Text: Plain("x")}, File{Name: "message.txt", Data: []byte("x\n")}},
		{"long", strings.Repeat("😀", 99), Part{Text: Plain("x")}, File{Name: strings.Repeat("😀", 30) + ".txt", Data: []byte("x\n")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, AsFile(tt.in, tt.file))
		})
	}
}
