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

// What cannot be watched looks, and asks the kernel, again after slowLook, and after quickLook while
// Busy reports that changes are to be expected.
const (
	quickLook = time.Second
	slowLook  = 30 * time.Second
)

// Problem is the reason why the kernel watches nothing, or not everything.
type Problem string

// The problems; the zero value is none.
const (
	NoInstance  Problem = "instances" // of inotify is to be had: fs.inotify.max_user_instances, or descriptors
	NoWatch     Problem = "watches"   // is to be had: fs.inotify.max_user_watches
	Unwatchable Problem = "other"     // a folder that may not be read, for example
)

// Room is all watches over one instance. Until Run runs each watch has its first look only.
//
// A folder is looked up without the lock, because the look may hang (a network file system that is gone): then
// only the watch of that folder waits for the kernel.
type Room struct {
	// Busy, set before Run, reports whether changes are to be expected. nil: never.
	Busy func() bool

	log    *slog.Logger
	again  *time.Timer    // runs while some watch stands nowhere
	lost   chan error     // what the instance reports, of capacity 1
	placed sync.WaitGroup // folders that are looked up for Run
	lookUp func(dir string) (at, next string, err error)

	mu      sync.Mutex
	notify  *fsnotify.Watcher // nil: there is none
	watches map[*Watch]bool
	timed   bool      // again runs
	problem Problem   // why some watch stands nowhere; it was logged
	looked  time.Time // when what cannot be watched was last told to look
}

// New makes a room without watches.
func New(log *slog.Logger) *Room {
	r := &Room{log: log, again: time.NewTimer(slowLook), lost: make(chan error, 1), lookUp: nearest,
		watches: make(map[*Watch]bool)}
	r.again.Stop()
	return r
}

// Run serves all watches until ctx ends, and returns its error.
func (r *Room) Run(ctx context.Context) error {
	notify, err := fsnotify.NewWatcher()
	for err != nil {
		r.mu.Lock()
		r.fail("", err, NoInstance)
		r.renew()
		r.mu.Unlock()
		for due := false; !due; due = r.isDue() {
			if ended := pause.For(ctx, quickLook); ended != nil {
				return ended
			}
		}
		notify, err = fsnotify.NewWatcher()
	}
	var g errgroup.Group
	g.Go(func() error { // waits for no lock of ours: fsnotify may hold its own while it reports
		for err := range notify.Errors {
			r.lose(err)
		}
		return nil
	})
	g.Go(func() error {
		defer notify.Close()
		return r.serve(ctx, notify)
	})
	err = g.Wait()
	r.placed.Wait()
	return err
}

// lose has all watches placed anew at once.
func (r *Room) lose(err error) {
	select {
	case r.lost <- err:
	default:
	}
}

func (r *Room) serve(ctx context.Context, notify *fsnotify.Watcher) error {
	for r.begin(notify); ; {
		select {
		case <-ctx.Done():
			r.begin(nil)
			return ctx.Err()
		case event := <-notify.Events:
			r.take(event)
		case err := <-r.lost:
			r.log.Warn("watch_events_lost", logkey.Error, err)
			r.begin(notify)
		case <-r.again.C:
			r.retry()
		}
	}
}

// begin places every watch anew on an instance; nil: on none.
func (r *Room) begin(notify *fsnotify.Watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notify = notify
	r.renew()
}

// renew places every watch anew, and has everybody look. The lock is held.
func (r *Room) renew() {
	for w := range r.watches {
		r.release(w)
	}
	for w := range r.watches {
		r.placed.Go(func() { r.place(w) })
	}
}

// isDue reports whether it is time to look at what cannot be watched, and notes that.
func (r *Room) isDue() bool {
	busy, now := r.Busy != nil && r.Busy(), time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !busy && now.Sub(r.looked) < slowLook {
		return false
	}
	r.looked = now
	return true
}

// Problem returns the reason why some folder is not watched.
func (r *Room) Problem() Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.problem
}

