package hookwire

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"ccbot/internal/procstat"
)

// BootID names the running boot of this machine and the clock of start times, as procstat.Boot
// does; "" when unreadable. A process id with its start time is unique only together with it.
func BootID() string {
	data, err := readFile("/proc/sys/kernel/random/boot_id", maxField)
	offsets, offsetsErr := readFile("/proc/self/timens_offsets", maxField)
	if err != nil || offsetsErr != nil && !errors.Is(offsetsErr, fs.ErrNotExist) {
		return ""
	}
	boot, err := procstat.Boot(data, offsets)
	if err != nil {
		return ""
	}
	return boot
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
