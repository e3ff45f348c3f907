package claudeui

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The rows are those of 2.1.328 against an API that answers with errors.
func TestRetriedRequest(t *testing.T) {
	rule := strings.Repeat("─", 60)
	screen := func(row, footer string) string {
		return "❯ say hi\n\n" + row + "\n\n" + rule + "\n❯\u00a0\n" + rule + "\n  ⏸ manual mode on" + footer + "\n"
	}
	const busy = " · esc to interrupt"
	tests := []struct {
		name, row, footer string
		want              string
		in                time.Duration
	}{
		{"of an error", "✻ 500 Internal server error · retrying in 31s · attempt 10/10", busy, "500 Internal server error", 31 * time.Second},
		{"of a key", "✻ 401 invalid x-api-key · retrying in 3s · attempt 4/10", busy, "401 invalid x-api-key", 3 * time.Second},
		{"of a limit", "✻ API error · retrying in 3s · attempt 2/10", busy, "API error", 3 * time.Second},
		{"in minutes", "✻ 529 Overloaded · retrying in 1m 5s · attempt 2/10", busy, "529 Overloaded", 65 * time.Second},
		{"wrapped", "✻ 529 Overloaded by very many\n  people · retrying in 8s ·\n  attempt 2/10", busy, "529 Overloaded by very many people", 8 * time.Second},
		{"a turn that runs", "✻ Zesting… (5s · ↓ 119 tokens)", busy, "", 0},
		{"the agent's own words", "● 529 Overloaded · retrying in 8s · attempt 2/10", busy, "", 0},
		{"no turn runs", "✻ 529 Overloaded · retrying in 8s · attempt 2/10", "", "", 0},
		{"a number that is none", "✻ 529 · retrying in 9999h · attempt 2/10", busy, "", 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := Read(screen(tc.row, tc.footer))
			assert.True(t, got.Box.Present)
			assert.Equal(t, tc.want, got.Retry)
			assert.Equal(t, tc.in, got.RetryIn)
		})
	}
}

// The rows are those of 2.1.328 during and after /compact.
func TestCompaction(t *testing.T) {
	rule := strings.Repeat("─", 60)
	for _, tc := range []struct {
		name, row, footer string
		want              bool
	}{
		{"of a person", "✶ Compacting conversation… (4s)", " · esc to interrupt", true},
		{"another turn", "✶ Zesting… (5s · ↓ 119 tokens)", " · esc to interrupt", false},
		{"the agent's own words", "● Compacting conversation… (4s)", " · esc to interrupt", false},
		{"what an interrupted one has left", "✶ Compacting conversation… (4s)", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Read("❯ /compact\n\n" + tc.row + "\n\n" + rule + "\n❯\u00a0\n" + rule + "\n  ⏸ manual mode on" + tc.footer + "\n")
			assert.True(t, got.Box.Present)
			assert.Equal(t, tc.want, got.Compacts)
		})
	}
	flat := Read("you: /compact\nCompacting conversation…\nTip: be kind\nmanual mode on  ·  esc to interrupt\n$\n") // of 2.1.332
	assert.True(t, flat.Flat && flat.Compacts)
}
