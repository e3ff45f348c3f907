package process

import (
	"fmt"
	"os"
	"strings"
)

// Origin is the kernel's record of the environment and the cgroup of a process.
type Origin struct {
	Env    []string // as the process was given it; secrets of the user may be in it
	Cgroup string   // the text of /proc/PID/cgroup
}

// Origin returns where a process comes from. An error: it has ended, or may not be read.
func (t *Table) Origin(id Identity) (Origin, error) {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", id.PID))
	if err != nil {
		return Origin{}, fmt.Errorf("origin of process %d: %w", id.PID, err)
	}
	cgroup, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", id.PID))
	if err != nil {
		return Origin{}, fmt.Errorf("origin of process %d: %w", id.PID, err)
	}
	if now, err := t.Identify(id.PID); err != nil || now != id { // the pid may have been reused
		return Origin{}, fmt.Errorf("origin of process %d: %w", id.PID, ErrGone)
	}
	return Origin{Env: strings.Split(string(env), "\x00"), Cgroup: string(cgroup)}, nil
}
