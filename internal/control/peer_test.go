package control

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
)

// one returns a process of the made-up table below.
func one(pid, ppid int, start uint64) process.Process {
	return process.Process{Identity: process.Identity{PID: pid, Start: start, Boot: "b"}, PPID: ppid}
}

// made is a process table; reads of a pid go through its versions, the last one stays.
type made map[int][]any

func (m made) Inspect(pid int) (process.Process, error) {
	versions := m[pid]
	if len(versions) == 0 {
		return process.Process{}, process.ErrGone
	}
	if len(versions) > 1 {
		m[pid] = versions[1:]
	}
	if err, ok := versions[0].(error); ok {
		return process.Process{}, err
	}
	return versions[0].(process.Process), nil
}

// TestP9_ChainIsProven: only a parent that was the parent while both were read is in the chain.
func TestP9_ChainIsProven(t *testing.T) {
	hidden := errors.New("hidden")
	tests := []struct {
		name  string
		table made
		want  []int
		whole bool
		err   error
	}{
		{"up to pid 1", made{9: {one(9, 5, 30)}, 5: {one(5, 1, 20)}, 1: {one(1, 0, 1)}}, []int{9, 5, 1}, true, nil},
		{"pid 1 itself", made{9: {one(9, 1, 30)}, 1: {one(1, 0, 1)}}, []int{9, 1}, true, nil},
		{"out of another pid namespace", made{9: {one(9, 5, 30)}, 5: {one(5, 0, 20)}}, []int{9, 5}, false, nil},
		{"the peer is gone", made{}, nil, false, process.ErrGone},
		{"the peer cannot be read", made{9: {hidden}}, nil, false, hidden},
		{"a parent that is hidden", made{9: {one(9, 5, 30)}, 5: {hidden}}, []int{9}, false, nil},
		{"a parent that is younger", made{9: {one(9, 5, 30)}, 5: {one(5, 1, 31)}, 1: {one(1, 0, 1)}}, []int{9}, false, nil},
		{"born in the same tick", made{9: {one(9, 5, 30)}, 5: {one(5, 1, 30)}, 1: {one(1, 0, 1)}}, []int{9, 5, 1}, true, nil},
		{"the parent ends meanwhile", made{9: {one(9, 5, 30), one(9, 1, 30)}, 1: {one(1, 0, 1)}}, []int{9, 1}, true, nil},
		{"the parent's pid is reused meanwhile", made{9: {one(9, 5, 30), one(9, 1, 30)}, 5: {one(5, 3, 25)}, 1: {one(1, 0, 1)}},
			[]int{9, 1}, true, nil},
		{"the peer's pid is reused meanwhile", made{9: {one(9, 5, 30), one(9, 5, 40)}, 5: {one(5, 1, 20)}, 1: {one(1, 0, 1)}},
			[]int{9, 5, 1}, true, nil}, // the new one: the kernel's handle differs
		{"a ring", made{9: {one(9, 8, 30)}, 8: {one(8, 9, 30)}}, nil, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chain, whole, err := chainOf(tt.table, 9)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.whole, whole)
			assert.LessOrEqual(t, len(chain), maxChain)
			var pids []int
			for _, p := range chain {
				pids = append(pids, p.PID)
			}
			if tt.want != nil {
				assert.Equal(t, tt.want, pids)
			}
		})
	}
}

func TestChangingChainIsNotWhole(t *testing.T) {
	_, _, err := chainOf(restless{}, 9)
	assert.ErrorIs(t, err, errMoved)
}

// restless is a table in which the peer always has a parent that has just ended.
type restless struct{}

func (restless) Inspect(pid int) (process.Process, error) {
	if pid == 9 {
		return one(9, 5, 30), nil
	}
	return process.Process{}, process.ErrGone
}

func TestP9_Orphans(t *testing.T) {
	at := func(pid, tty int) process.Process {
		return process.Process{Identity: process.Identity{PID: pid}, TTY: tty}
	}
	of := func(pid, tty, sid int) process.Process {
		return process.Process{Identity: process.Identity{PID: pid}, TTY: tty, SID: sid}
	}
	tests := []struct {
		name  string
		chain []process.Process
		want  bool
	}{
		{"nobody", nil, true},
		{"below the shell of a terminal", []process.Process{of(9, 34816, 5), of(5, 34816, 5), of(1, 0, 1)}, false},
		{"the command of a terminal", []process.Process{of(9, 34816, 9), of(1, 0, 1)}, false},
		{"cut loose in the terminal of its agent", []process.Process{of(9, 34816, 5), of(1, 0, 1)}, true},
		{"below a shell that is cut loose there", []process.Process{of(9, 34816, 5), of(8, 34816, 5), of(1, 0, 1)}, true},
		{"the same in a container whose pid 1 is a shell", []process.Process{of(9, 34817, 5), of(1, 34816, 1)}, true},
		{"below that shell", []process.Process{of(9, 34816, 1), of(1, 34816, 1)}, false},
		{"below a terminal", []process.Process{at(9, 0), at(5, 34816), at(1, 0)}, false},
		{"in a terminal", []process.Process{at(9, 34816), at(1, 0)}, false},
		{"cut loose", []process.Process{at(9, 0), at(1, 0)}, true},
		{"cut loose, below a user's service manager", []process.Process{at(9, 0), at(7, 0), at(1, 0)}, true},
		{"cut loose in a container whose pid 1 is a shell", []process.Process{at(9, 0), at(1, 34816)}, true},
		{"in a terminal of that container", []process.Process{at(9, 34816), at(1, 34816)}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, Peer{Chain: tt.chain}.Orphan())
			assert.Equal(t, tt.want, Peer{Chain: tt.chain, Whole: true}.Orphan())
		})
	}
}
