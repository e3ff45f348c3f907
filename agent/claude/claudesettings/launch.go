package claudesettings

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/spool"
)

// The seconds after which Claude Code kills a hook. A hook ends earlier by itself, except the hook
// that waits for a person.
const (
	hookTimeout       = 5
	permissionTimeout = 24 * 60 * 60
)

const launchFolder = "launch"

// errNoHookBinary means that there is no executable ccbot-hook in the program's folder.
var errNoHookBinary = errors.New("ccbot-hook is not in ccbot's folder")

// Launch holds the settings that are common to all launches of one ccbot.
type Launch struct {
	Dir        string           // $CCBOT_DIR, absolute
	HookBinary string           // absolute path of ccbot-hook
	Mode       string           // agent.ModeAsk or agent.ModeBypass
	ConfigDir  string           // Claude Code's folder with the user's own settings; "" means none
	Digests    *process.Digests // of the hook; nil: it is read at each launch
}

// Write writes Dir/launch/<record id>.json, the file for `claude --settings`, and returns its path.
// It replaces an older file of the same record. dir is the folder that the session runs in: the
// status line that the person has configured there is read now, and is still shown below ours.
// started holds the variables of Inherited with which the agent is started.
func (l Launch) Write(recordID uuid.UUID, dir string, started map[string]string) (path string, err error) {
	settings, err := l.settings(recordID, dir, started)
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

// HookDigest returns the digest of the hook that a launch names. It is empty if the file cannot be
// read: then the agent's hook is known by its path only.
func (l Launch) HookDigest() string {
	digest, err := l.Digests.Of(l.HookBinary)
	if err != nil {
		return ""
	}
	return digest
}

// Remove removes the settings file of a launch and its last status; missing files are no error.
func (l Launch) Remove(recordID uuid.UUID) error {
	var errs []error
	for _, file := range [][2]string{{launchFolder, ".json"}, {hookwire.StatusFolder, ".json"}, {hookwire.StatusFolder, hookwire.RowsSuffix}} {
		errs = append(errs, spool.Folder{Path: filepath.Join(l.Dir, file[0])}.Remove(recordID.String()+file[1]))
	}
	return errors.Join(errs...)
}

// FindHookBinary finds ccbot-hook in the folder of self, the path of the running ccbot without
// links. The error is errNoHookBinary if there is no executable one.
func FindHookBinary(self string) (string, error) {
	path := filepath.Join(filepath.Dir(self), hookName)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && (!info.Mode().IsRegular() || info.Mode()&0o111 == 0):
		return "", fmt.Errorf("%s: %w", filepath.Dir(self), errNoHookBinary)
	case err != nil:
		return "", fmt.Errorf("%w: %w", errNoHookBinary, err)
	}
	return path, nil
}

