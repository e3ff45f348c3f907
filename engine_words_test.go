package ccbot_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// agentWords are the lines of the engine that still name Claude Code or its own things, by package.
// A coding agent is known only in its own folder of agent. A figure may only become smaller.
var agentWords = map[string]int{}

// engine are the folders of the engine.
var engine = []string{"archive", "internal/process", "internal/session", "lifecycle", "recovery", "tmux"}

// agentKnowledge matches the name of Claude Code, its versions and variables, and words of its own.
var agentKnowledge = regexp.MustCompile(`(?i)claude|\b2\.1\.\d|anthropic_|permission prompt|input needed|/compact\b|AskUserQuestion|ExitPlanMode`)

// agentKeys are names in files that stay: keys of JSON.
var agentKeys = regexp.MustCompile(`claude(_[a-z]+)+`)

// TestNoWordOfClaudeInEngine compares the lines of the engine that name Claude Code, or something
// that only Claude Code has, with the list.
func TestNoWordOfClaudeInEngine(t *testing.T) {
	found := make(map[string]int)
	for _, s := range product(t) {
		if !slices.ContainsFunc(engine, func(dir string) bool { return s.pkg == dir || strings.HasPrefix(s.pkg, dir+"/") }) {
			continue
		}
		text, err := os.ReadFile(s.path)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if agentKnowledge.MatchString(agentKeys.ReplaceAllString(line, "")) {
				found[s.pkg]++
			}
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(found)) {
		assert.LessOrEqual(t, found[pkg], agentWords[pkg], "%s names Claude Code in more lines", pkg)
	}
	for pkg, n := range agentWords {
		assert.GreaterOrEqual(t, found[pkg], n, "%s names it in fewer lines: write the smaller figure", pkg)
	}
}

// TestOnlyProgramsKnowClaude: the rest of the product reaches Claude Code through package agent.
func TestOnlyProgramsKnowClaude(t *testing.T) {
	for _, s := range product(t) {
		top, _, _ := strings.Cut(s.pkg, "/")
		if top == "cmd" || s.pkg == "agent/claude" || strings.HasPrefix(s.pkg, "agent/claude/") {
			continue
		}
		for _, to := range s.imports {
			assert.False(t, to == "agent/claude" || strings.HasPrefix(to, "agent/claude/"), "%s imports %s", s.path, to)
		}
	}
}
