package loop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/port"
)

const (
	// checkTimeout is how long a check may take.
	checkTimeout = time.Hour
	// checkRest is how long the rest of a check may hold its output, and may take to end after TERM.
	checkRest = 5 * time.Second
	// holderRest is how long the holder of a check may take to end by itself.
	holderRest = time.Second
	// lookInterval is the interval at which the descendants of a check are recorded.
	lookInterval = 500 * time.Millisecond
	// maxOutput limits the compared end of the output, maxTail the end in the next prompt, in bytes.
	maxOutput = 64 << 10
	maxTail   = 4000
)

// errStays is the error of a process that is not proven gone.
var errStays = errors.New("a process of the check is not proven gone")

// errCut is the error of a check that a pause, a stop or a bound in time has ended.
var errCut = errors.New("the check was cut off")

// check runs the check of an iteration, and puts its result on disk. A check that was cut off has
// no result: it runs again.
func (k *Keeper) check(ctx context.Context, h *held) error {
	err := k.endProcesses(ctx, h, func() {}) // of a check that was cut off
	var result port.CheckResult
	if err == nil {
		result, err = k.runCheck(ctx, h)
	}
	if ctx.Err() != nil {
		return ctx.Err() // the next start ends what is left
	}
	h.mu.Lock()
	defer h.unlock()
	l := &h.loop
	if errors.Is(err, errStays) {
		h.warn(k.Log, err) // a loop that was paused or stopped is not paused for it
	}
	if !l.State.Moves() || errors.Is(err, errCut) {
		return nil // a later step decides
	}
	was := l.Clone()
	switch {
	case errors.Is(err, errStays):
		l.apply(act{Do: doPause, Reason: port.WhyCheckStays, Detail: err.Error()}, k.Now())
	case err != nil:
		l.apply(act{Do: doPause, Reason: port.WhyCheckNotRun, Detail: err.Error()}, k.Now())
	default:
		l.noteResult(result)
		l.UpdatedAt = k.Now().UTC()
	}
	if err := k.store.put(*l); err != nil {
		h.loop = was
		return err
	}
	if l.State == port.LoopPaused {
		k.settled(ctx, l)
		return nil
	}
	k.at("loop-check-saved")
	k.Log.Info("loop_checked", logkey.LoopID, l.ID.String(), logkey.SessionID, l.Session.String(), logkey.Count, l.Iteration,
		logkey.ExitCode, result.Exit, logkey.Duration, result.Took.Round(time.Millisecond))
	return nil
}

// runCheck runs the check once. Its processes are gone, by proof, when it returns without an error.
func (k *Keeper) runCheck(ctx context.Context, h *held) (port.CheckResult, error) {
	l := h.copy()
	r, known := k.Engine.Session(l.Session)
	if !known {
		return port.CheckResult{}, ErrNoSession
	}
	began := k.Now()
	most := l.timeLeft(began)
	limited, cancel := context.WithTimeout(ctx, min(most, checkTimeout))
	defer cancel()
	c, err := startCheck(l.Check, r.Dir, k.Env)
	if err != nil {
		return port.CheckResult{}, err
	}
	leader, err := k.Processes.Identify(c.cmd.Process.Pid)
	if err == nil {
		err = k.noteLeader(h, cancel, leader)
	}
	exit := -1
	if err == nil {
		k.at("loop-check-begun")
		if _, err = c.hold.WriteString("go\n"); err == nil {
			exit, err = k.await(limited, h, c, leader)
		}
		if ended := limited.Err(); ctx.Err() == nil && ended != nil && (errors.Is(ended, context.Canceled) || most <= checkTimeout) {
			err = errCut
		}
	}
	release := sync.OnceFunc(func() { _ = c.hold.Close() }) // the holder ends
	stays := k.endProcesses(context.WithoutCancel(ctx), h, release)
	release() // also if nothing was noted
	if err = errors.Join(err, stays); stays == nil {
		c.done.Wait()
	}
	if err != nil {
		return port.CheckResult{}, err
	}
	res := port.CheckResult{Iteration: l.Iteration, Exit: exit, Tail: c.out.last(maxTail), At: k.Now().UTC(), Took: k.Now().Sub(began)}
	_, _, res.Commit = k.Engine.Place(ctx, r.Dir)
	if tree := k.Engine.Tree(ctx, l.Session); tree != "" {
		sum := sha256.Sum256([]byte(stable(c.out.last(maxOutput)) + "\x00" + tree))
		res.Print = hex.EncodeToString(sum[:])
	}
	return res, nil
}

