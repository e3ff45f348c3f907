package demoagent

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// settings is the part of Claude Code's settings that this stand-in reads.
type settings struct {
	Hooks       map[string][]hookGroup `json:"hooks"`
	Permissions struct {
		DefaultMode string `json:"defaultMode"`
	} `json:"permissions"`
	StatusLine struct {
		Command string `json:"command"`
	} `json:"statusLine"`
	Env map[string]string `json:"env"` // of the commands that it runs
}

type hookGroup struct {
	Matcher string `json:"matcher"`
	Hooks   []hook `json:"hooks"`
}

type hook struct {
	Type    string  `json:"type"`
	Command string  `json:"command"`
	Timeout float64 `json:"timeout"` // seconds; 0 for the default
}

// events are the hook events that the version we stand for knows; another one opens a dialog at
// start.
var events = strings.Fields("PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit " +
	"UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact " +
	"PreModelSwitch PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted " +
	"Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged " +
	"DirectoryAdded MessageDisplay")

// loadSettings merges user settings, project settings and --settings: hooks of all of them run, the
// last one that says something else wins. Only --settings must exist.
func loadSettings(config, cwd, flag string) (settings, error) {
	var merged settings
	for _, path := range []string{
		filepath.Join(config, "settings.json"),
		filepath.Join(cwd, ".claude", "settings.json"),
		filepath.Join(cwd, ".claude", "settings.local.json"),
	} {
		if data, err := os.ReadFile(path); err == nil {
			// The real CLI shows a warning for a broken one and continues without it.
			_ = merged.add(data)
		}
	}
	if flag == "" {
		return merged, nil
	}
	data := []byte(flag)
	if !strings.HasPrefix(strings.TrimSpace(flag), "{") {
		var err error
		if data, err = os.ReadFile(flag); err != nil {
			return settings{}, fmt.Errorf("Error: Settings file not found: %s", flag) //nolint:staticcheck // the CLI's own words
		}
	}
	if err := merged.add(data); err != nil {
		return settings{}, fmt.Errorf("Error: Invalid settings: %w", err) //nolint:staticcheck // the CLI's own words
	}
	return merged, nil
}

func (s *settings) add(data []byte) error {
	var one settings
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	if s.Hooks == nil {
		s.Hooks, s.Env = make(map[string][]hookGroup), make(map[string]string)
	}
	maps.Copy(s.Env, one.Env)
	for event, groups := range one.Hooks {
		s.Hooks[event] = append(s.Hooks[event], groups...)
	}
	if one.Permissions.DefaultMode != "" {
		s.Permissions.DefaultMode = one.Permissions.DefaultMode
	}
	if one.StatusLine.Command != "" {
		s.StatusLine.Command = one.StatusLine.Command
	}
	return nil
}

// unknownEvents are the event names that the CLI would complain about.
func (s settings) unknownEvents() []string {
	var unknown []string
	for event := range s.Hooks {
		if !slices.Contains(events, event) {
			unknown = append(unknown, event)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// hooksFor returns the commands of an event; subject is the tool's name, or the source of a session
// start.
func (s settings) hooksFor(event, subject string) []hook {
	var hooks []hook
	for _, group := range s.Hooks[event] {
		if !matches(group.Matcher, subject) {
			continue
		}
		for _, h := range group.Hooks {
			if h.Type == "command" {
				hooks = append(hooks, h)
			}
		}
	}
	return hooks
}

func matches(matcher, subject string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	pattern, err := regexp.Compile("^(?:" + matcher + ")$")
	return err == nil && pattern.MatchString(subject)
}

func (h hook) timeout(otherwise time.Duration) time.Duration {
	if h.Timeout > 0 {
		return time.Duration(h.Timeout * float64(time.Second))
	}
	return otherwise
}
