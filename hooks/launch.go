package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/spool"
)

// The permission modes of a launch, as CCBOT_PERMISSION_MODE names them.
const (
	ModeAsk    = "ask"
	ModeBypass = "bypass"
)

// hookTimeout, in seconds, is when Claude Code kills a hook. The hook ends itself earlier.
const hookTimeout = 5

const launchFolder = "launch"

// ErrNoHookBinary says that there is no executable ccbot-hook beside the program.
var ErrNoHookBinary = errors.New("ccbot-hook is not beside ccbot")

// Launch is what the settings files of one ccbot have in common.
type Launch struct {
	Dir        string // $CCBOT_DIR, absolute
	HookBinary string // absolute path of ccbot-hook
	Mode       string // ModeAsk or ModeBypass
	Version    string // of the installed Claude Code, for EventNames; may be empty
}

// Write writes Dir/launch/<record id>.json, the file for `claude --settings`, and gives its path. It replaces an older
// one of the same record.
func (l Launch) Write(recordID uuid.UUID) (path string, err error) {
	settings, err := l.settings()
	if err != nil {
		return "", fmt.Errorf("launch settings: %w", err)
	}
	data, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return "", fmt.Errorf("launch settings: %w", err)
	}
	folder := spool.Folder{Path: filepath.Join(l.Dir, launchFolder), Fsync: true}
	name := recordID.String() + ".json"
	if err := folder.Put(name, append(data, '\n')); err != nil {
		return "", fmt.Errorf("launch settings: %w", err)
	}
	return filepath.Join(folder.Path, name), nil
}

// Remove takes the settings file of a launch away; a missing one is fine.
func (l Launch) Remove(recordID uuid.UUID) error {
	err := os.Remove(filepath.Join(l.Dir, launchFolder, recordID.String()+".json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove launch settings: %w", err)
	}
	return nil
}

// FindHookBinary finds ccbot-hook beside self, the path of the running ccbot, or beside what self is a link to.
// ErrNoHookBinary when there is none that can be run.
func FindHookBinary(self string) (string, error) {
	self, err := filepath.Abs(self)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoHookBinary, err)
	}
	beside := []string{self}
	if real, err := filepath.EvalSymlinks(self); err == nil && real != self {
		beside = append(beside, real)
	}
	for _, program := range beside {
		path := filepath.Join(filepath.Dir(program), "ccbot-hook")
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%w: %w", ErrNoHookBinary, err)
		}
	}
	return "", fmt.Errorf("%s: %w", filepath.Dir(self), ErrNoHookBinary)
}

// The shape of Claude Code's settings file, as far as it is written here.
type (
	settings struct {
		Hooks       map[string][]matcher `json:"hooks"`
		Permissions permissions          `json:"permissions"`
	}
	matcher struct {
		Hooks []command `json:"hooks"`
	}
	command struct {
		Type    string `json:"type"`
		Command string `json:"command"` // run by /bin/sh -c
		Timeout int    `json:"timeout"` // seconds
	}
	permissions struct {
		DefaultMode string   `json:"defaultMode,omitempty"`
		Deny        []string `json:"deny"`
	}
)

func (l Launch) settings() (settings, error) {
	if !filepath.IsAbs(l.Dir) || !filepath.IsAbs(l.HookBinary) {
		return settings{}, fmt.Errorf("paths must be absolute: %q, %q", l.Dir, l.HookBinary)
	}
	out := settings{Hooks: map[string][]matcher{}, Permissions: permissions{Deny: denyBelow(l.Dir)}}
	switch l.Mode {
	case ModeAsk:
		// Newer versions start in auto mode, which asks nobody.
		out.Permissions.DefaultMode = "default"
	case ModeBypass: // is a flag of the launch, not a setting; denials hold there too
	default:
		return settings{}, fmt.Errorf("permission mode %q", l.Mode)
	}
	run := command{Type: "command", Command: l.command(), Timeout: hookTimeout}
	for _, name := range EventNames(l.Version) {
		out.Hooks[name] = []matcher{{Hooks: []command{run}}}
	}
	return out, nil
}

// command is the shell line of a hook. The hook itself is silent and ends with 0; the rest of the line keeps that true
// when the binary is gone (an upgrade under a running session) or is killed.
func (l Launch) command() string {
	return shellQuote(l.HookBinary) + " --dir " + shellQuote(l.Dir) + " >/dev/null 2>&1 || :"
}

// shellQuote makes one word of s for a POSIX shell: in single quotes only the single quote itself is special.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// denyBelow makes the permission rules that keep Claude's file tools out of dir: "//" starts an absolute path. Edit
// stands for every tool that writes files; a rule for Write does no more and is warned of at each start (2.1.210 and
// later). dir is denied under its real name as well, for a rule does not follow links in its own path.
func denyBelow(dir string) []string {
	names := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != names[0] {
		names = append(names, real)
	}
	var rules []string
	for _, name := range names {
		for _, tool := range []string{"Read", "Edit"} {
			rules = append(rules, tool+"(/"+escapePattern(name)+"/**)")
		}
	}
	return rules
}

// escapePattern keeps the characters of a path that mean something in a rule (gitignore patterns) from meaning it.
func escapePattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `(`, `\(`, `)`, `\)`).Replace(path)
}
