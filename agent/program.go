package agent

import (
	"os/exec"
	"path/filepath"
)

// Program returns the absolute path of a command, which is a name on PATH or a path.
func Program(command string) (string, error) {
	path, err := exec.LookPath(command)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
