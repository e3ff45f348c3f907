package loop

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// HoldVerb is ccbot's hidden verb for [Hold].
const HoldVerb = "hold-check"

// Hold runs a check below this process, the holder, and lasts as long as anything of the check
// does. On Linux a process below the holder whose parent ends becomes the holder's child, so it is
// found there whatever it does. The holder waits for a line before it begins: until then its
// identity is not on disk, and if ccbot dies first, the check never begins. Then it reports the
// exit code to file 3, and stays until ccbot closes its input and nothing is left below it.
func Hold(check string) error {
	if err := adopt(); err != nil {
		return err
	}
	syscall.CloseOnExec(3)
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return nil
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT) // the check may send them to its group
	cmd := exec.Command("/bin/sh", "-c", check)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if errors.Is(err, syscall.ECHILD) {
			break
		}
		if err == nil && pid == cmd.Process.Pid {
			code := status.ExitStatus()
			if status.Signaled() {
				code = 128 + int(status.Signal()) // as a shell says it
			}
			_, _ = fmt.Fprintln(os.NewFile(3, "report"), code) // ccbot may be gone
		}
	}
	_, err := io.Copy(io.Discard, in)
	return err
}
