//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/e2e/realcodex"
	demowords "ccbot/try/demoagent/script"
)

// TestRealP5_CodexLongAnswersAreWhole: an answer that needs many messages, at Telegram's pace and beside a card that changes, comes with
// every character, once and in its order.
func TestRealP5_CodexLongAnswersAreWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCards)
	w.addCodexOf(realcodex.InCodeMode, w.dir)
	w.start()
	w.hear(w.say("/new work "+w.dir+" --agent codex"), "work is ready")
	words := func(s string) string { return strings.Join(strings.Fields(fence.ReplaceAllString(s, "")), " ") }
	for _, length := range []int{33_782, 60_000} {
		asked := w.say(fmt.Sprintf("long %d", length))
		want, got := words(demowords.Long(length)), ""
		w.until(fmt.Sprintf("the answer of %d is there", length), func() bool {
			var parts []string
			for _, m := range w.api.Messages(w.chat()) {
				usual := slices.ContainsFunc(usualWords, func(words string) bool { return strings.HasPrefix(m.Text, words) })
				if m.FromBot && m.ID > asked && !usual {
					parts = append(parts, m.Body())
				}
			}
			got = words(strings.Join(parts, " "))
			return len(got) >= len(want)
		})
		assert.Equal(t, want, got)
	}
}
