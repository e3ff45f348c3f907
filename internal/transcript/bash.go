package transcript

import (
	"bytes"
)

// bashWindow is how far before an output its command is searched for: Claude Code writes the two
// right after each other, once the command has ended.
const bashWindow = 256 << 10

// BashCommand is the command of bash mode ("!make test") that printed the output at a place. It is
// empty when the command is not found.
func BashCommand(at Cursor) string {
	file, _, err := openAnyones(at.Path)
	if err != nil {
		return ""
	}
	defer file.Close()
	start := max(0, at.Offset-bashWindow)
	before := make([]byte, at.Offset-start)
	if _, err := file.ReadAt(before, start); err != nil {
		return ""
	}
	lines := bytes.Split(before, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if !bytes.Contains(lines[i], []byte("bash-input")) {
			continue
		}
		items, err := parseLine(lines[i])
		if err == nil && len(items) == 1 && items[0].Kind == LocalCommand && items[0].Command == "!" {
			return items[0].Text
		}
	}
	return ""
}
