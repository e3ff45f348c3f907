package script

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDecide(t *testing.T) {
	tests := []struct {
		name, prompt string
		check        func(t *testing.T, s Step)
	}{
		{"say", "say X  y\nz", func(t *testing.T, s Step) { assert.Equal(t, "X  y\nz", s.Text) }},
		{"bash", "bash rm -rf /", func(t *testing.T, s Step) { assert.Equal(t, "rm -rf /", s.Tool.Command) }},
		{"ask", "ask", func(t *testing.T, s Step) { assert.Len(t, s.Tool.Questions, 2) }},
		{"ask multi", "ask multi", func(t *testing.T, s Step) { assert.True(t, s.Tool.Questions[0].MultiSelect) }},
		{"plan", "plan", func(t *testing.T, s Step) { assert.Equal(t, "ExitPlanMode", s.Tool.Name) }},
		{"slow is bounded", "slow 999999999", func(t *testing.T, s Step) { assert.Equal(t, longest, s.Over) }},
		{"slow until a file", "slow until told\n\nThe task:\n\nsay it", func(t *testing.T, s Step) { assert.Equal(t, "told", s.Until) }},
		{"long", "long 4321", func(t *testing.T, s Step) { assert.Len(t, s.Text, 4321) }},
		{"error", "error", func(t *testing.T, s Step) { assert.NotEmpty(t, s.Error) }},
		{"crash in a sentence is a word", "crash course, please", func(t *testing.T, s Step) { assert.False(t, s.Crash) }},
		{"help", "help", func(t *testing.T, s Step) { assert.Contains(t, s.Text, "`bash make test`") }},
		{"anything", "why\nthough", func(t *testing.T, s Step) { assert.Contains(t, s.Text, "> why\n> though\n") }},
		{"nothing", "", func(t *testing.T, s Step) { assert.NotEmpty(t, s.Text) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			steps := Decide(tt.prompt)
			require.Len(t, steps, 1)
			tt.check(t, steps[0])
		})
	}
}

func TestLong(t *testing.T) {
	for _, n := range []int{0, 1, 400, 12345} {
		assert.Equal(t, n, utf8.RuneCountInString(Long(n)))
	}
	assert.Contains(t, Long(400), "```go\n")
}

func TestWorkSteps(t *testing.T) {
	for _, n := range []int{1, 2, 3, 40, 1000} {
		calls := 0
		for _, step := range workSteps(n) {
			if step.Tool != nil && step.Tool.Name != "TodoWrite" {
				calls++
			}
		}
		assert.Equal(t, min(n, maxWork), calls)
	}
}
