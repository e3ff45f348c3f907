package offline

import (
	"fmt"
	"os"
	"path/filepath"

	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/exit"
)

// Program returns the program's own file; its hook binary is in the same folder.
func Program() (string, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("find my own program file: %w", err)
	}
	return path, nil
}

// HookBinary is ccbot-hook.
func HookBinary() (string, error) {
	me, err := Program()
	if err != nil {
		return "", err
	}
	hook, err := claudesettings.FindHookBinary(me)
	if err != nil {
		return "", exit.Usage(fmt.Errorf("%w: put it next to %s; build or copy both", err, me))
	}
	return hook, nil
}
