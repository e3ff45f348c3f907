package demoagent

import (
	"errors"
	"strings"

	"github.com/google/uuid"
)

// options holds the options of the command line.
type options struct {
	settings  string // --settings: a file or inline JSON; "" for none
	sessionID uuid.UUID
	resume    uuid.UUID
	recent    bool // --continue, or --resume without an id: the newest session of this folder
	fork      bool
	mode      string // --permission-mode; "" for none
	name      string
	prompt    string // submitted at the start
	version   bool
	raw       []string // as given, for the line about how to resume
}

// valueFlags take a value; any other unknown flag takes none.
var valueFlags = map[string]bool{
	"--settings": true, "--session-id": true, "--permission-mode": true, "--model": true, "--name": true, "-n": true,
	"--add-dir": true, "--mcp-config": true, "--append-system-prompt": true, "--system-prompt": true, "--effort": true,
	"--allowedTools": true, "--disallowedTools": true, "--setting-sources": true, "--fallback-model": true,
}

var errInvalidID = errors.New("Error: Invalid session ID. Must be a valid UUID.") //nolint:staticcheck,revive // the CLI's own words

// parseFlags reads a command line without argv[0]. Unknown flags are accepted, as launchers pass
// what newer versions know.
func parseFlags(args []string) (options, error) {
	o := options{raw: args}
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !strings.HasPrefix(name, "-") {
			o.prompt = args[i]
			continue
		}
		if !joined && i+1 < len(args) && takesValue(name, args[i+1]) {
			i++
			value = args[i]
		}
		if err := o.set(name, value); err != nil {
			return options{}, err
		}
	}
	return o, nil
}

// takesValue reports whether next belongs to the flag: --resume has a value only if one follows.
func takesValue(flag, next string) bool {
	if flag == "--resume" || flag == "-r" {
		return !strings.HasPrefix(next, "-")
	}
	return valueFlags[flag]
}

func (o *options) set(name, value string) error {
	var err error
	switch name {
	case "--settings":
		o.settings = value
	case "--session-id":
		o.sessionID, err = parseID(value)
	case "--resume", "-r":
		if o.recent = value == ""; !o.recent {
			o.resume, err = parseID(value)
		}
	case "--continue", "-c":
		o.recent = true
	case "--fork-session":
		o.fork = true
	case "--permission-mode":
		o.mode = value
	case "--dangerously-skip-permissions":
		o.mode = "bypassPermissions"
	case "--name", "-n":
		o.name = value
	case "--version", "-v":
		o.version = true
	}
	return err
}

func parseID(s string) (uuid.UUID, error) {
	id, err := uuid.Parse(s)
	if err != nil {
		return uuid.Nil, errInvalidID
	}
	return id, nil
}

// resumeCommand returns the line that the CLI prints at its end.
func (o options) resumeCommand(id uuid.UUID) string {
	command := "claude"
	if o.settings != "" {
		command += " --settings " + o.settings
	}
	return command + " --resume " + id.String()
}
