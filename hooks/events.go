package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/disk"
	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/spool"
	"ccbot/internal/sysfault"
	"ccbot/internal/watch"
)

// Sink takes hook events. nil means that the event is dealt with and its file may be removed; an
// error means that the event is delivered again later. After a crash between the two an event is
// delivered twice, so taking an event twice must be harmless. An event of an outdated or foreign
// process is for the sink to recognise and to take with nil. After ErrNotNamed and ErrContradicted
// the event is kept for a while, and then rejected.
type Sink interface {
	HookEvent(ctx context.Context, e hookwire.Event) error
}

// Events passes the files in events/ to a sink in the order of their names, which is the order in
// time. Events of one launch never overtake each other. An event that the sink refuses holds up its
// own launch only, is tried again with backoff, and goes to quarantine/ after maxFailures tries.
// Without a refusal there is no pause between two events.
type Events struct {
	folder     spool.Folder
	watcher    *watch.Watcher
	quarantine string
	sink       Sink
	log        *slog.Logger
	now        func() time.Time
	retries    retrySchedule

	mu        sync.Mutex          // held over a whole pass: Drain and Run deliver one at a time
	failing   map[string]*failing // by file name
	kept      map[string]*kept    // by file name
	delivered map[string]bool     // taken by the sink, but the file could not be removed
	expired   bool                // whether old files were searched for
	bounded   bool                // whether the removal of rejected events was logged

	arrived   chan struct{} // one slot: a value makes Run look
	presences presences

	began  time.Time
	timing sync.Mutex
	delays []time.Duration // of the last events, from the hook until they were dealt with
}

// NewEvents reads dir/events; dir is $CCBOT_DIR.
func NewEvents(dir string, sink Sink, watcher *watch.Watcher, log *slog.Logger) *Events {
	return &Events{
		folder:     eventsIn(dir),
		watcher:    watcher,
		quarantine: filepath.Join(dir, "quarantine"),
		sink:       sink,
		log:        log,
		now:        time.Now,
		retries:    retrySchedule{first: time.Second, most: time.Minute, failures: maxFailures},
		failing:    map[string]*failing{},
		kept:       map[string]*kept{},
		arrived:    make(chan struct{}, 1),
		presences:  presences{changed: map[int]bool{}},
		delivered:  map[string]bool{},
		began:      time.Now(),
	}
}

// Drain delivers the events that are there now, even those that are waiting for their next try, and
// returns. The error joins what was refused or could not be read; those files stay, and Run tries
// them again.
func (e *Events) Drain(ctx context.Context) error {
	_, err := e.pass(ctx, true)
	return err
}

// Run delivers events as they arrive until ctx ends, and then returns nil.
func (e *Events) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		e.folder.Watch(ctx, e.watcher, func() { pause.Poke(e.arrived) })
		return nil
	})
	group.Go(func() error { return e.follow(ctx) })
	if err := group.Wait(); err != nil {
		return fmt.Errorf("hook events: %w", err)
	}
	return nil
}

// follow makes a pass at each arrival and when the next refused or kept event is due.
func (e *Events) follow(ctx context.Context) error {
	for wait := pause.Forever; ; {
		pause.Until(ctx, wait, e.arrived)
		if ctx.Err() != nil {
			return nil
		}
		due, err := e.pass(ctx, false)
		if err != nil && ctx.Err() == nil {
			e.log.Warn("hook_event_failed", logkey.Error, err)
		}
		switch wait = pause.Forever; {
		case errors.Is(err, errList):
			wait = mostPause
		case !due.IsZero():
			wait = max(due.Sub(e.now()), 0)
		}
	}
}

// errList means that the folder could not be listed: then nothing can be delivered now.
var errList = errors.New("list events")

// pass goes through the folder once. due is the time of the next try of a refused or kept event, or
// zero.
func (e *Events) pass(ctx context.Context, impatient bool) (due time.Time, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var errs []error
	if err := e.expireLocked(); err != nil {
		errs = append(errs, err)
	}
	names, err := e.folder.List()
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", errList, err)
	}
	e.forgetLocked(names)
	p := scan{held: map[string]bool{}, changed: e.presences.take(), impatient: impatient}
	for _, name := range names {
		if ctx.Err() != nil {
			return time.Time{}, ctx.Err()
		}
		if err := e.handleLocked(ctx, name, p); err != nil {
			errs = append(errs, err)
		}
	}
	return e.dueLocked(), errors.Join(errs...)
}

