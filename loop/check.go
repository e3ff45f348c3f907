package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"ccbot/internal/process"
)

const (
	// checkTimeout is how long a check may take.
	checkTimeout = time.Hour
	// checkRest is how long the rest of a check may hold its output, and may take to end after TERM, or after all that it serves.
	checkRest = 5 * time.Second
	// holderRest is how long what ends by itself may take, such as the holder of a check once the rest has ended.
	holderRest = time.Second
	// lookInterval is the interval at which the descendants of a check are recorded.
	lookInterval = 500 * time.Millisecond
	// maxRounds limits the looks for processes that a check begins while it is ended.
	maxRounds = 10
	// maxOutput limits the compared end of the output, maxTail the end in the next prompt, in bytes.
	maxOutput = 64 << 10
	maxTail   = 4000
)

// errStays is the error of a process that is not proven gone.
var errStays = errors.New("a process of the check is not proven gone")

// check runs a check command once, or ends what an earlier ccbot has left of one. It knows no loop.
type check struct {
	table  Processes
	spared func(process.Process) error                // returns why a process is not ended; nil: it may be
	save   func(noted []process.Identity) error       // puts the processes on disk
	onEnd  func(id process.Identity, how process.How) // is called when a process was ended
	onFail func(err error)                            // is called if the processes cannot be listed
	noted  []process.Identity                         // on disk: the holder first, and below it what is not proven gone

	cmd  *exec.Cmd
	hold *os.File // the holder lives until it is closed; nil: of an earlier ccbot
	out  tail
	exit chan int // gets the exit code; closed without one: the holder was ended
	done sync.WaitGroup
}

// run runs a command, and returns its exit code: -1 if ctx ended first. saved is called when the
// holder is on disk, before the command begins. Without an error each process is proven gone.
func (c *check) run(ctx context.Context, command, dir string, env []string, saved func()) (code int, err error) {
	if err := c.start(command, dir, env); err != nil {
		return -1, err
	}
	defer c.hold.Close() // the holder ends with this function
	code = -1
	holder, err := c.table.Identify(c.cmd.Process.Pid)
	if err == nil {
		err = c.note(holder)
	}
	if err == nil {
		saved()
		code, err = c.await(ctx)
	}
	stays := c.end(context.WithoutCancel(ctx))
	if stays == nil {
		c.done.Wait()
	}
	return code, errors.Join(err, stays)
}

func (c *check) start(command, dir string, env []string) error {
	program, err := self()
	if err != nil {
		return err
	}
	var files [3]*os.File // the input of the holder, and the two ends of its report
	if files[0], c.hold, err = os.Pipe(); err != nil {
		return err
	}
	if files[2], files[1], err = os.Pipe(); err != nil {
		return errors.Join(err, files[0].Close(), c.hold.Close())
	}
	c.cmd = exec.Command(program, HoldVerb, "--", command)
	c.cmd.Env, c.cmd.Dir, c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = env, dir, files[0], &c.out, &c.out
	c.cmd.ExtraFiles, c.cmd.WaitDelay = files[1:2], checkRest
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // without a terminal, whose owner it would stop and whose answers it would wait for
	err = c.cmd.Start()
	_ = errors.Join(files[0].Close(), files[1].Close()) // the holder has them
	if err != nil {
		return errors.Join(err, c.hold.Close(), files[2].Close())
	}
	c.exit = make(chan int, 1)
	c.done.Go(func() { _ = c.cmd.Wait() })
	c.done.Go(func() {
		defer close(c.exit)
		defer files[2].Close()
		var code int
		if _, err := fmt.Fscanln(files[2], &code); err == nil {
			c.exit <- code
		}
	})
	return nil
}

// await lets the command begin, and notes its descendants until it has ended. Without its holder
// nothing proves that what the command began is gone.
func (c *check) await(ctx context.Context) (code int, err error) {
	if ctx.Err() != nil {
		return -1, nil
	}
	if _, err := c.hold.WriteString("go\n"); err != nil {
		return -1, err
	}
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
			if err := c.look(ctx); err != nil && ctx.Err() == nil {
				c.onFail(err)
			}
		}
	}
}

