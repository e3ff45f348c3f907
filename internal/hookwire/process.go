package hookwire

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrNoClaude says that no ancestor of this process can be the Claude Code that runs the hook.
var ErrNoClaude = errors.New("no claude process above this one")

// ancestry bounds the walk to the top; a hook is two or three processes below its claude.
const ancestry = 64

// parent is one process on the way up.
type parent struct {
	PID, PPID int
	Start     uint64 // as Event.ClaudeStart
	Comm      string // the kernel's short name
	Exe       string // path of the executable; "" when unreadable
}

// ClaudeProcess finds the Claude Code process above this one and its start time. Going up it is the first ancestor
// that is CLAUDE_PID (looked up with getenv) or is called claude: a claude nested in another one's tool call inherits
// the outer CLAUDE_PID, so the nearer one wins. Without either it is the nearest ancestor that is not a shell.
// ErrNoClaude when there is none.
func ClaudeProcess(getenv func(string) string) (pid int, start uint64, err error) {
	told, _ := strconv.Atoi(getenv("CLAUDE_PID")) // 0 when absent or garbage: no process has it
	found, err := claudeAbove(ancestors(), told)
	return found.PID, found.Start, err
}

// claudeAbove is the choice of ClaudeProcess over the ancestors, nearest first.
func claudeAbove(chain []parent, told int) (parent, error) {
	for _, p := range chain {
		if p.PID == told || looksLikeClaude(p) {
			return p, nil
		}
	}
	for _, p := range chain {
		if isShell(p) {
			continue
		}
		if isTop(p) {
			break
		}
		return p, nil
	}
	return parent{}, ErrNoClaude
}

// looksLikeClaude also holds for a script with that name, whose comm is the script's.
func looksLikeClaude(p parent) bool {
	for _, name := range []string{p.Comm, base(p.Exe)} {
		if name == "claude" || name == "claude.exe" {
			return true
		}
	}
	return false
}

func isShell(p parent) bool {
	switch strings.TrimPrefix(p.Comm, "-") { // a login shell's name starts with a dash
	case "sh", "bash", "dash", "ash", "zsh", "fish", "ksh", "busybox":
		return true
	}
	return false
}

// isTop names what a process ends up under when its claude has died: nothing above it is a claude either.
func isTop(p parent) bool {
	return p.PID <= 1 || p.Comm == "systemd" || p.Comm == "launchd" || p.Comm == "init" || strings.HasPrefix(p.Comm, "tmux")
}

func base(path string) string {
	// An executable replaced while it runs, as an update does, has this suffix on Linux.
	return filepath.Base(strings.TrimSuffix(path, " (deleted)"))
}
