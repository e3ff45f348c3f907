package process

import (
	"context"
	"slices"
	"strconv"
	"syscall"

	"pgregory.net/rapid"
)

// shifting is a kernel whose world changes during the calls. Processes exit, are collected and
// their pids are reused at any moment, also between the last read and the signal. Changes of a
// living process (its user, exec, becoming ccbot's ancestor, disappearing from the table) happen
// while ccbot waits or works, not between two consecutive system calls, because no program could
// notice that.
type shifting struct {
	t      *rapid.T
	clock  uint64
	pids   map[int]*being // the process that has the pid; a zombie keeps its own
	all    []*being
	writes map[Identity]bool // the writers of idX in the last table
	log    []delivery
	focus  int // pid of the target: half of the changes happen to it
}

// being is one process for its whole life.
type being struct {
	id         Identity
	uid, ppid  int
	comm       string
	args       []string
	writes     bool // it writes idX: known because it was made so
	exited     bool
	unreadable error
	stubborn   int // signals it takes before it ends
}

// delivery is a signal that reached a process, with the facts of that moment.
type delivery struct {
	to    *being
	sig   syscall.Signal
	wrong string // why it must not have been, empty when it may
}

// lines are command lines, known to write idX or not.
var lines = []struct {
	writes bool
	args   []string
}{
	{true, []string{"claude", "--resume", textX}},
	{true, []string{"claude", "-pr", textX, "hi"}},
	{true, []string{"node", "/x/claude", "--session-id", textX}},
	{true, []string{"claude", "-r", textY, "--fork-session", "--session-id=" + textX}},
	{false, []string{"claude", "--resume", textY}},
	{false, []string{"claude", "--resume", textX, "--fork-session"}},
	{false, []string{"claude", "-p", "claude --resume " + textX}},
	{false, []string{"claude", "--append-system-prompt", "--resume", textX}},
	{false, []string{"bash", "-c", "claude --resume " + textX}},
	{false, []string{"vim", "--resume", textX}},
	{false, []string{"tmux", "new-window", "claude", "--resume", textX}},
	{false, []string{"tail", "-f", textX + ".jsonl"}},
	{false, []string{"sleep", "60"}},
	{false, nil},
}

func newShifting(t *rapid.T) *shifting {
	w := &shifting{t: t, clock: 5000, pids: map[int]*being{}}
	for _, p := range []struct{ pid, ppid int }{{1, 0}, {30, 1}, {40, 30}} {
		w.born(p.pid, p.ppid, fakeUser)
	}
	w.others(60) // older than we
	w.born(fakeSelf, w.anyPID(), fakeUser)
	w.others(70)
	return w
}

func (w *shifting) others(from int) {
	for pid := from; pid < from+rapid.IntRange(1, 4).Draw(w.t, "others"); pid++ {
		w.born(pid, w.anyPID(), rapid.SampledFrom([]int{fakeUser, fakeUser, fakeUser, 0}).Draw(w.t, "uid"))
		if rapid.IntRange(0, 7).Draw(w.t, "hidden") == 0 {
			w.pids[pid].unreadable = errHidden
		}
	}
}

func (w *shifting) born(pid, ppid, uid int) {
	w.clock += 10 // no process ever gets an identity that a test made up
	b := &being{id: Identity{pid, w.clock, "boot"}, uid: uid, ppid: ppid, stubborn: rapid.IntRange(1, 3).Draw(w.t, "stubborn")}
	w.exec(b)
	w.pids[pid] = b
	w.all = append(w.all, b)
}

func (w *shifting) exec(b *being) {
	line := rapid.SampledFrom(lines).Draw(w.t, "line")
	b.args, b.writes, b.comm = line.args, line.writes, ""
	if len(line.args) > 0 && line.args[0] == "tmux" {
		b.comm = "tmux: client"
	}
}

