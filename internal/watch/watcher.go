package watch

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/wording"
)

// A folder without a kernel watch is retried, and its waiter woken, after slowRetry, and after
// quickRetry while Busy reports true.
const (
	quickRetry = time.Second
	slowRetry  = 30 * time.Second
)

// Problem is the reason why the kernel watches nothing, or not everything.
type Problem string

// The problems. The zero value means that there is no problem.
const (
	// no instance or descriptor is free (fs.inotify.max_user_instances)
	NoInstance  Problem = "instances"
	NoWatch     Problem = "watches" // no inotify watch: fs.inotify.max_user_watches
	Unwatchable Problem = "other"   // a folder that may not be read, for example
)

// Watcher owns one inotify instance and its watches. Before Run, each Watch wakes its waiter once.
//
// A folder is looked up without the lock, because that may hang (a lost network file system); then
// only the watch of that folder is delayed.
type Watcher struct {
	// Busy, set before Run, reports whether changes are expected. If nil, none are.
	Busy func() bool

	log       *slog.Logger
	again     *time.Timer    // runs while a watch has no folder
	lost      chan error     // errors of the instance; capacity 1
	lookingUp sync.WaitGroup // lookups in progress for Run
	lookUp    func(dir string) (at, next string, err error)

	mu      sync.Mutex
	notify  *fsnotify.Watcher // nil if there is no instance
	watches map[*Watch]bool
	timed   bool      // again runs
	problem Problem   // why a watch has no folder; already logged
	retried time.Time // when unwatched folders were last retried
}

// New makes a watcher without watches.
func New(log *slog.Logger) *Watcher {
	r := &Watcher{log: log, again: time.NewTimer(slowRetry), lost: make(chan error, 1), lookUp: nearest,
		watches: make(map[*Watch]bool)}
	r.again.Stop()
	return r
}

// Run serves all watches until ctx ends, and returns its error.
func (r *Watcher) Run(ctx context.Context) error {
	notify, err := fsnotify.NewWatcher()
	for err != nil {
		r.mu.Lock()
		r.fail("", err, NoInstance)
		r.addAll()
		r.mu.Unlock()
		for due := false; !due; due = r.isDue() {
			if ended := pause.For(ctx, quickRetry); ended != nil {
				return ended
			}
		}
		notify, err = fsnotify.NewWatcher()
	}
	var g errgroup.Group
	g.Go(func() error { // takes no lock: fsnotify may hold its lock while it reports
		for err := range notify.Errors {
			r.reset(err)
		}
		return nil
	})
	g.Go(func() error {
		defer notify.Close()
		return r.serve(ctx, notify)
	})
	err = g.Wait()
	r.lookingUp.Wait()
	return err
}

// reset makes Run re-add all watches immediately.
func (r *Watcher) reset(err error) {
	select {
	case r.lost <- err:
	default:
	}
}

func (r *Watcher) serve(ctx context.Context, notify *fsnotify.Watcher) error {
	for r.begin(notify); ; {
		select {
		case <-ctx.Done():
			r.begin(nil)
			return ctx.Err()
		case event := <-notify.Events:
			r.dispatch(event)
		case err := <-r.lost:
			r.log.Warn("watch_events_lost", logkey.Error, err)
			r.begin(notify)
		case <-r.again.C:
			r.retry()
		}
	}
}

// begin re-adds every watch to an instance, or to none if notify is nil.
func (r *Watcher) begin(notify *fsnotify.Watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notify = notify
	r.addAll()
}

// addAll re-adds every watch and wakes all waiters. mu must be held.
func (r *Watcher) addAll() {
	for w := range r.watches {
		r.release(w)
	}
	for w := range r.watches {
		r.lookingUp.Go(func() { r.addWatch(w) })
	}
}

// isDue reports whether it is time to retry the unwatched folders, and if so records the time.
func (r *Watcher) isDue() bool {
	busy, now := r.Busy != nil && r.Busy(), time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !busy && now.Sub(r.retried) < slowRetry {
		return false
	}
	r.retried = now
	return true
}

// Problem returns the reason why some folder is not watched.
func (r *Watcher) Problem() Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problem
}

// retry adds the watches that the kernel does not have, if it is time for that. If a lookup is
// still running, it only wakes the waiter.
func (r *Watcher) retry() {
	due := r.isDue()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timed = false
	for w := range r.watches {
		switch {
		case w.at != "":
		case !due:
			r.tryLater()
		case w.lookups > 0:
			w.wake(nil)
			r.tryLater()
		default:
			r.lookingUp.Go(func() { r.addWatch(w) })
		}
	}
}

