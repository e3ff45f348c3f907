package demoagent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ccbot/try/demoagent/brain"
	"ccbot/try/demoagent/script"

	"github.com/google/uuid"
)

// Name is the name under which the program is taken for Claude Code.
const Name = "claude"

// Called reports whether a program that was started as argv0 must be the demo agent.
func Called(argv0 string) bool { return filepath.Base(argv0) == Name }

// Link makes dir/claude, a symbolic link to the running program, whose main (or TestMain) must call
// [Main] when [Called]. The path is what CLAUDE_COMMAND wants.
func Link(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("demo agent: %w", err)
	}
	path := filepath.Join(dir, Name)
	if target, err := os.Readlink(path); err == nil && target == self {
		return path, nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("demo agent: %w", err)
	}
	if err := os.Symlink(self, path); err != nil {
		return "", fmt.Errorf("demo agent: %w", err)
	}
	return path, nil
}

// Long returns the answer to the word "long".
func Long(n int) string { return script.Long(n) }

// Main runs a session until its end and returns the exit code: 0 after /exit and SIGINT, 143 after
// SIGTERM, 129 after SIGHUP, 1 when it could not start, 3 after the word "crash". args are the
// arguments without argv[0], env has the format of os.Environ, stdin and stdout are the terminal.
func Main(args []string, env []string, stdin, stdout *os.File) int {
	o, err := parseFlags(args)
	if err != nil {
		return fail(stdout, err)
	}
	if o.version {
		_, _ = fmt.Fprintln(stdout, version+" (Claude Code)")
		return 0
	}
	s, err := prepare(o, env)
	if err != nil {
		return fail(stdout, err)
	}
	prunePresence(s.config)
	ctx := context.Background()
	outlives, _ := strconv.Atoi(s.env.get("DEMOAGENT_OUTLIVES"))
	b := brain.New(brain.Options{In: stdin, Out: stdout, Title: "✳ Claude Code", Env: env, Dir: s.cwd,
		Log: s.env.get("DEMOAGENT_LOG"), IgnoreSignals: s.env.get("DEMOAGENT_IGNORE_SIGNALS") != "", Outlives: time.Duration(outlives) * time.Second})
	return b.Run(ctx, newAgent(ctx, s, b))
}

func fail(out *os.File, err error) int {
	_, _ = fmt.Fprintln(out, err)
	return 1
}

// start is everything that is decided before the screen opens.
type start struct {
	options    options
	env        environment
	config     string // Claude Code's folder
	cwd        string
	settings   settings
	mode       string
	id         uuid.UUID
	source     string // of SessionStart: startup, resume, fork
	transcript *transcript
	entries    []entry // shown entries of an earlier run
}

func prepare(o options, env environment) (*start, error) {
	s := &start{options: o, env: env, config: env.configDir(), id: o.sessionID, source: "startup"}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	// Claude Code names folders and reports cwd with symbolic links resolved.
	if s.cwd, err = filepath.EvalSymlinks(cwd); err != nil {
		return nil, err
	}
	if s.settings, err = loadSettings(s.config, s.cwd, o.settings); err != nil {
		return nil, err
	}
	s.mode = firstOf(o.mode, s.settings.Permissions.DefaultMode, "default")
	if o.recent {
		if s.options.resume, err = newestSession(s.config, s.cwd); err != nil {
			return nil, errors.New("No conversation found to continue") //nolint:staticcheck // the CLI's own words
		}
	}
	if s.options.resume != uuid.Nil {
		return s, s.resume()
	}
	return s, s.fresh()
}

func (s *start) fresh() error {
	if s.id == uuid.Nil {
		s.id = uuid.New()
	} else if _, err := findTranscript(s.config, s.id); err == nil {
		return fmt.Errorf("Error: Session ID %s is already in use.", s.id) //nolint:staticcheck,revive // the CLI's own words
	}
	s.transcript = s.newTranscript(s.id)
	return nil
}

// resume continues in the file of the old session, in any folder; a fork gets a new file.
func (s *start) resume() error {
	old := s.options.resume
	path, err := findTranscript(s.config, old)
	if err != nil {
		return fmt.Errorf("No conversation found with session ID: %s", old) //nolint:staticcheck // the CLI's own words
	}
	var lines []line
	var parent any
	if s.env.get("DEMOAGENT_NO_HISTORY") == "" {
		lines, parent, err = readHistory(path)
	}
	if err != nil {
		return err
	}
	s.entries = history(lines)
	if s.options.fork {
		s.source = "fork"
		if s.id == uuid.Nil {
			s.id = uuid.New()
		}
		s.transcript = s.newTranscript(s.id)
		for _, l := range lines {
			l["sessionId"] = s.id
		}
		s.transcript.copied = lines
	} else {
		s.source, s.id = "resume", old
		s.transcript = s.newTranscript(old)
		s.transcript.path, s.transcript.begun = path, true
	}
	s.transcript.parent = parent
	return nil
}

func (s *start) newTranscript(id uuid.UUID) *transcript {
	return &transcript{path: transcriptPath(s.config, s.cwd, id), id: id, cwd: s.cwd, mode: s.mode, off: s.nested()}
}

// nested tells that the program was started from inside another session's tool call: then the real
// CLI saves nothing and writes no presence file.
func (s *start) nested() bool { return s.env.get("CLAUDE_CODE_CHILD_SESSION") != "" }

// history turns old lines into what the screen shows of them.
func history(lines []line) []entry {
	var entries []entry
	for _, l := range lines {
		message, _ := l["message"].(map[string]any)
		if l["isMeta"] == true || message == nil {
			continue
		}
		if text, ok := message["content"].(string); ok && l["type"] == "user" && !strings.HasPrefix(text, "<") {
			entries = append(entries, entry{userEntry, strings.TrimSpace(text)})
		}
		blocks, _ := message["content"].([]any)
		for _, b := range blocks {
			block, _ := b.(map[string]any)
			if text, ok := block["text"].(string); ok && l["type"] == "assistant" {
				entries = append(entries, entry{assistantEntry, text})
			}
		}
	}
	return entries
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