// retry places the watches that stand nowhere, if it is time for that. One whose folder is still being looked up is only told to look.
func (r *Room) retry() {
	due := r.isDue()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timed = false
	for w := range r.watches {
		switch {
		case w.at != "":
		case !due:
			r.tryLater()
		case w.looking > 0:
			w.tell(nil)
			r.tryLater()
		default:
			r.placed.Go(func() { r.place(w) })
		}
	}
}

// take passes on what the kernel says.
func (r *Room) take(event fsnotify.Event) {
	path := filepath.Clean(event.Name)
	folder, name := filepath.Dir(path), filepath.Base(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	for w := range r.watches {
		switch {
		case w.at == path && event.Has(fsnotify.Remove|fsnotify.Rename):
			r.renew()
			return
		case w.at != folder:
		case w.next == name: // on the way to the folder
			r.placed.Go(func() { r.place(w) })
		case w.next == "" && w.concerns(name, event.Has(fsnotify.Create)):
			w.tell(map[string]bool{name: true})
		}
	}
}

// place has the kernel tell of the folder of a watch, or of the nearest one above it that is there,
// and has its user look.
func (r *Room) place(w *Watch) {
	for {
		mine, ok := r.beginLook(w)
		if !ok {
			return
		}
		at, next, err := r.lookUp(w.dir)
		if r.stand(w, mine, at, next, err) {
			return
		}
	}
}

// beginLook counts a look for the folder of a watch: the last one that began decides. Without an instance there is
// nothing to place, and the user is told to look.
func (r *Room) beginLook(w *Watch) (turn int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.notify == nil {
		w.tell(nil)
		return 0, false
	}
	if w.at == "" {
		r.tryLater()
	}
	w.turn++
	w.looking++
	return w.turn, true
}

// stand puts a watch at the folder that a look has found, and says whether that is the end of it: the next look
// has to find the same folder, which the kernel then tells of already.
func (r *Room) stand(w *Watch, turn int, at, next string, err error) (done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.looking--
	if turn != w.turn || !r.watches[w] {
		return true // a later look decides, or the watch is closed
	}
	switch {
	case r.notify == nil:
		w.tell(nil)
		return true
	case err == nil && at == w.at:
		w.tell(nil)
		if !r.standsAt("") {
			r.problem = ""
		}
		return true
	}
	r.release(w)
	if err == nil {
		err = r.add(at)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // gone between the look and the watch
	case errors.Is(err, syscall.ENOSPC):
		r.fail(w.dir, err, NoWatch)
		w.tell(nil)
		return true
	case err != nil:
		r.fail(w.dir, err, Unwatchable)
		w.tell(nil)
		return true
	default:
		w.at, w.next = at, next
	}
	return false
}

// nearest is the folder without links in its path, or the nearest one above it that is there and
// what comes next on the way.
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

// errOtherName is of a folder that has two names without a link, as by a bind mount: what happens
// in it is reported under the name that was asked for first.
var errOtherName = errors.New("the folder is watched under another name")

// add asks the kernel, once for all watches at a folder. Of a folder whose parent is watched too
// fsnotify reports the end by the parent alone: one that ended before its parent was asked for
// would be reported by neither. So the folders within are asked for again.
func (r *Room) add(at string) error {
	if r.standsAt(at) {
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
			r.lose(err)
		}
		w.tell(nil)
	}
	return nil
}

func (r *Room) standsAt(folder string) bool {
	for w := range r.watches {
		if w.at == folder {
			return true
		}
	}
	return false
}

func (r *Room) release(w *Watch) {
	at := w.at
	w.at, w.next = "", ""
	if at != "" && r.notify != nil && !r.standsAt(at) {
		_ = r.notify.Remove(at) // the folder may be gone, and the kernel's watch with it
	}
}

// fail logs, once, that a watch stands nowhere, and has it placed in a while.
func (r *Room) fail(dir string, err error, why Problem) {
	if r.problem == "" {
		r.log.Warn("watch_failed", logkey.Path, wording.Path(dir), logkey.Error, err, logkey.AgainIn, slowLook)
		r.looked = time.Now()
	}
	r.problem = why
	r.tryLater()
}

// tryLater has the watches that stand nowhere placed in a while.
func (r *Room) tryLater() {
	if !r.timed {
		r.timed = true
		r.again.Reset(quickLook)
	}
}
