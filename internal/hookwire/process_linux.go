package hookwire

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// BootID names the running boot of this machine: /proc/sys/kernel/random/boot_id, "" when unreadable. A process id
// with its start time is unique only together with it.
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
	p, err := parseStat(data)
	if err != nil {
		return parent{}, err
	}
	p.Exe, _ = os.Readlink(folder + "/exe") // another user's process: its name is enough
	return p, nil
}

// parseStat reads pid, name, parent and start time of /proc/PID/stat (proc_pid_stat(5)). The name stands in brackets
// and may hold brackets and spaces itself, so the last closing one ends it.
func parseStat(data []byte) (parent, error) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 1 || end < open {
		return parent{}, fmt.Errorf("stat %q: %w", clip(string(data), 64), ErrMalformed)
	}
	rest := strings.Fields(string(data[end+1:])) // from field 3, the state
	if len(rest) < 20 {
		return parent{}, fmt.Errorf("stat of %d fields: %w", len(rest)+2, ErrMalformed)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data[:open])))
	if err != nil {
		return parent{}, fmt.Errorf("stat pid: %w", err)
	}
	ppid, err := strconv.Atoi(rest[1])
	if err != nil {
		return parent{}, fmt.Errorf("stat ppid: %w", err)
	}
	start, err := strconv.ParseUint(rest[19], 10, 64)
	if err != nil {
		return parent{}, fmt.Errorf("stat start: %w", err)
	}
	zombie := rest[0] == "Z" || rest[0] == "X"
	return parent{PID: pid, PPID: ppid, Start: start, Comm: string(data[open+1 : end]), Zombie: zombie}, nil
}
