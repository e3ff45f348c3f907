package evidence

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/process"
	"ccbot/tmux"
)

// A process that lost its parent is still in the pane's terminal. A container has separate
// terminals with the device numbers of this machine's.
func TestP2_WindowHasNoProcessOfContainer(t *testing.T) {
	const tty = 136<<8 | 3
	at := func(pid, ppid, sid int) process.Process {
		return process.Process{Identity: process.Identity{PID: pid, Start: uint64(pid)}, PPID: ppid, SID: sid, TTY: tty, State: 'S'}
	}
	shell, child, orphan, contained, hidden := at(10, 1, 10), at(11, 10, 10), at(12, 1, 10), at(20, 1, 19), at(21, 1, 0)
	e := &Evidence{
		Table: process.Snapshot{Processes: []process.Process{shell, child, orphan, contained, hidden}},
		panes: []tmux.Pane{{PID: 10}},
	}
	others := e.processesIn([]Window{{Pane: e.panes[0]}})
	assert.Equal(t, map[tmux.WindowID][]process.Process{{}: {shell, child, orphan}}, others)
}