func (w *shifting) anyPID() int {
	pids := make([]int, 0, len(w.pids))
	for pid := range w.pids {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return rapid.SampledFrom(pids).Draw(w.t, "pid")
}

// exit leaves a zombie; its children get another parent.
func (w *shifting) exit(b *being) {
	b.exited = true
	for _, child := range w.all {
		if child.ppid == b.id.PID {
			child.ppid = 1
		}
	}
}

// shift makes a change that may happen at any moment.
func (w *shifting) shift() {
	pid := w.anyPID()
	b := w.pids[pid]
	if pid == 1 || pid == fakeSelf {
		return
	}
	switch rapid.IntRange(0, 29).Draw(w.t, "shift") {
	case 0:
		w.exit(b)
	case 1:
		w.exit(b)
		delete(w.pids, pid)
	case 2: // and its pid is taken at once
		w.exit(b)
		w.born(pid, w.anyPID(), rapid.SampledFrom([]int{fakeUser, 0}).Draw(w.t, "uid"))
	}
}

// turn makes a change that may happen while ccbot waits or works.
func (w *shifting) turn() {
	w.shift()
	b, ok := w.pids[w.focus]
	if !ok || rapid.Bool().Draw(w.t, "elsewhere") {
		b = w.pids[w.anyPID()]
	}
	if b.id.PID == 1 || b.exited {
		return
	}
	switch kind := rapid.IntRange(0, 9).Draw(w.t, "turn"); {
	case kind == 0 && b.id.PID != fakeSelf:
		b.uid = rapid.SampledFrom([]int{fakeUser, 0, 33}).Draw(w.t, "uid")
	case kind == 1:
		w.adopt(w.pids[w.anyPID()], b)
	case kind == 2:
		w.adopt(w.pids[fakeSelf], b)
	case kind == 3 && b.id.PID != fakeSelf:
		w.exec(b)
	case kind == 4 && b.id.PID != fakeSelf:
		b.unreadable = rapid.SampledFrom([]error{errHidden, errTest, syscall.EACCES, nil}).Draw(w.t, "error")
	}
}

// adopt: only who is older can become a parent.
func (w *shifting) adopt(child, parent *being) {
	if parent.id.Start < child.id.Start {
		child.ppid = parent.id.PID
	}
}

func (w *shifting) bootID() (string, error) { return "boot", nil }

func (w *shifting) now() (uint64, error) { return w.clock, nil }

func (w *shifting) process(pid int) (Process, error) {
	w.shift()
	b, ok := w.pids[pid]
	if !ok {
		return Process{}, ErrGone
	}
	return b.show(), b.unreadable
}

func (b *being) show() Process {
	p := Process{Identity: Identity{PID: b.id.PID, Start: b.id.Start}, PPID: b.ppid, UID: b.uid, State: 'S', Comm: b.comm, Args: b.args}
	if b.exited {
		p.State, p.Args = 'Z', nil
	}
	return p
}

func (w *shifting) processes(context.Context) ([]Process, error) {
	w.shift()
	var all []Process
	w.writes = map[Identity]bool{}
	for _, b := range w.pids {
		all = append(all, b.show())
		w.writes[b.id] = b.writes && !b.exited
	}
	return all, nil
}

func (w *shifting) hold(pid int) (handle, error) {
	w.shift()
	b, ok := w.pids[pid]
	if !ok {
		return nil, ErrGone
	}
	return &shiftingHandle{w, b}, nil
}

// above reports whether the pid is an ancestor of ccbot at this moment.
func (w *shifting) above(pid int) bool {
	seen := map[int]bool{}
	for at := w.pids[fakeSelf]; at != nil && !seen[at.id.PID]; at = w.pids[at.ppid] {
		seen[at.id.PID] = true
		if at.ppid == pid {
			return true
		}
	}
	return false
}

type shiftingHandle struct {
	w *shifting
	b *being
}

func (h *shiftingHandle) exited() (bool, error) {
	h.w.shift()
	return h.b.exited, nil
}

func (h *shiftingHandle) wait(ctx context.Context) error {
	h.w.turn()
	switch {
	case h.b.exited:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return context.DeadlineExceeded
}

func (h *shiftingHandle) signal(sig syscall.Signal) error {
	h.w.shift()
	if h.b.exited {
		return syscall.ESRCH
	}
	h.w.log = append(h.w.log, delivery{h.b, sig, h.w.forbids(h.b)})
	if h.b.stubborn--; h.b.stubborn <= 0 {
		h.w.exit(h.b)
	}
	return nil
}

func (h *shiftingHandle) close() {}

// forbids returns the reason against a signal to b at this moment, regardless of the proof.
func (w *shifting) forbids(b *being) string {
	switch {
	case b.id.PID <= 1:
		return "pid 1"
	case b.id.PID == fakeSelf:
		return "ourselves"
	case w.above(b.id.PID):
		return "an ancestor"
	case b.uid != fakeUser:
		return "user " + strconv.Itoa(b.uid)
	case b.comm != "":
		return b.comm
	case w.pids[b.id.PID] != b:
		return "its pid is another's"
	}
	return ""
}
