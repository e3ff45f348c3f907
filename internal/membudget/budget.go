package membudget

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Most is the largest budget, in bytes.
const Most = 64 << 20

// Budget returns the budget in bytes. root is the machine's file tree; goLimit is the limit of Go's
// runtime, or math.MaxInt64.
func Budget(root fs.FS, goLimit int64) int64 {
	least := int64(math.MaxInt64)
	for _, limit := range append(cgroups(root), goLimit, total(root)) {
		if limit > 0 {
			least = min(least, limit)
		}
	}
	return min(least/4, Most)
}

// total returns the memory of the machine; 0: unknown.
func total(root fs.FS) int64 {
	info, _ := fs.ReadFile(root, "proc/meminfo")
	for line := range strings.Lines(string(info)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			return number(strings.TrimSuffix(strings.TrimSpace(rest), " kB")) << 10
		}
	}
	return 0
}

// cgroups returns the limits of the process's cgroup and of those above it.
func cgroups(root fs.FS) (limits []int64) {
	mine, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	mounts, _ := fs.ReadFile(root, "proc/self/mountinfo")
	for line := range strings.Lines(string(mine)) {
		controllers, group, ok := strings.Cut(line[strings.Index(line, ":")+1:], ":")
		file := "memory.limit_in_bytes"
		switch {
		case !ok:
			continue
		case controllers == "":
			file = "memory.max"
		case !slices.Contains(strings.Split(controllers, ","), "memory"):
			continue
		}
		for _, m := range mountsOf(mounts, controllers == "") {
			limits = append(limits, m.limits(root, strings.TrimSpace(group), file)...)
		}
	}
	return limits
}

// mount shows the part of a hierarchy of cgroups below from at a path of the file tree.
type mount struct{ from, at string }

// mountsOf returns the mounts of version 2, or of the memory controller of version 1; see
// proc_pid_mountinfo(5).
func mountsOf(info []byte, second bool) (all []mount) {
	lines := bufio.NewScanner(bytes.NewReader(info))
	for lines.Scan() {
		place, kind, _ := strings.Cut(lines.Text(), " - ")
		at, as := strings.Fields(place), strings.Fields(kind)
		if len(at) < 5 || len(as) < 3 {
			continue
		}
		first := as[0] == "cgroup" && slices.Contains(strings.Split(as[2], ","), "memory")
		if second && as[0] == "cgroup2" || !second && first {
			all = append(all, mount{at[3], at[4]})
		}
	}
	return all
}

// limits reads the limits from a group up to the root of the mount. In a container the path of the
// group may be the host's: then it does not exist here, and the root is the group.
func (m mount) limits(root fs.FS, group, file string) (all []int64) {
	below, _ := strings.CutPrefix(group, strings.TrimSuffix(m.from, "/"))
	for dir := path.Clean("/" + below); ; dir = path.Dir(dir) {
		text, _ := fs.ReadFile(root, strings.TrimPrefix(path.Join(m.at, dir, file), "/"))
		all = append(all, number(strings.TrimSpace(string(text)))) // "max" is not a number
		if dir == "/" {
			return all
		}
	}
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
