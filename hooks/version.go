package hooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// versionBound is how long `claude --version` may take. 2.1.328 takes 10 ms, and 2 s where its 370 MB have to come from
// the disk first, which the launch behind it saves.
const versionBound = 5 * time.Second

// Binary knows the version of the Claude Code that is installed. It asks the binary itself, once for each one: an
// update replaces the file. A launcher that stays the same over updates is asked once.
type Binary struct {
	Command string   // a name on PATH or a path
	Env     []string // all that the binary gets; nothing secret belongs here
	Log     *slog.Logger
	Stale   chan struct{} // one slot: Known has seen a binary that Run is to ask; nil: nobody runs Run

	asking  sync.Mutex // held while the binary is asked, so that it is asked once
	mu      sync.Mutex // of what it said
	asked   build
	version string
}

// Run asks the binary at once, and each one that Known has seen since, until ctx ends.
func (b *Binary) Run(ctx context.Context) error {
	for {
		b.Version(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.Stale:
		}
	}
}

// Known is the version without a wait, "" where no binary has said one yet. Until a new binary is asked it is that of
// the one before: an update knows the events that the older one knew.
func (b *Binary) Known() string {
	_, now, err := b.look()
	known, version := b.said()
	if err == nil && now != known {
		pause.Poke(b.Stale)
	}
	return version
}

func (b *Binary) said() (of build, version string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked, b.version
}

// build tells one binary from the next.
type build struct {
	path string // links followed
	size int64
	time time.Time
}

// Version is as `claude --version` says it, "2.1.328 (Claude Code)", or "" where that is not known: there is none, it
// fails, takes too long or says something else. It may take versionBound the first time.
func (b *Binary) Version(ctx context.Context) string {
	b.asking.Lock()
	defer b.asking.Unlock()
	command, now, err := b.look()
	if err != nil {
		return "" // the launch says what is missing
	}
	if known, version := b.said(); now == known {
		return version
	}
	said, err := b.ask(ctx, command)
	if ctx.Err() != nil {
		return ""
	}
	if err != nil {
		b.Log.Warn("claude_version_unknown", logkey.Command, b.Command, logkey.Error, err.Error())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked, b.version = now, said
	return said
}

// look finds the binary and how it is called: some tell by their name what they are.
func (b *Binary) look() (command string, found build, err error) {
	if command, err = exec.LookPath(b.Command); err != nil {
		return "", build{}, err
	}
	if command, err = filepath.Abs(command); err != nil {
		return "", build{}, err
	}
	if found.path, err = filepath.EvalSymlinks(command); err != nil {
		return "", build{}, err
	}
	info, err := os.Stat(found.path)
	if err != nil {
		return "", build{}, err
	}
	found.size, found.time = info.Size(), info.ModTime()
	return command, found, nil
}

// versionRest is how long a child that the binary left behind may keep its output open.
const versionRest = 500 * time.Millisecond

func (b *Binary) ask(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionBound)
	defer cancel()
	var said start
	cmd := exec.CommandContext(ctx, command, "--version")
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.WaitDelay = b.Env, "/", &said, versionRest
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return "", err
	}
	line, _, _ := strings.Cut(string(said), "\n")
	if _, ok := parseVersion(line); !ok {
		return "", fmt.Errorf("it says %q", line)
	}
	return strings.TrimSpace(line), nil
}

// start keeps the first bytes of what is written to it.
type start []byte

// Write takes all of p.
func (s *start) Write(p []byte) (int, error) {
	*s = append(*s, p[:min(len(p), maxVersion-len(*s))]...)
	return len(p), nil
}

// maxVersion is far above a line with a version.
const maxVersion = 200
