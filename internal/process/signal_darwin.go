package process

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// watched is the nearest thing to a pidfd: a kqueue that gets an event when the process ends. The
// signal itself goes to the pid, so the process is read again right before it; between that read
// and the signal the pid could in theory be reused.
type watched struct {
	kernel sysctls
	queue  int
	pid    int
	start  uint64
	gone   bool // NOTE_EXIT is delivered only once
}

// wakeUp is the user event that cancels a wait.
const wakeUp = 1

func (k sysctls) hold(pid int) (handle, error) {
	p, err := k.process(pid)
	if err != nil {
		return nil, err
	}
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("kqueue: %w", err)
	}
	unix.CloseOnExec(queue)
	h := &watched{kernel: k, queue: queue, pid: pid, start: p.Start}
	events := make([]unix.Kevent_t, 2)
	unix.SetKevent(&events[0], pid, unix.EVFILT_PROC, unix.EV_ADD)
	events[0].Fflags = unix.NOTE_EXIT
	unix.SetKevent(&events[1], wakeUp, unix.EVFILT_USER, unix.EV_ADD|unix.EV_CLEAR)
	if _, err := unix.Kevent(queue, events, nil, nil); err != nil {
		h.close()
		if errors.Is(err, unix.ESRCH) {
			return nil, fmt.Errorf("kevent: %w", ErrGone)
		}
		return nil, fmt.Errorf("kevent: %w", err)
	}
	return h, nil
}

func (h *watched) exited() (bool, error) {
	if h.gone {
		return true, nil
	}
	p, err := h.kernel.process(h.pid)
	switch {
	case errors.Is(err, ErrGone):
		return true, nil
	case err != nil:
		return false, err
	}
	return p.Gone() || p.Start != h.start, nil
}

// wait blocks a thread on darwin; the user event ends the wait without polling.
func (h *watched) wait(ctx context.Context) error {
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(woken); h.wake() })
	defer func() {
		if !stop() {
			<-woken // otherwise wake could write to a descriptor that has been closed and reused
		}
	}()
	for !h.gone {
		if err := ctx.Err(); err != nil {
			return err
		}
		events := make([]unix.Kevent_t, 2)
		n, err := unix.Kevent(h.queue, nil, events, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("kevent: %w", err)
		}
		for _, event := range events[:max(n, 0)] {
			h.gone = h.gone || event.Filter == unix.EVFILT_PROC
		}
	}
	return nil
}

func (h *watched) wake() {
	event := make([]unix.Kevent_t, 1)
	unix.SetKevent(&event[0], wakeUp, unix.EVFILT_USER, 0)
	event[0].Fflags = unix.NOTE_TRIGGER
	_, _ = unix.Kevent(h.queue, event, nil, nil)
}

func (h *watched) signal(sig syscall.Signal) error {
	if exited, err := h.exited(); err != nil {
		return err
	} else if exited {
		return syscall.ESRCH
	}
	return unix.Kill(h.pid, sig)
}

func (h *watched) close() { _ = unix.Close(h.queue) }
