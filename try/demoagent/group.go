package demoagent

import (
	"os/exec"
	"syscall"
)

// inGroup puts a hook into a separate session, and sends SIGTERM to the shell and all its children
// at the end of its context, as the real one does.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // its own hook
	}
	// A grandchild may keep stdout open after its parent has ended.
	cmd.WaitDelay = killAfter
}

// killGroup ends what is left of a hook that did not end in time.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its own hook
	}
}
