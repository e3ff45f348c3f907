package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/port"
)

// errCut is the error of a check that a pause, a stop or a bound in time has ended.
var errCut = errors.New("the check was cut off")

// judge runs the check of an iteration, and puts its result on disk. A check that was cut off has
// no result: it runs again.
func (k *Keeper) judge(ctx context.Context, h *held) error {
	result, err := k.runCheck(ctx, h)
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

// runCheck runs the check once, when everything of a check that was cut off has ended.
func (k *Keeper) runCheck(ctx context.Context, h *held) (port.CheckResult, error) {
	c := k.checkOf(h)
	if err := c.end(ctx); err != nil {
		return port.CheckResult{}, err
	}
	l := h.copy()
	r, known := k.Engine.Session(l.Session)
	if !known {
		return port.CheckResult{}, ErrNoSession
	}
	dir, runs := k.checkFolder(l, r)
	if !runs {
		return port.CheckResult{}, errCut // the next look pauses the loop
	}
	began := k.Now()
	most := l.timeLeft(began)
	limited, cancel := context.WithTimeout(ctx, min(most, checkTimeout))
	defer cancel()
	if !h.beginCheck(cancel) {
		return port.CheckResult{}, errCut
	}
	exit, err := c.run(limited, l.Check, dir, k.Env, func() { k.at("loop-check-begun") })
	if ended := limited.Err(); ended != nil && (errors.Is(ended, context.Canceled) || most <= checkTimeout) {
		err = errors.Join(errCut, err)
	}
	if err != nil {
		return port.CheckResult{}, err
	}
	res := port.CheckResult{Iteration: l.Iteration, Exit: exit, Tail: c.out.last(maxTail), At: k.Now().UTC(), Took: k.Now().Sub(began)}
	_, _, res.Commit = k.Engine.Place(ctx, dir)
	res.Print = printOf(exit, c.out.last(maxOutput), k.Engine.Tree(ctx, l.Session))
	return res, nil
}

// printOf returns what two checks have in common between which nothing has changed; empty: that is not
// known. Without a work tree the output has to show what changes, so all of it counts but its times, and
// a check that passes shows nothing.
func printOf(exit int, output, tree string) string {
	kind, text := "", stable(output)
	switch {
	case tree == "" && exit == 0:
		return ""
	case tree == "":
		kind, text = ofOutput, times.ReplaceAllLiteralString(output, "~")
	}
	sum := sha256.Sum256([]byte(text + "\x00" + tree))
	return kind + hex.EncodeToString(sum[:])
}

// beginCheck counts a run of the check; the holder's identity brings the count to disk. cut ends
// the check if the loop is paused. false: it is.
func (h *held) beginCheck(cut func()) bool {
	h.mu.Lock()
	defer h.unlock()
	if !h.loop.State.Moves() {
		return false
	}
	h.cut = cut
	h.loop.Begun++
	return true
}

// checkOf returns the check of a loop, with the processes that its file has. Only the step under
// way may use it.
func (k *Keeper) checkOf(h *held) *check {
	l := h.copy()
	return &check{table: k.Processes, spared: k.Spared, noted: l.Processes,
		save: func(noted []process.Identity) error {
			h.mu.Lock()
			defer h.unlock()
			was := h.loop.Processes
			h.loop.Processes = slices.Clone(noted)
			err := k.store.putOrRemove(h.loop)
			if err != nil {
				h.loop.Processes = was
			}
			return err
		},
		onEnd: func(id process.Identity, how process.How) {
			k.Log.Info("loop_check_ended", logkey.LoopID, l.ID.String(), logkey.PID, id.PID, logkey.How, string(how))
		},
		onFail: func(err error) { h.warn(k.Log, err) }}
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

// moments are dates, times, durations and addresses, as regular expressions.
const moments = `\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d([.,]\d+)?|\b\d+([.,]\d+)?\s?(ns|us|µs|ms|s|sec|seconds|m|min|h)\b|0x[0-9a-fA-F]+`

var times = lazyregexp.New(moments)

// varies is what changes in the output of the same check: also short times, which may be the lines of a
// file, and paths of the machine.
var varies = lazyregexp.New(moments + `|\d{1,2}:\d\d|(/[^\s:/]+){2,}`)

// stable is an output without what varies.
func stable(output string) string { return varies.ReplaceAllLiteralString(output, "~") }
