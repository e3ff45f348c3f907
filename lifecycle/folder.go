package lifecycle

import (
	"context"
	"path/filepath"

	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/news"
)

// keepFolder notes the folder into which the agent of an open session has gone, such as a worktree, and reports it once.
func (w *work) keepFolder(ctx context.Context) error {
	if w.r.State != session.Running || !w.noteFolder() {
		return nil
	}
	if err := w.notify(ctx, news.Moved{}); err != nil {
		return err
	}
	return w.save()
}

// noteFolder notes the folder in which the agent works, and reports whether that is another one. A folder that is gone tells nothing:
// the agent stays in it until it is sent elsewhere.
func (w *work) noteFolder() (changed bool) {
	dir, was := w.term.Folder(), w.r.NowDir
	if dir == w.r.Folder() || !filepath.IsAbs(dir) || !folders.IsText(dir) {
		return false
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	w.r.NowDir = dir
	if first, err := filepath.EvalSymlinks(w.r.Dir); err == nil && first == dir {
		w.r.NowDir = "" // it has come back
	}
	return w.r.NowDir != was
}
