package bot

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"ccbot/bot/outbox"
	"ccbot/internal/session"
)

// foundFile is an open file that may be sent. What was checked is its
// descriptor, so nothing that happens to its name later matters.
type foundFile struct {
	*os.File
	path   string // without links
	info   fs.FileInfo
	inside bool // it lies in the session's directory
}

// openFile opens a regular file of a size that can be sent. Links are followed
// first, and where they lead decides whether it is inside. Files of ccbot's own
// are refused, wherever they seem to lie.
func (b *Bot) openFile(path, dir string) (foundFile, error) {
	if !filepath.IsAbs(path) {
		return foundFile{}, refuseFile("the path is not absolute")
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return foundFile{}, fileReason(err)
	}
	own, err := filepath.EvalSymlinks(b.StateDir)
	if err != nil || b.StateDir == "" { // then nothing could be told from ccbot's own
		return foundFile{}, fmt.Errorf("find CCBOT_DIR %q: %w", b.StateDir, errors.Join(err, fs.ErrInvalid))
	}
	if _, below := within(own, path); below {
		return foundFile{}, refuseFile(ownFile)
	}
	f, err := openInside(dir, path)
	if err != nil {
		return foundFile{}, err
	}
	if mine, err := holds(own, f.info); err != nil || mine {
		_ = f.Close() // nothing was written
		if err != nil {
			return foundFile{}, fmt.Errorf("look through CCBOT_DIR: %w", err)
		}
		return foundFile{}, refuseFile(ownFile)
	}
	return f, nil
}

const ownFile = "files of ccbot's own are never sent"

// within says whether a path lies in a folder, and where there. Both are without
// links.
func within(folder, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(folder, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// openInside opens a file through the session's directory, which a link that
// has appeared by now cannot lead out of; one that lies elsewhere through its own
// folder. A directory that is reached through a link counts as elsewhere: the
// record has only its name, and an agent can make a link of it that leads to all
// there is.
func openInside(dir, path string) (foundFile, error) {
	base := filepath.Clean(dir)
	rel, inside := within(base, path)
	if inside = inside && withoutLinks(base); !inside {
		base, rel = filepath.Dir(path), filepath.Base(path)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return foundFile{}, fileReason(err)
	}
	defer root.Close()
	f, err := openRegular(root, rel)
	if err == nil && inside && !isRoot(root, base) {
		return foundFile{}, errors.Join(refuseFile("the session's directory changed just now"), f.Close())
	}
	f.path, f.inside = path, inside
	return f, err
}

// withoutLinks says that a folder is where its name says.
func withoutLinks(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && real == dir
}

// isRoot says that what was opened is still what has the name.
func isRoot(root *os.Root, dir string) bool {
	opened, err := root.Stat(".")
	if err != nil {
		return false
	}
	named, err := os.Lstat(dir)
	return err == nil && os.SameFile(opened, named) && withoutLinks(dir)
}

// openRegular looks before it opens, because opening a device does things, and
// looks at what it has opened, because that is what is sent.
func openRegular(root *os.Root, name string) (foundFile, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return foundFile{}, fileReason(err)
	}
	if !before.Mode().IsRegular() {
		return foundFile{}, refuseFile("it is not a regular file")
	}
	// A FIFO that takes its place just now must not hold us up.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return foundFile{}, fileReason(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = checkFile(before, info)
	}
	if err != nil {
		return foundFile{}, errors.Join(err, f.Close())
	}
	return foundFile{File: f, info: info}, nil
}

func checkFile(before, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return refuseFile("it is not a regular file")
	case !os.SameFile(before, info): // a link, or another file
		return refuseFile("it changed just now")
	case info.Size() == 0: // also those of /proc, in which our own environment is
		return refuseFile("it is empty")
	case info.Size() > outbox.MaxFile:
		return refuseFile("it has %s, and Telegram takes %s", bytesText(info.Size()), bytesText(outbox.MaxFile))
	}
	return nil
}

// holds looks for a file in a folder by what it is, not by its name: a hard link,
// or a folder mounted elsewhere, gives it another one.
func holds(folder string, file fs.FileInfo) (found bool, err error) {
	err = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return passGone(err)
		}
		info, err := d.Info()
		if err != nil {
			return passGone(err)
		}
		if os.SameFile(info, file) {
			found = true
			return filepath.SkipAll
		}
		return nil
	})
	return found, err
}

// passGone passes over what has gone meanwhile, as ccbot's files do all the time.
func passGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// bytesText is a size as people read it.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// mark names an offer in its buttons: exactly this file, as it is now.
func (o fileOffer) mark(info fs.FileInfo) string {
	var device, inode any
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		device, inode = s.Dev, s.Ino
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v %q %q %d %d %v %v", o.session, o.to, o.path, o.caption,
		info.Size(), info.ModTime().UnixNano(), device, inode))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

// fileOffers are the open questions about files. The zero value has none.
type fileOffers struct {
	mu   sync.Mutex
	open map[string]fileOffer
}

// put adds an offer; not fresh: it is open already.
func (f *fileOffers) put(mark string, o fileOffer, now time.Time) (fresh bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expireLocked(now)
	if _, ok := f.open[mark]; ok {
		return false, nil
	}
	n := 0
	for _, other := range f.open {
		if other.session == o.session {
			n++
		}
	}
	if n >= maxOffers {
		return false, refuseFile("%d files wait for a person's answer already", n)
	}
	if f.open == nil {
		f.open = make(map[string]fileOffer)
	}
	f.open[mark] = o
	return true, nil
}

// offerState is what a tap finds of an offer.
type offerState int

const (
	offerGone  offerState = iota // never made, answered, too old, or of before a restart
	offerOpen                    // and now taken: it is for who has tapped first
	offerTaken                   // its file is under way
)

// take takes an offer for an answer, in the conversation that it was made in.
// Whoever gets it drops it when that is done.
func (f *fileOffers) take(mark string, to session.Conversation, now time.Time) (fileOffer, offerState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.expireLocked(now)
	o, ok := f.open[mark]
	switch {
	case !ok || o.to != to:
		return fileOffer{}, offerGone
	case o.sending:
		return fileOffer{}, offerTaken
	}
	o.sending = true
	f.open[mark] = o
	return o, offerOpen
}

// drop forgets an offer.
func (f *fileOffers) drop(mark string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, mark)
}

func (f *fileOffers) expireLocked(now time.Time) {
	for mark, o := range f.open {
		if now.After(o.until) && !o.sending {
			delete(f.open, mark)
		}
	}
}
