package claudesettings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
)

// versionBound is how long `claude --version` may take. 2.1.328 takes 10 ms, and 2 s when its 370
// MB must first be read from the disk, which the launch after it then need not do.
const versionBound = 5 * time.Second

// Binary knows the version of the installed Claude Code. It runs the binary itself, once for each
// binary, because an update replaces the file. A launcher that stays the same over updates is run
// once.
type Binary struct {
	Command string   // a name on PATH or a path
	Env     []string // the complete environment of the binary; nothing secret belongs here
	Log     *slog.Logger
	// Stale has one slot: Known has seen a binary that Run must ask; nil when Run is not used.
	Stale chan struct{}

	asking  sync.Mutex // held while the binary runs, so that it runs once
	mu      sync.Mutex // protects asked and version
	asked   build
	version string
}

// Run asks the binary at once, and then each new binary that Known has seen, until ctx ends.
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

// Known returns the version without waiting, "" if no binary has answered yet. Until a new binary
// has answered, it returns the version of the previous binary.
func (b *Binary) Known() string {
	_, now, err := b.find()
	known, version := b.lastVersion()
	if err == nil && now != known {
		pause.Poke(b.Stale)
	}
	return version
}

func (b *Binary) lastVersion() (of build, version string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked, b.version
}

// build distinguishes one binary from the next.
type build struct {
	path string // with links followed
	size int64
	time time.Time
}

// Version returns what `claude --version` prints, "2.1.328 (Claude Code)", or "" where the version
// is unknown: there is no binary, it fails, takes too long or prints something else. The first call
// may take versionBound.
func (b *Binary) Version(ctx context.Context) string {
	b.asking.Lock()
	defer b.asking.Unlock()
	command, now, err := b.find()
	if err != nil {
		return "" // the launch reports what is missing
	}
	if known, version := b.lastVersion(); now == known {
		return version
	}
	said, err := b.ask(ctx, command)
	if ctx.Err() != nil {
		return ""
	}
	if err != nil {
		b.Log.Warn("claude_version_unknown", logkey.Command, b.Command, logkey.Error, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked, b.version = now, said
	return said
}

// find finds the binary and keeps the name by which it is called, because some programs act by that
// name.
func (b *Binary) find() (command string, found build, err error) {
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

// versionRest is how long a child process that the binary left behind may keep the output open.
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

// start keeps the first bytes written to it.
type start []byte

// Write accepts all of p.
func (s *start) Write(p []byte) (int, error) {
	*s = append(*s, p[:min(len(p), maxVersion-len(*s))]...)
	return len(p), nil
}

// maxVersion is far above the length of a line with a version.
const maxVersion = 200

// Oldest is the oldest version of Claude Code with which ccbot works, and Tested the newest that
// its tests have run.
const (
	Oldest = "2.1.128"
	Tested = "2.1.332"
)

// Support is the degree to which a version of Claude Code is known.
type Support int

// The zero value stands for a version that cannot be read.
const (
	UnknownVersion Support = iota
	TooOld                 // older than Oldest
	Supported
	Untested // newer than Tested
)

// SupportOf returns how far ccbot knows a version, "2.1.328" or "2.1.328 (Claude Code)".
func SupportOf(version string) Support {
	v, ok := parseVersion(version)
	oldest, _ := parseVersion(Oldest)
	tested, _ := parseVersion(Tested)
	switch {
	case !ok:
		return UnknownVersion
	case slices.Compare(v[:], oldest[:]) < 0:
		return TooOld
	case slices.Compare(v[:], tested[:]) > 0:
		return Untested
	}
	return Supported
}

// parseVersion returns the three numbers of a version. A pre-release counts as its release.
func parseVersion(s string) (v [3]int, ok bool) {
	word, _, _ := strings.Cut(strings.TrimSpace(s), " ")
	word, _, _ = strings.Cut(word, "-")
	parts := strings.Split(strings.TrimPrefix(word, "v"), ".")
	if len(parts) != len(v) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}