// dispatch wakes the waiters that an event concerns.
func (r *Watcher) dispatch(event fsnotify.Event) {
	path := filepath.Clean(event.Name)
	folder, name := filepath.Dir(path), filepath.Base(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	for w := range r.watches {
		switch {
		case w.at == path && event.Has(fsnotify.Remove|fsnotify.Rename):
			r.addAll()
			return
		case w.at != folder:
		case w.next == name: // on the way to the folder
			r.lookingUp.Go(func() { r.addWatch(w) })
		case w.next == "" && w.concerns(name, event.Has(fsnotify.Create)):
			w.wake(map[string]bool{name: true})
		}
	}
}

// addWatch watches w's folder, or its nearest existing parent, and wakes the waiter.
func (r *Watcher) addWatch(w *Watch) {
	for {
		mine, ok := r.beginLookup(w)
		if !ok {
			return
		}
		at, next, err := r.lookUp(w.dir)
		if r.install(w, mine, at, next, err) {
			return
		}
	}
}

// beginLookup starts a lookup for w; only the result of the latest lookup counts. Without an
// instance it only wakes the waiter.
func (r *Watcher) beginLookup(w *Watch) (turn int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.notify == nil {
		w.wake(nil)
		return 0, false
	}
	if w.at == "" {
		r.tryLater()
	}
	w.turn++
	w.lookups++
	return w.turn, true
}

// install watches the folder that a lookup found, and reports whether w is done. It is not done
// until the next lookup finds the same folder, whose changes the kernel then already reports.
func (r *Watcher) install(w *Watch, turn int, at, next string, err error) (done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.lookups--
	if turn != w.turn || !r.watches[w] {
		return true // a later look decides, or the watch is closed
	}
	switch {
	case r.notify == nil:
		w.wake(nil)
		return true
	case err == nil && at == w.at:
		w.wake(nil)
		if !r.isWatched("") {
			r.problem = ""
		}
		return true
	}
	r.release(w)
	if err == nil {
		err = r.addFolder(at)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // removed since the lookup
	case errors.Is(err, syscall.ENOSPC):
		r.fail(w.dir, err, NoWatch)
		w.wake(nil)
		return true
	case err != nil:
		r.fail(w.dir, err, Unwatchable)
		w.wake(nil)
		return true
	default:
		w.at, w.next = at, next
	}
	return false
}

// nearest returns dir without links in its path, or its nearest existing parent and the next
// element of the path.
func nearest(dir string) (at, next string, err error) {
	for {
		at, err = filepath.EvalSymlinks(dir)
		above := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) || above == dir {
			return at, next, err
		}
		dir, next = above, filepath.Base(dir)
	}
}

// errOtherName is returned for a folder that has two paths without a link, as by a bind mount: its
// events are reported under the first path only.
var errOtherName = errors.New("the folder is watched under another name")

// addFolder adds a kernel watch for a folder unless one exists. fsnotify reports the removal of a
// folder whose parent is also watched only through the parent, so a removal before the parent was
// added would be missed. So addFolder adds the folders below again.
func (r *Watcher) addFolder(at string) error {
	if r.isWatched(at) {
		return nil
	}
	if err := r.notify.Add(at); err != nil {
		return err
	}
	if !slices.Contains(r.notify.WatchList(), at) {
		return errOtherName
	}
	for w := range r.watches {
		if w.at == "" || w.at == at || filepath.Dir(w.at) != at {
			continue
		}
		if err := r.notify.Add(w.at); err != nil {
			r.reset(err)
		}
		w.wake(nil)
	}
	return nil
}

func (r *Watcher) isWatched(folder string) bool {
	for w := range r.watches {
		if w.at == folder {
			return true
		}
	}
	return false
}

func (r *Watcher) release(w *Watch) {
	at := w.at
	w.at, w.next = "", ""
	if at != "" && r.notify != nil && !r.isWatched(at) {
		_ = r.notify.Remove(at) // the folder may be gone, and the kernel's watch with it
	}
}

// fail logs the first failure and schedules a retry.
func (r *Watcher) fail(dir string, err error, why Problem) {
	if r.problem == "" {
		r.log.Warn("watch_failed", logkey.Path, wording.Path(dir), logkey.Error, err, logkey.AgainIn, slowRetry)
		r.retried = time.Now()
	}
	r.problem = why
	r.tryLater()
}

// tryLater schedules a retry.
func (r *Watcher) tryLater() {
	if !r.timed {
		r.timed = true
		r.again.Reset(quickRetry)
	}
}