// timeLeft is the time until the first bound in time.
func (l *Loop) timeLeft(now time.Time) time.Duration {
	left := 2 * checkTimeout // none
	if l.Bounds.Minutes > 0 {
		left = min(left, l.CreatedAt.Add(time.Duration(l.Bounds.Minutes)*time.Minute).Sub(now))
	}
	if !l.Bounds.Until.IsZero() {
		left = min(left, l.Bounds.Until.Sub(now))
	}
	return left
}

// checking is a check that runs.
type checking struct {
	cmd  *exec.Cmd
	hold *os.File // the holder lives until it is closed
	out  *tail
	exit chan int // gets the exit code; closed without one: the holder was ended
	done sync.WaitGroup
}

func startCheck(command, dir string, env []string) (c *checking, err error) {
	c = &checking{out: &tail{}, exit: make(chan int, 1)}
	program, err := self()
	if err != nil {
		return nil, err
	}
	var files [3]*os.File // the input of the holder, and the two ends of its report
	if files[0], c.hold, err = os.Pipe(); err != nil {
		return nil, err
	}
	if files[2], files[1], err = os.Pipe(); err != nil {
		return nil, errors.Join(err, files[0].Close(), c.hold.Close())
	}
	c.cmd = exec.Command(program, HoldVerb, "--", command)
	c.cmd.Env, c.cmd.Dir, c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = env, dir, files[0], c.out, c.out
	c.cmd.ExtraFiles, c.cmd.WaitDelay = files[1:2], checkRest
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = c.cmd.Start()
	_ = errors.Join(files[0].Close(), files[1].Close()) // the holder has them
	if err != nil {
		return nil, errors.Join(err, c.hold.Close(), files[2].Close())
	}
	c.done.Go(func() { _ = c.cmd.Wait() })
	c.done.Go(func() {
		defer close(c.exit)
		defer files[2].Close()
		var code int
		if _, err := fmt.Fscanln(files[2], &code); err == nil {
			c.exit <- code
		}
	})
	return c, nil
}

// await waits for the end of a check, and notes its descendants while it runs. The code is -1 if
// the check took too long. Without its holder nothing proves that what the check began is gone.
func (k *Keeper) await(ctx context.Context, h *held, c *checking, leader process.Identity) (code int, err error) {
	look := time.NewTicker(lookInterval)
	defer look.Stop()
	for {
		select {
		case code, ended := <-c.exit:
			if !ended {
				return -1, fmt.Errorf("%w: something has ended ccbot's process above the check", errStays)
			}
			return code, nil
		case <-ctx.Done():
			return -1, nil
		case <-look.C:
			if err := k.noteBelow(ctx, h, leader); err != nil && ctx.Err() == nil {
				h.warn(k.Log, err)
			}
		}
	}
}

// noteLeader puts the holder of a check on disk, and how often the check was begun. cut ends the
// check if the loop is paused.
func (k *Keeper) noteLeader(h *held, cut func(), leader process.Identity) error {
	h.mu.Lock()
	defer h.unlock()
	if !h.loop.State.Moves() {
		return errCut
	}
	h.cut = cut
	h.loop.Begun++
	return k.noteLocked(h, leader)
}