// look notes what belongs to the check: the processes of its holder's group, and the descendants of
// everything noted before.
func (c *check) look(ctx context.Context) error {
	now, err := c.table.Snapshot(ctx)
	if err != nil {
		return err
	}
	var more []process.Identity
	noted := func(id process.Identity) bool { return slices.Contains(c.noted, id) || slices.Contains(more, id) }
	ours := func(pid int) bool {
		p, ok := now.Find(pid)
		return ok && noted(p.Identity)
	}
	led := ours(c.noted[0].PID)
	for n := -1; n < len(more); { // a child may come before its parent
		n = len(more)
		for _, p := range now.Processes {
			if !p.Gone() && !noted(p.Identity) && (led && p.PGID == c.noted[0].PID || ours(p.PPID)) {
				more = append(more, p.Identity)
			}
		}
	}
	return c.note(more...)
}

func (c *check) note(more ...process.Identity) error {
	if len(more) == 0 {
		return nil
	}
	noted := append(slices.Clone(c.noted), more...)
	if err := c.save(noted); err != nil {
		return err
	}
	c.noted = noted
	return nil
}

// end ends each process by its identity, the holder last: while the holder lives, everything below
// it is found. An error of errStays names a process that is not proven gone; it stays noted.
func (c *check) end(ctx context.Context) error {
	if len(c.noted) == 0 {
		_ = c.hold.Close() // the command has not begun
		return nil
	}
	err := c.endBelow(ctx)
	if err == nil {
		_ = c.hold.Close() // without its input the holder ends by itself
		limited, cancel := context.WithTimeout(ctx, holderRest)
		defer cancel()
		_ = c.table.Wait(limited, c.noted[0])
		err = c.endAll(ctx, c.noted[:1])
	}
	c.noted = slices.DeleteFunc(slices.Clone(c.noted), c.isGone)
	return errors.Join(err, c.save(c.noted))
}

func (c *check) isGone(id process.Identity) bool { return c.table.Liveness(id) == process.Gone }

// endBelow ends everything below the holder. What is spared is looked at once more: the child that a tmux server has just forked is
// tmux until it executes its program.
func (c *check) endBelow(ctx context.Context) error {
	for round := 0; ; round++ {
		err := c.look(ctx)
		below := slices.DeleteFunc(slices.Clone(c.noted[1:]), c.isGone)
		if err == nil && len(below) == 0 {
			return nil
		}
		if err = errors.Join(err, c.endAll(ctx, below)); err == nil && round == maxRounds-1 {
			err = fmt.Errorf("%w: pid %d and more", errStays, below[0].PID)
		}
		if err != nil && (round > 0 || !errors.Is(err, errStays)) {
			return err
		}
	}
}

// endAll ends processes at the same time.
func (c *check) endAll(ctx context.Context, noted []process.Identity) error {
	errs := make([]error, len(noted))
	var all sync.WaitGroup
	for i, id := range noted {
		all.Go(func() { errs[i] = c.endProcess(ctx, id) })
	}
	all.Wait()
	limited, cancel := context.WithTimeout(ctx, checkRest)
	defer cancel()
	for i, id := range noted {
		if errs[i] != nil && c.table.Wait(limited, id) == nil { // a tmux server is spared, and ends with its last window
			errs[i] = nil
		}
	}
	return errors.Join(errs...)
}

func (c *check) endProcess(ctx context.Context, id process.Identity) error {
	if c.isGone(id) {
		return nil
	}
	out, err := c.table.End(ctx, id, c.spared, nil, process.Grace{Kill: checkRest})
	if err != nil || !out.Ended || !out.Verified {
		return fmt.Errorf("%w: pid %d: %s", errStays, id.PID, cmp.Or(out.Spared, fmt.Sprint(err)))
	}
	if out.How != process.HowAlreadyGone {
		c.onEnd(id, out.How)
	}
	return nil
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

// last returns at most n bytes of the end, as valid text, from the beginning of a line if one begins
// there.
func (t *tail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	cut := t.end[max(0, len(t.end)-n):]
	if _, rest, found := strings.Cut(string(cut), "\n"); found && len(cut) < len(t.end) && strings.TrimSpace(rest) != "" {
		return strings.ToValidUTF8(rest, "\uFFFD")
	}
	return strings.ToValidUTF8(string(cut), "\uFFFD")
}
