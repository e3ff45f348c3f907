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
)

// slowLook is how long what cannot be watched waits until it looks, and asks the kernel, again.
const slowLook = 30 * time.Second

// Room is all watches over one instance. Until Run runs each watch has its first look only.
type Room struct {
	log   *slog.Logger
	again *time.Timer // runs while some watch stands nowhere
	lost  chan error  // what the instance reports, of capacity 1

	mu      sync.Mutex
	notify  *fsnotify.Watcher // nil: there is none
	watches map[*Watch]bool
	failing bool // it was logged that some watch stands nowhere
}

// New makes a room without watches.
func New(log *slog.Logger) *Room {
	r := &Room{log: log, again: time.NewTimer(slowLook), lost: make(chan error, 1),
		watches: make(map[*Watch]bool)}
	r.again.Stop()
	return r
}

// Run serves all watches until ctx ends, and returns its error.
func (r *Room) Run(ctx context.Context) error {
	notify, err := fsnotify.NewWatcher()
	for err != nil {
		r.mu.Lock()
		r.fail("", err)
		r.renew()
		r.mu.Unlock()
		if ended := pause.For(ctx, slowLook); ended != nil {
			return ended
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
	return g.Wait()
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
			r.log.Warn("watch_events_lost", logkey.Error, err.Error())
			r.begin(notify)
		case <-r.again.C:
			r.begin(notify)
		}
	}
}

// begin places every watch anew on an instance.
func (r *Room) begin(notify *fsnotify.Watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notify = notify
	r.renew()
}

// renew places every watch anew, and has everybody look.
func (r *Room) renew() {
	for w := range r.watches {
		r.release(w)
	}
	failing := false
	for w := range r.watches {
		failing = !r.place(w) || failing
	}
	r.failing = r.failing && (failing || r.notify == nil)
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
			r.place(w)
		case w.next == "" && w.concerns(name, event.Has(fsnotify.Create)):
			w.tell(map[string]bool{name: true})
		}
	}
}

// place has the kernel tell of the folder of a watch, or of the nearest one above it that is there,
// and has its user look. False: it stands nowhere.
func (r *Room) place(w *Watch) bool {
	defer w.tell(nil)
	if r.notify == nil {
		return false
	}
	for {
		at, next, err := nearest(w.dir)
		if err == nil && at == w.at {
			return true // there is nothing nearer since the kernel was asked
		}
		r.release(w)
		if err == nil {
			err = r.add(at)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // gone between the look and the watch
		case err != nil:
			r.fail(w.dir, err)
			return false
		default:
			w.at, w.next = at, next
		}
	}
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

// fail has all watches placed anew in a while.
func (r *Room) fail(dir string, err error) {
	if !r.failing {
		r.log.Warn("watch_failed", logkey.Path, dir, logkey.Error, err.Error(), logkey.AgainIn, slowLook)
	}
	r.failing = true
	r.again.Reset(slowLook)
}