// scan is one pass.
type scan struct {
	// held are launches with a refused event and conversations with a kept event: their later
	// events wait.
	held      map[string]bool
	changed   map[int]bool // processes with a new presence file
	impatient bool         // also events that are not due are tried
}

// waitsLocked returns what a file holds up that is not due yet; "" if it is due.
func (e *Events) waitsLocked(name string, p scan) (held string) {
	f, k := e.failing[name], e.kept[name]
	switch {
	case p.impatient:
	case f != nil && e.now().Before(f.due):
		return f.key
	case k != nil && e.now().Before(k.due()) && !p.changed[k.pid]:
		return k.conversation
	}
	return ""
}

// handleLocked takes one file as far as is possible now.
func (e *Events) handleLocked(ctx context.Context, name string, p scan) error {
	if held := e.waitsLocked(name, p); held != "" {
		p.held[held] = true
		return nil
	}
	if e.delivered[name] {
		return e.removeLocked(name)
	}
	event, err := readEvent(e.folder, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case hopeless(err):
		return e.putAsideLocked(name, err)
	case err != nil:
		return e.failedLocked(name, name, err)
	}
	// within it events keep their order; a launch survives a /clear
	key := cmp.Or(event.Launch, event.SessionID)
	if p.held[key] || p.held[conversationOf(event)] {
		return nil
	}
	err = e.deliver(ctx, event)
	switch {
	case errors.Is(err, ErrNotNamed), errors.Is(err, ErrContradicted):
		err = e.keepLocked(name, event, err)
		p.held[conversationOf(event)] = e.kept[name] != nil
		return err
	case err == nil:
		if !event.Received.Before(e.began) { // otherwise it has waited for this ccbot
			e.took(e.now().Sub(event.Received))
		}
		return e.removeLocked(name)
	case ctx.Err() != nil:
		return ctx.Err() // refused because the bot ends: not the event's fault
	}
	err = e.failedLocked(name, key, err)
	p.held[key] = err != nil // a file that was put aside holds up nothing
	return err
}

// eventsIn is dir/events.
func eventsIn(dir string) spool.Folder {
	return spool.Folder{Path: filepath.Join(dir, hookwire.EventsFolder), MaxSize: hookwire.MaxEvent}
}

func readEvent(events spool.Folder, name string) (hookwire.Event, error) {
	data, err := events.Read(name)
	if err != nil {
		return hookwire.Event{}, err
	}
	return hookwire.ReadEvent(data)
}

// hopeless reports whether reading the same file again would fail in the same way.
func hopeless(err error) bool {
	return errors.Is(err, hookwire.ErrMalformed) || errors.Is(err, spool.ErrForeign) || errors.Is(err, spool.ErrTooBig)
}

// deliver turns a panic of the sink into an error: otherwise the same file would crash the bot
// again at each start.
func (e *Events) deliver(ctx context.Context, event hookwire.Event) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return e.sink.HookEvent(ctx, event)
}

func (e *Events) removeLocked(name string) error {
	if err := e.folder.Remove(name); err != nil {
		e.delivered[name] = true
		return e.failedLocked(name, name, err)
	}
	delete(e.delivered, name)
	delete(e.failing, name)
	delete(e.kept, name)
	return nil
}

// HasPendingEvents reports whether dir/events contains an event of a launch that no sink has taken
// yet; dir is $CCBOT_DIR. A permanently unreadable file does not count for any launch.
func HasPendingEvents(dir string, launch uuid.UUID) (bool, error) {
	events := eventsIn(dir)
	names, err := events.List()
	if err != nil {
		return false, fmt.Errorf("unheard events: %w", err)
	}
	for _, name := range names {
		switch event, err := readEvent(events, name); {
		case errors.Is(err, fs.ErrNotExist), hopeless(err):
			// Taken since the listing, or to be put aside.
		case err != nil:
			return false, fmt.Errorf("unheard events: %w", err)
		case event.Launch == launch.String():
			return true, nil
		}
	}
	return false, nil
}

// mostDelays is the number of events that Slowest covers.
const mostDelays = 20

func (e *Events) took(delay time.Duration) {
	e.timing.Lock()
	defer e.timing.Unlock()
	// the clock may have been set back
	e.delays = append(e.delays[max(0, len(e.delays)-mostDelays+1):], max(delay, 0))
}

// Slowest is the longest that one of the last events has taken, from the hook until it was dealt
// with, and how many events these are.
func (e *Events) Slowest() (events int, took time.Duration) {
	e.timing.Lock()
	defer e.timing.Unlock()
	for _, delay := range e.delays {
		took = max(took, delay)
	}
	return len(e.delays), took
}

