// Package membudget returns how much memory this program may take for one large thing.
//
// It promises a quarter of the smallest known limit, and at most Most. The limits are the machine's
// memory, each limit of the process's cgroup and of all cgroups above it (version 1 or 2), and
// GOMEMLIMIT. A limit that cannot be read does not count.
//
// It reads only files of /proc and /sys. Without them it knows GOMEMLIMIT alone.
package membudget
