package process

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestP2_StandardGuards(t *testing.T) {
	self := identity(50)
	table := []Process{
		{Identity: identity(1), UID: 1000, State: 'S', Args: []string{"claude"}},
		{Identity: identity(30), PPID: 1, UID: 1000, State: 'S', Args: []string{"claude"}},
		{Identity: identity(40), PPID: 30, UID: 1000, State: 'S', Args: []string{"bash"}},
		{Identity: self, PPID: 40, UID: 1000, State: 'R', Args: []string{"claude"}},
	}
	s := Snapshot{Processes: table}
	ok := Process{Identity: identity(60), PPID: 50, UID: 1000, State: 'S', Args: []string{"claude"}}
	with := func(change func(*Process)) Process { p := ok; change(&p); return p }

	tests := []struct {
		name string
		p    Process
		s    Snapshot
		want string
	}{
		{"an agent of ours", ok, s, ""},
		{"no start time", with(func(p *Process) { p.Start = 0 }), s, GuardIdentity},
		{"no boot", with(func(p *Process) { p.Boot = "" }), s, GuardIdentity},
		{"pid 1", table[0], s, guardPID1},
		{"ourselves", table[3], s, guardSelf},
		{"grandparent", table[1], s, GuardAncestor},
		{"another user", with(func(p *Process) { p.UID = 0 }), s, GuardUser},
		{"tmux server", with(func(p *Process) { p.Comm = "tmux: server" }), s, GuardTmux},
		{"tmux client", with(func(p *Process) { p.Comm = "tmux: client" }), s, GuardTmux},
		{"tmux by argv", with(func(p *Process) { p.Args = []string{"/usr/bin/tmux", "attach"} }), s, GuardTmux},
		{"a shell", with(func(p *Process) { p.Args = []string{"bash"} }), s, GuardNoAgent},
		{"tmux at login", with(func(p *Process) { p.Args = []string{"-tmux"} }), s, GuardTmux},
		{"a hidden ancestor", with(func(p *Process) { p.PID = 30 }), Snapshot{Processes: table[2:]}, GuardAncestor},
		{"a snapshot without ourselves", ok, Snapshot{Processes: table[:3]}, GuardAncestor},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			name, spared := SparedBy(test.p, test.s, StandardGuards(self, claudeNames))
			assert.Equal(t, test.want, name)
			assert.Equal(t, test.want != "", spared)
			if g, _ := firstThatSpares(test.p, test.s, StandardGuards(self, claudeNames)); spared {
				assert.NotEmpty(t, g.Why)
			}
		})
	}
}

func TestSnapshot_family(t *testing.T) {
	at := func(pid, ppid int) Process { return Process{Identity: identity(pid), PPID: ppid} }
	pids := func(ps []Process) (pids []int) {
		for _, p := range ps {
			pids = append(pids, p.PID)
		}
		return pids
	}
	s := Snapshot{Processes: []Process{at(1, 0), at(5, 1), at(6, 5), at(7, 6), at(8, 5), at(20, 21), at(21, 20)}}

	assert.Equal(t, []int{6, 8}, pids(s.Children(5)))
	assert.Equal(t, []int{6, 8, 7}, pids(s.Descendants(5)))
	assert.Equal(t, []int{6, 5, 1}, pids(s.Ancestors(7)))
	assert.Empty(t, s.Descendants(99))
	assert.Empty(t, s.Ancestors(99))
	assert.Equal(t, []int{21}, pids(s.Descendants(20)), "a ring ends")
	assert.Equal(t, []int{21}, pids(s.Ancestors(20)), "a ring ends")

	unsorted := Snapshot{Processes: []Process{at(20, 21), at(7, 6), at(1, 0), at(8, 5), at(5, 1), at(6, 5), at(21, 20)}}
	for _, table := range []Snapshot{s, unsorted} {
		for _, want := range s.Processes {
			p, ok := table.Find(want.PID)
			assert.True(t, ok)
			assert.Equal(t, want, p)
		}
		for _, pid := range []int{-1, 0, 2, 9, 99} {
			_, ok := table.Find(pid)
			assert.False(t, ok)
		}
	}
}
