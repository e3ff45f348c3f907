package tmux

import "strings"

// block is what one command answered.
type block struct {
	ours   bool // asked for by this client, not by a user's hook
	failed bool
	lines  []string
}

// parseBlocks reads the lines of one answer. Lines outside of blocks are notifications and are left
// out.
func parseBlocks(lines []string) []block {
	// The last line that closes a block counts: an earlier one is part of a body, such as a captured screen that shows
	// control mode.
	ends := make(map[string]int)
	for i, line := range lines {
		if id, ok := closingGuard(line); ok {
			ends[id] = i
		}
	}
	var blocks []block
	for i := 0; i < len(lines); i++ {
		id, ok := strings.CutPrefix(lines[i], "%begin ")
		if !ok {
			continue
		}
		end, ok := ends[id]
		if !ok || end < i {
			continue
		}
		blocks = append(blocks, block{
			ours:   strings.HasSuffix(id, " 1"),
			failed: strings.HasPrefix(lines[end], "%error "),
			lines:  lines[i+1 : end],
		})
		i = end
	}
	return blocks
}

func closingGuard(line string) (id string, ok bool) {
	if id, ok = strings.CutPrefix(line, "%end "); ok {
		return id, true
	}
	return strings.CutPrefix(line, "%error ")
}

// answer is the result of a line of commands.
type answer struct {
	lines []string // of the commands that succeeded, in order
	fails []string // tmux's own texts
}

func newAnswer(lines []string) (a answer) {
	for _, b := range parseBlocks(lines) {
		switch {
		case !b.ours:
		case b.failed:
			a.fails = append(a.fails, strings.Join(b.lines, "\n"))
		default:
			a.lines = append(a.lines, b.lines...)
		}
	}
	return a
}

// after gives the rest of the first line that starts with the word.
func (a answer) after(word string) (rest string, ok bool) {
	for _, line := range a.lines {
		if rest, ok := strings.CutPrefix(line, word); ok {
			return strings.TrimPrefix(rest, " "), true
		}
	}
	return "", false
}
