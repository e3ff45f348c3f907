package hookwire

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// errNoClaude means that no ancestor of this process can be the Claude Code that runs the hook.
var errNoClaude = errors.New("no claude process above this one")

// ancestry limits the walk up to the top; a hook is two or three processes below its claude.
const ancestry = 64

// parent is one ancestor of this process.
type parent struct {
	PID, PPID int
	Start     uint64 // as Event.AgentStart
	Comm      string // the kernel's short name
	Exe       string // path of the executable; "" when unreadable
	Zombie    bool   // it has ended, and its parent has not collected its exit status
}

// ClaudeProcess finds the Claude Code process above this one and its start time. It is the nearest
// ancestor that is CLAUDE_PID (looked up with getenv) or has the name claude. The nearest one is
// right, because a claude that runs inside a tool call of another claude inherits CLAUDE_PID of the
// outer one. Without such an ancestor it is the nearest ancestor that is not a shell. The error is
// errNoClaude if there is no such process.
func ClaudeProcess(getenv func(string) string) (pid int, start uint64, err error) {
	claimed, _ := strconv.Atoi(getenv("CLAUDE_PID")) // 0 when absent or garbage: no process has it
	is := func(p parent) bool { return p.PID == claimed || looksLikeClaude(p) }
	found, err := claudeAbove(ancestors(is), claimed)
	return found.PID, found.Start, err
}

// ancestors reads the chain above this process, nearest first, up to the first process for which
// last holds, and as far as it can be read. The usual chain has two processes; reading the chain to
// its top would delay each prompt noticeably.
func ancestors(last func(parent) bool) (chain []parent) {
	for pid := os.Getppid(); pid > 0 && len(chain) < ancestry; {
		p, err := readParent(pid)
		if err != nil {
			break
		}
		chain = append(chain, p)
		if last(p) {
			break
		}
		pid = p.PPID
	}
	return chain
}

// lives reports whether the process with that start time is still there.
func lives(pid int, start uint64) bool {
	p, err := readParent(pid)
	return err == nil && p.Start == start && !p.Zombie
}

// claudeAbove makes the choice of ClaudeProcess among the ancestors, nearest first.
func claudeAbove(chain []parent, claimed int) (parent, error) {
	for _, p := range chain {
		if p.PID == claimed || looksLikeClaude(p) {
			return p, nil
		}
	}
	for _, p := range chain {
		// a login shell's name starts with a dash
		if slices.Contains(shells, strings.TrimPrefix(p.Comm, "-")) {
			continue
		}
		if p.PID <= 1 || slices.Contains(tops, p.Comm) || strings.HasPrefix(p.Comm, "tmux") {
			break
		}
		return p, nil
	}
	return parent{}, errNoClaude
}

// Processes of a dead claude end up under those of tops: nothing above them is a claude either.
var (
	shells = []string{"sh", "bash", "dash", "ash", "zsh", "fish", "ksh", "busybox"}
	tops   = []string{"systemd", "launchd", "init"}
)

// looksLikeClaude is also true for a script with that name, because the kernel uses the script's
// name as comm.
func looksLikeClaude(p parent) bool {
	// On Linux an executable that was replaced while it runs, as by an update, has this suffix.
	exe := filepath.Base(strings.TrimSuffix(p.Exe, " (deleted)"))
	for _, name := range []string{p.Comm, exe} {
		if name == "claude" || name == "claude.exe" {
			return true
		}
	}
	return false
}
