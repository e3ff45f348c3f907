package claudeflags

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

const (
	textX = "0b5c9a1e-7d3f-4c62-9a53-1f7a5b0e9c11"
	textY = "f4f6ad1c-2e51-4a0e-8e0b-6a1d92c3d702"
)

var idX = uuid.MustParse(textX)

// The words around the option do not change the result.
func TestSessionArg_onlyTheOptionCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([][]string{{"--resume", textX}, {"-r" + textX}, {"--session-id=" + textX}, {"-pr", textX}}).Draw(t, "line")
		word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"--resume", "--fork-session", "--", "-r", textY, "--resume=" + textY}))
		before := []string{"claude"}
		for range rapid.IntRange(0, 3).Draw(t, "options") {
			option := rapid.SampledFrom([]string{"--append-system-prompt", "--name", "-n", "--settings", "--model"}).Draw(t, "option")
			before = append(before, option, word.Draw(t, "value"))
		}
		args := append(append(before, line...), "--")
		args = append(args, rapid.SliceOf(word).Draw(t, "rest")...)
		if ids := Sessions(args); len(ids) != 1 || ids[0] != idX {
			t.Fatalf("%q gives %v", args, ids)
		}
	})
}

func TestOption(t *testing.T) {
	tests := []struct {
		name   string
		args   []string
		option string
		n      int
	}{
		{"a text", []string{"text", "x"}, "", 1},
		{"a dash", []string{"-", "x"}, "", 1},
		{"a value", []string{"--effort", "high"}, "--effort", 2},
		{"that looks like an option", []string{"--effort", "--"}, "--effort", 2},
		{"that is missing", []string{"--effort"}, "--effort", 2},
		{"that is joined", []string{"--effort=high", "x"}, "--effort", 1},
		{"one of several", []string{"--add-dir", "a", "b"}, "--add-dir", 2},
		{"one that may be left out", []string{"-r", "x"}, "--resume", 2},
		{"and is", []string{"-r", "-d"}, "--resume", 1},
		{"at the end", []string{"-r"}, "--resume", 1},
		{"behind its letter", []string{"-rx", "y"}, "--resume", 1},
		{"letters", []string{"-pc", "y"}, "-pc", 1},
		{"letters with a value", []string{"-pn", "y"}, "--name", 2},
		{"not known", []string{"--later", "y"}, "--later", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if option, _, n := read(tt.args); option != tt.option || n != tt.n {
				t.Fatalf("%q gives %q, %d", tt.args, option, n)
			}
		})
	}
}

func TestForbidden(t *testing.T) {
	for _, word := range []string{"--resume", "-r", "--continue", "-c", "--session-id", "--fork-session", "--settings", "-p", "--print",
		"-pc", "-rx", "-pr", "--bg", "--background", "--cloud", "--tmux", "--teleport", "--from-pr", "--desktop"} {
		name, found := Forbidden([]string{"--model", "x", word, "y"})
		assert.True(t, found)
		if !strings.HasPrefix(word, "--") {
			word = word[:2]
		}
		assert.Equal(t, word, name)
	}
	name, found := Forbidden([]string{"-p123456789:AAprivate"})
	assert.True(t, found)
	assert.Equal(t, "-p", name, "and no more of the word")
	for _, value := range []string{"-please answer briefly", "-c means compile", "-respond in German", "--resume what you did"} {
		_, found = Forbidden([]string{"--append-system-prompt", value})
		assert.False(t, found, "it is a value that only begins like an option")
	}
	name, found = Forbidden([]string{"--session-id=x"})
	assert.True(t, found)
	assert.Equal(t, "--session-id", name, "without its value")
	_, found = Forbidden([]string{"--append-system-prompt", "--resume"})
	assert.True(t, found, "not even as a value")
	_, found = Forbidden([]string{"--permission-prompt-tool", "x", "--resume-at", "resume", "-", "--", "-d", "-n", "p"})
	assert.False(t, found)
}