// The shape of Claude Code's settings file, as far as ccbot writes it.
type (
	settings struct {
		DisableAllHooks bool                 `json:"disableAllHooks"`
		Hooks           map[string][]matcher `json:"hooks"`
		Permissions     permissions          `json:"permissions"`
		StatusLine      statusLine           `json:"statusLine"`
		Sandbox         *sandbox             `json:"sandbox,omitempty"`
		Env             map[string]string    `json:"env"`
		QuestionTimeout string               `json:"askUserQuestionTimeout"`
		NoAgentView     bool                 `json:"disableAgentView"`
	}
	matcher struct {
		Matcher string    `json:"matcher,omitempty"` // of the tool's name; empty: each
		Hooks   []command `json:"hooks"`
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
	sandbox struct {
		AutoAllow bool `json:"autoAllowBashIfSandboxed"`
	}
	// Claude Code merges statusLine field by field with the one of lower settings: padding and
	// similar fields stay the person's.
	statusLine struct {
		Type    string `json:"type"`
		Command string `json:"command"`
	}
)

func (l Launch) settings(recordID uuid.UUID, dir string, started map[string]string) (settings, error) {
	if !filepath.IsAbs(l.Dir) || !filepath.IsAbs(l.HookBinary) {
		return settings{}, fmt.Errorf("paths must be absolute: %q, %q", l.Dir, l.HookBinary)
	}
	// A value that is Claude Code's own default is written here because it then wins over a
	// repository that sets another one (2.1.328): hooks that are switched off, questions that
	// answer themselves.
	out := settings{
		Hooks: map[string][]matcher{}, Permissions: permissions{Deny: denyBelow(l.Dir)},
		StatusLine: statusLine{Type: "command", Command: l.statusCommand(recordID, ownStatusLine(dir, l.ConfigDir))},
		Env:        pins(started), QuestionTimeout: "never",
		// Otherwise one ← in an empty box, /background or /fork moves the conversation to a daemon
		// under a new id: the chat gets no answer any more, and the daemon outlives the session.
		NoAgentView: true,
	}
	switch l.Mode {
	case agent.ModeAsk:
		// Newer versions start in auto mode, which asks no questions.
		out.Permissions.DefaultMode = "default"
		// Without this a repository could switch on a sandbox that asks no questions.
		out.Sandbox = &sandbox{AutoAllow: false}
	case agent.ModeBypass:
		// A flag of the launch sets this mode, not a setting; the denials above hold in it too.
	default:
		return settings{}, fmt.Errorf("permission mode %q", l.Mode)
	}
	for _, name := range launchEvents {
		if name == hookwire.PermissionRequest && l.Mode != agent.ModeAsk {
			continue // no question
		}
		out.Hooks[name] = []matcher{{Hooks: []command{l.command(recordID, name)}}}
	}
	// A turn that ends by Esc or an API error has no Stop that counts the schedules.
	out.Hooks[hookwire.PostToolUse] = []matcher{{Matcher: hookwire.Schedulers, Hooks: []command{l.command(recordID, hookwire.PostToolUse)}}}
	return out, nil
}

// command is the hook for an event. The hook itself exits with 0; the rest of the line keeps the
// exit code 0 when the binary is gone (an upgrade under a running session) or is killed. Only the
// output of a permission hook, the decision, is passed through.
//
// env -i keeps the environment from the hook, because a repository can change it. A Go program
// exits at its start if GOMEMLIMIT is malformed.
func (l Launch) command(recordID uuid.UUID, event string) command {
	line := cleanEnvironment + l.hook(recordID)
	if event == hookwire.PermissionRequest {
		return command{Type: "command", Command: line + " 2>/dev/null || :", Timeout: permissionTimeout}
	}
	return command{Type: "command", Command: line + " >/dev/null 2>&1 || :", Timeout: hookTimeout}
}

// cleanEnvironment runs a command with the variables that name the agent's process and pane, and no
// others.
const cleanEnvironment = `/usr/bin/env -i CLAUDE_PID="${CLAUDE_PID-}" TMUX="${TMUX-}" TMUX_PANE="${TMUX_PANE-}" `

// maxWrapped limits a command that occurs twice in a shell line, in bytes; Linux allows 128 KiB for
// one argument.
const maxWrapped = 32 << 10

// statusCommand is the shell line of the status line. own is the person's own command: the hook
// executes it in its own place, and without the binary the shell runs it, so that it is shown in
// both cases. It keeps the environment, because the person's command may read it. A command that
// does not fit into the line is returned unchanged.
func (l Launch) statusCommand(recordID uuid.UUID, own string) string {
	switch {
	case own == "":
		return l.hook(recordID) + " --status >/dev/null 2>&1 || :"
	case len(own) > maxWrapped, strings.ContainsRune(own, 0):
		return own
	}
	return "[ -x " + shellQuote(l.HookBinary) + " ] && exec " + l.hook(recordID) + " --status --wrap " + shellQuote(own) + "; eval " + shellQuote(own)
}

// hook returns what every line runs: the binary with ccbot's folder and the launch.
func (l Launch) hook(recordID uuid.UUID) string {
	return shellQuote(l.HookBinary) + " --dir " + shellQuote(l.Dir) + " --launch " + recordID.String()
}

// shellQuote makes one word of s for a POSIX shell: inside single quotes only the single quote
// itself is special.
func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// denyBelow makes the permission rules that keep Claude's file tools out of dir: "//" starts an
// absolute path. Edit stands for every tool that writes files; a rule for Write has no further
// effect and causes a warning at each start (2.1.210 and later). dir is denied under its real name
// as well, because a rule does not follow links in its own path.
func denyBelow(dir string) []string {
	names := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != names[0] {
		names = append(names, real)
	}
	// These characters have a meaning in a rule (gitignore patterns).
	escape := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `(`, `\(`, `)`, `\)`)
	var rules []string
	for _, name := range names {
		for _, tool := range []string{"Read", "Edit"} {
			rules = append(rules, tool+"(/"+escape.Replace(name)+"/**)")
		}
	}
	return rules
}

// launchEvents are the hook events of a launch. All versions from Oldest know them.
var launchEvents = []string{hookwire.SessionStart, hookwire.UserPromptSubmit, hookwire.Stop, hookwire.StopFailure, hookwire.SessionEnd,
	hookwire.PermissionRequest}
