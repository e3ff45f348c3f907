package transcript

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/internal/longtest"
	"ccbot/port/talk"
)

const endOfTurn = `{"type":"system","subtype":"turn_duration","durationMs":5}` + "\n"

func TestLastAnswer(t *testing.T) {
	output := `{"type":"user","message":{"content":"<bash-stdout>out</bash-stdout>"}}` + "\n"
	aside := `{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"aside"}]}}` + "\n"
	call := `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","id":"t"}]}}` + "\n"
	for _, tt := range []struct {
		name   string
		lines  []string
		behind []string // the cursor
		want   []string
	}{
		{name: "nothing"},
		{name: "only a prompt", lines: []string{prompt("p")}},
		{name: "one answer", lines: []string{prompt("p"), reply("m", "one"), endOfTurn}, want: []string{"one"}},
		{name: "all of the turn", lines: []string{prompt("p"), reply("m", "one"), call, aside, reply("m2", "two", "three"), endOfTurn}, want: []string{"one", "two", "three"}},
		{name: "not the turn before", lines: []string{prompt("p"), reply("m", "one"), prompt("q"), reply("m2", "two")}, want: []string{"two"}},
		{name: "a turn without an answer behind it", lines: []string{reply("m", "one"), endOfTurn, prompt("q"), call, endOfTurn}, want: []string{"one"}},
		{name: "a command's output", lines: []string{reply("m", "one"), prompt("q"), output}, want: []string{"out"}},
		{name: "not what comes behind the cursor", lines: []string{prompt("p"), reply("m", "one")},
			behind: []string{reply("m2", "two"), prompt("q"), reply("m3", "three")}, want: []string{"one"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.jsonl")
			before := strings.Join(tt.lines, "")
			write(t, path, before+strings.Join(tt.behind, ""))
			items, cut, err := Form().LastAnswer(t.Context(), talk.Cursor{Path: path, Offset: int64(len(before))})
			require.NoError(t, err)
			assert.Equal(t, tt.want, said(items))
			assert.False(t, cut)
		})
	}
	items, cut, err := Form().LastAnswer(t.Context(), talk.Cursor{Path: filepath.Join(t.TempDir(), "none"), Offset: 7})
	require.NoError(t, err)
	assert.Empty(t, items)
	assert.False(t, cut)
}

func TestLastAnswerStopsInsideALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	write(t, path, reply("m", "one", "two", "three"))
	items, cut, err := Form().LastAnswer(t.Context(), talk.Cursor{Path: path, Block: 2, Part: 1})
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two"}, said(items))
	assert.False(t, cut)
}

// picture is the result of a tool, of 1 MiB.
var picture = fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"data":%q}}]}]}}`,
	strings.Repeat("A", 1<<20)) + "\n"

// tooFar are more pictures than the form searches for an answer. The usual 32 MiB are left to long
// runs, because they take seconds to write and read.
func tooFar() (form *jsonl.Form, pictures int) {
	shorter := *Form()
	shorter.Farthest = int64(longtest.Size(8<<20, 0))
	return &shorter, longtest.Size(10, 40)
}

// Pictures of tools are megabytes; the text before them is found all the same, but not at any
// price.
func TestLastAnswerReadsOnlyTail(t *testing.T) {
	form, tooMany := tooFar()
	for _, tt := range []struct {
		name     string
		pictures int
		want     []string
	}{
		{"near", 1, []string{"one"}},
		{"farther", longtest.Size(6, 12), []string{"one"}},
		{"too far", tooMany, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.jsonl")
			content := reply("m", "one") + strings.Repeat(picture, tt.pictures)
			write(t, path, content)
			items, cut, err := form.LastAnswer(t.Context(), talk.Cursor{Path: path, Offset: int64(len(content))})
			require.NoError(t, err)
			assert.Equal(t, tt.want, said(items))
			assert.Equal(t, tt.pictures == tooMany, cut)
		})
	}
}

// A turn longer than what is read at first is still shown from its beginning.
func TestP5_LongAnswersAreWholeOrCalledCut(t *testing.T) {
	form, tooMany := tooFar()
	for _, tt := range []struct {
		name     string
		pictures int
		want     []string
		cut      bool
	}{
		{"3 MB in one turn", 3, []string{"one", "two"}, false},
		{"farther than is searched", tooMany, []string{"two"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.jsonl")
			begun := prompt("p")
			content := begun + reply("m", "one") + strings.Repeat(picture, tt.pictures) + reply("m2", "two") + endOfTurn
			write(t, path, content)
			end := talk.Cursor{Path: path, Offset: int64(len(content))}
			items, cut, err := form.LastAnswer(t.Context(), end)
			require.NoError(t, err)
			assert.Equal(t, tt.want, said(items))
			assert.Equal(t, tt.cut, cut)
			var texts []string
			cut, err = form.Between(t.Context(), &talk.Cursor{Path: path, Offset: int64(len(begun))}, end, func(i talk.Item, _ talk.Failure) { texts = append(texts, i.Text) })
			require.NoError(t, err)
			assert.Equal(t, tt.want, texts)
			assert.Equal(t, tt.cut, cut)
			stopped, stop := context.WithCancel(t.Context())
			stop()
			_, _, err = form.LastAnswer(stopped, end)
			require.ErrorIs(t, err, context.Canceled)
			_, err = form.Between(stopped, &talk.Cursor{Path: path}, end, nil)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

func TestItemsKeepPartsAndForm(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	write(t, path, reply("m", "one", "two"))
	items := drain(t, Form().Open(talk.Cursor{Path: path, Block: 1, Part: 3, Form: "rich"}))
	require.Len(t, items, 1)
	assert.Equal(t, talk.Cursor{Path: path, Block: 1, Part: 3, Form: "rich"}, items[0].At)
	assert.Empty(t, items[0].Next.Form)
}

func TestLastPrompt(t *testing.T) {
	call := `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","id":"t"}]}}` + "\n"
	picture := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"` + strings.Repeat("x", 600<<10) + `"}]}}` + "\n"
	aside := `{"type":"user","isSidechain":true,"message":{"content":"aside"}}` + "\n"
	meta := `{"type":"user","isMeta":true,"message":{"content":"put in"}}` + "\n"
	command := `{"type":"user","message":{"content":"<command-name>/compact</command-name><command-args>short</command-args>"}}` + "\n"
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"nothing", nil, ""},
		{"the newest", []string{prompt("one"), reply("m", "yes"), prompt("two"), reply("m2", "no")}, "two"},
		{"a command", []string{prompt("one"), command}, "/compact short"},
		{"not a subagent's, nor a program's", []string{prompt("one"), aside, meta}, "one"},
		{"far behind", []string{prompt("one"), call, picture, call, picture}, "one"},
		{"too far behind", []string{prompt("one"), strings.Repeat(picture, 30)}, ""},
		{"behind a line that begins too far back", []string{prompt("one"), strings.Replace(picture, "xx", strings.Repeat("x", 10<<20), 1)}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.jsonl")
			write(t, path, strings.Join(tt.lines, ""))
			assert.Equal(t, tt.want, Form().LastPrompt(t.Context(), path))
		})
	}
	assert.Empty(t, Form().LastPrompt(t.Context(), filepath.Join(t.TempDir(), "none")))
}
