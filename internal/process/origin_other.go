//go:build !linux

package process

import "errors"

// Origin is the kernel's record of the environment and the cgroup of a process.
type Origin struct {
	Env    []string // as the process was given it
	Cgroup string
}

// Origin returns an error: this system has no control groups.
func (t *Table) Origin(Identity) (Origin, error) {
	return Origin{}, errors.New("the origin of a process is known on Linux only")
}