// noteBelow puts on disk what belongs to a check: the processes of its holder's group, and the
// descendants of everything noted before.
func (k *Keeper) noteBelow(ctx context.Context, h *held, leader process.Identity) error {
	table, err := k.Processes.Snapshot(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.unlock()
	noted := slices.Clone(h.loop.Processes)
	ours := func(pid int) bool {
		p, ok := table.Find(pid)
		return ok && slices.Contains(noted, p.Identity)
	}
	led := ours(leader.PID)
	for grown := true; grown; { // a child may come before its parent
		grown = false
		for _, p := range table.Processes {
			if !p.Gone() && !slices.Contains(noted, p.Identity) && (led && p.PGID == leader.PID || ours(p.PPID)) {
				noted, grown = append(noted, p.Identity), true
			}
		}
	}
	if more := noted[len(h.loop.Processes):]; len(more) > 0 {
		return k.noteLocked(h, more...)
	}
	return nil
}

func (k *Keeper) noteLocked(h *held, more ...process.Identity) error {
	was := h.loop.Processes
	h.loop.Processes = append(slices.Clone(was), more...)
	if err := k.store.put(h.loop); err != nil {
		h.loop.Processes = was
		return err
	}
	return nil
}

// maxRounds limits the looks for processes that a check begins while it is ended.
const maxRounds = 10

// endProcesses ends each process of a loop's check by its identity, its holder last: while the
// holder lives, everything below it is found. release lets the holder end. An error of errStays
// names a process that is not proven gone; it stays noted.
func (k *Keeper) endProcesses(ctx context.Context, h *held, release func()) error {
	noted := h.copy().Processes
	if len(noted) == 0 {
		return nil
	}
	for round := range maxRounds {
		err := k.noteBelow(ctx, h, noted[0])
		below := slices.DeleteFunc(h.copy().Processes, func(id process.Identity) bool {
			return id == noted[0] || k.Processes.Liveness(id) == process.Gone
		})
		if err == nil && len(below) == 0 {
			break
		}
		if err = errors.Join(err, k.endAll(ctx, h, below)); err == nil && round == maxRounds-1 {
			err = fmt.Errorf("%w: pid %d and more", errStays, below[0].PID)
		}
		if err != nil {
			return errors.Join(err, k.forgetGone(h))
		}
	}
	release()
	limited, cancel := context.WithTimeout(ctx, holderRest)
	defer cancel()
	_ = k.Processes.Wait(limited, noted[0]) // without its input it ends by itself
	return errors.Join(k.endAll(ctx, h, noted[:1]), k.forgetGone(h))
}

// endAll ends processes at the same time.
func (k *Keeper) endAll(ctx context.Context, h *held, noted []process.Identity) error {
	errs := make([]error, len(noted))
	var all sync.WaitGroup
	for i, id := range noted {
		all.Go(func() { errs[i] = k.endProcess(ctx, h, id) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// forgetGone takes the processes that are proven gone from a loop.
func (k *Keeper) forgetGone(h *held) error {
	h.mu.Lock()
	defer h.unlock()
	h.cut = nil
	h.loop.Processes = slices.DeleteFunc(slices.Clone(h.loop.Processes), func(id process.Identity) bool { return k.Processes.Liveness(id) == process.Gone })
	return k.store.putOrRemove(h.loop)
}

func (k *Keeper) endProcess(ctx context.Context, h *held, id process.Identity) error {
	if k.Processes.Liveness(id) == process.Gone {
		return nil
	}
	out, err := k.Processes.End(ctx, id, k.Spared, nil, process.Grace{Kill: checkRest})
	if err == nil && out.Ended && out.Verified {
		if out.How != process.HowAlreadyGone {
			k.Log.Info("loop_check_ended", logkey.LoopID, h.copy().ID.String(), logkey.PID, id.PID, logkey.How, string(out.How))
		}
		return nil
	}
	return fmt.Errorf("%w: pid %d: %s", errStays, id.PID, cmp.Or(out.Spared, fmt.Sprint(err)))
}

// Below returns the session of the loop whose check a process runs below. chain is the process, its
// parent and so on.
func (k *Keeper) Below(chain []process.Process) (session uuid.UUID, below bool) {
	for _, h := range k.all() {
		l := h.copy()
		for _, p := range chain {
			if slices.Contains(l.Processes, p.Identity) {
				return l.Session, true
			}
		}
	}
	return uuid.Nil, false
}

// tail keeps the end of what a check writes.
type tail struct {
	mu  sync.Mutex
	end []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p[max(0, len(p)-maxOutput):]...)
	t.end = slices.Clone(t.end[max(0, len(t.end)-maxOutput):])
	return len(p), nil
}

// last returns at most n bytes of the end, as valid text, from the beginning of a line if possible.
func (t *tail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	cut := t.end[max(0, len(t.end)-n):]
	if _, rest, found := strings.Cut(string(cut), "\n"); found && len(cut) < len(t.end) {
		return strings.ToValidUTF8(rest, "\uFFFD")
	}
	return strings.ToValidUTF8(string(cut), "\uFFFD")
}

// varies is what changes in the output of the same check: dates, times, durations, addresses, and
// paths of the machine.
var varies = lazyregexp.New(`\d{4}-\d\d-\d\d|\d{1,2}:\d\d(:\d\d([.,]\d+)?)?|\b\d+([.,]\d+)?\s?(ns|us|µs|ms|s|sec|seconds|m|min|h)\b|0x[0-9a-fA-F]+|(/[^\s:/]+){2,}`)

// stable is an output without what varies.
func stable(output string) string { return varies.ReplaceAllLiteralString(output, "~") }
