package process

import (
	"sort"

	"ccbot/internal/procstat"
)

// Process is one process as the kernel's table showed it at one moment.
type Process struct {
	Identity
	PPID int
	UID  int // effective user id
	SID  int // session id; on darwin 0 where the kernel does not report it
	PGID int
	// State is the letter of /proc/PID/stat: R, S, D, Z …; 0 when it could not be read.
	State byte
	// TTY is the device number of the controlling terminal, 0 for none.
	TTY int
	// Foreground is the foreground process group of that terminal, -1 for none.
	Foreground int
	// Comm is the kernel's short name, at most 15 bytes.
	Comm string
	// Exe is the path of the executable; empty if it may not be read (other users' processes) or
	// does not exist. A snapshot on Linux fills it only if the command line names a session;
	// [Table.Inspect] always does.
	Exe string
	// Args is the command line element by element; empty for kernel threads and zombies.
	Args []string
	// Cwd is filled by [Table.Inspect] only, never in a snapshot, and empty if it may not be read.
	Cwd string
	// OtherClock reports that the process is in another time namespace than this one: a start that
	// the process notes cannot be compared. [Table.Inspect] alone fills it.
	OtherClock bool
}

// Terminal is the name of the controlling terminal below /dev, such as "pts/3" or "tty1"; empty
// without a terminal, for an unknown kind of terminal, and on darwin.
func (p Process) Terminal() string { return terminalName(p.TTY) }

// Gone reports whether the process has ended and only waits for its parent to collect it.
func (p Process) Gone() bool { return procstat.Gone(p.State) }

// Snapshot is the process table at one moment, sorted by pid when it comes from [Table.Snapshot].
type Snapshot struct{ Processes []Process }

// Find returns the process with that pid. It tries a binary search first: a hit is right in any
// order, but a miss is certain only after a linear search, because the snapshot may be unsorted.
func (s Snapshot) Find(pid int) (Process, bool) {
	if pid <= 0 {
		return Process{}, false // a process without a parent has parent 0
	}
	all := s.Processes // by index below: a Process is too large to copy at each step
	i := sort.Search(len(all), func(i int) bool { return all[i].PID >= pid })
	if i < len(all) && all[i].PID == pid {
		return all[i], true
	}
	for i := range all {
		if all[i].PID == pid {
			return all[i], true
		}
	}
	return Process{}, false
}

// Children returns the processes whose parent is pid.
func (s Snapshot) Children(pid int) (children []Process) {
	for i := range s.Processes {
		if s.Processes[i].PPID == pid && s.Processes[i].PID != pid {
			children = append(children, s.Processes[i])
		}
	}
	return children
}

// Descendants returns the children, their children and so on, nearest first, without pid itself.
func (s Snapshot) Descendants(pid int) []Process {
	byParent := make(map[int][]Process, len(s.Processes))
	for _, p := range s.Processes {
		byParent[p.PPID] = append(byParent[p.PPID], p)
	}
	// A table that was read while pids were reused could contain a cycle; seen keeps the walk
	// finite.
	seen := map[int]bool{pid: true}
	var found []Process
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		for _, child := range byParent[queue[0]] {
			if seen[child.PID] {
				continue
			}
			seen[child.PID] = true
			found = append(found, child)
			queue = append(queue, child.PID)
		}
	}
	return found
}

// Ancestors returns the parent of pid, that parent's parent and so on, as far as the snapshot
// contains them.
func (s Snapshot) Ancestors(pid int) []Process {
	seen := map[int]bool{pid: true}
	var found []Process
	p, ok := s.Find(pid)
	for ok && !seen[p.PPID] {
		seen[p.PPID] = true
		if p, ok = s.Find(p.PPID); ok {
			found = append(found, p)
		}
	}
	return found
}
