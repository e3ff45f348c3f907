package hookwire

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"ccbot/internal/procstat"
)

// BootID names the running boot of this machine: /proc/sys/kernel/random/boot_id, "" when
// unreadable. A process id with its start time is unique only together with the boot id.
func BootID() string {
	data, err := readFile("/proc/sys/kernel/random/boot_id", maxField)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func readParent(pid int) (parent, error) {
	folder := "/proc/" + strconv.Itoa(pid)
	data, err := readFile(folder+"/stat", maxField)
	if err != nil {
		return parent{}, err
	}
	s, err := procstat.Parse(data)
	if err != nil {
		return parent{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	// Unreadable for another user's process: its name is enough.
	exe, _ := os.Readlink(folder + "/exe")
	return parent{PID: s.PID, PPID: s.PPID, Start: s.Start, Comm: s.Comm, Exe: exe, Zombie: procstat.Gone(s.State)}, nil
}