// mostPause is the longest pause after a fault of the machine.
const mostPause = 5 * time.Second

// maxFailures tries, the last ones a minute apart, take about four minutes: longer than a short
// failure of the disk or the bot, and short enough that a session with an event that cannot be
// handled still gets its later events.
const maxFailures = 10

// retrySchedule is the schedule for a refused event: the next try comes after first, then the pause
// doubles up to most.
type retrySchedule struct {
	first, most time.Duration
	failures    int
}

// failing is the history of one file that could not be handled.
type failing struct {
	key   string // what the file delays: its launch, or only itself
	count int
	due   time.Time
}

// failedLocked counts a failed try and returns the error; after the last try it puts the file aside
// instead. A file that the sink has taken is never put aside, because only its removal fails, nor
// is a file that a fault of the machine has stopped: that passes, and the event is still needed
// then.
func (e *Events) failedLocked(name, key string, cause error) error {
	count := e.postponeLocked(name, key, cause)
	if count >= e.retries.failures && !e.delivered[name] && sysfault.Of(cause) == "" {
		return e.putAsideLocked(name, cause)
	}
	return fmt.Errorf("hook event %s, try %d: %w", name, count, cause)
}

func (e *Events) postponeLocked(name, key string, cause error) int {
	f := e.failing[name]
	if f == nil {
		f = &failing{key: key}
		e.failing[name] = f
	}
	f.count++
	most := e.retries.most
	if sysfault.Of(cause) != "" {
		most = min(most, mostPause)
	}
	f.due = e.now().Add(pause.Doubled(e.retries.first, most, f.count-1))
	return f.count
}

// putAsideLocked moves a file to quarantine/. If the move fails too, the file stays and is tried
// again with backoff.
func (e *Events) putAsideLocked(name string, cause error) error {
	if err := e.folder.Quarantine(name, e.quarantine, rejectedReason+cause.Error()); err != nil {
		e.postponeLocked(name, name, err)
		return err
	}
	delete(e.failing, name)
	e.log.Error("hook_event_quarantined", logkey.Name, name, logkey.Error, cause)
	return e.boundLocked()
}

// dueLocked returns the time of the next try among the postponed files, or zero.
func (e *Events) dueLocked() (due time.Time) {
	due = e.keptDueLocked()
	for _, f := range e.failing {
		if due.IsZero() || f.due.Before(due) {
			due = f.due
		}
	}
	return due
}

// forgetLocked drops the history of files that are gone. names are those that are there, in order.
func (e *Events) forgetLocked(names []string) {
	gone := func(name string) bool {
		_, there := slices.BinarySearch(names, name)
		return !there
	}
	maps.DeleteFunc(e.failing, func(name string, _ *failing) bool { return gone(name) })
	maps.DeleteFunc(e.kept, func(name string, _ *kept) bool { return gone(name) })
	maps.DeleteFunc(e.delivered, func(name string, _ bool) bool { return gone(name) })
}

// keepEvents is the age up to which an event that was not read is still delivered. keepTemporary is
// the age up to which a half-written file may still be in work: a hook lives for seconds.
const (
	keepEvents    = 7 * 24 * time.Hour
	keepTemporary = time.Hour
)

// expireLocked removes, once per process, events that are too old and files that a killed hook left
// half-written. A file that cannot be removed is delivered like any other.
func (e *Events) expireLocked() error {
	if e.expired {
		return nil
	}
	entries, err := disk.ReadDir(e.folder.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", errList, err)
	}
	e.expired = true
	dropped := 0
	var errs []error
	for _, entry := range entries {
		old, temporary := e.tooOld(entry)
		if !old {
			continue
		}
		if err := disk.Remove(filepath.Join(e.folder.Path, entry.Name())); err != nil {
			errs = append(errs, fmt.Errorf("old hook event: %w", err))
		} else if !temporary {
			dropped++
		}
	}
	if dropped > 0 {
		e.log.Warn("hook_events_dropped", logkey.Count, dropped, logkey.OlderThan, keepEvents)
	}
	return errors.Join(errs...)
}

func (e *Events) tooOld(entry fs.DirEntry) (old, temporary bool) {
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() {
		return false, false // gone, or to be put into quarantine
	}
	if strings.HasPrefix(entry.Name(), ".") {
		return e.now().Sub(info.ModTime()) > keepTemporary, true
	}
	written, ok := hookwire.EventTime(entry.Name())
	if !ok {
		written = info.ModTime()
	}
	return e.now().Sub(written) > keepEvents, false
}
