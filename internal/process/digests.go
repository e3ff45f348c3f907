package process

import (
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// settled is how long ago a file was changed at least if its digest is kept. The kernel's times are
// coarse: another change soon after may leave them as they are.
const settled = 2 * time.Second

// Digests keeps the digest of the program that was read last, so that a program is read again only
// after its file has changed. A nil *Digests keeps nothing.
type Digests struct {
	mu     sync.Mutex
	file   fs.FileInfo // nil: no digest is kept
	digest string

	read func(io.Reader) (string, error) // nil: Digest
	now  func() time.Time                // nil: time.Now
}

// Of returns Digest of the program at a path.
func (d *Digests) Of(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if d == nil {
		return Digest(f)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	before, err := f.Stat()
	if err != nil {
		return "", err
	}
	if d.file == nil || !isUnchanged(d.file, before) {
		err = d.readLocked(f, before)
	}
	return d.digest, err
}

// readLocked reads a program, and keeps its digest unless the file can have changed unnoticed
// during the read.
func (d *Digests) readLocked(f *os.File, before fs.FileInfo) (err error) {
	read, now := d.read, d.now
	if read == nil {
		read = Digest
	}
	if now == nil {
		now = time.Now
	}
	old := now().Sub(changedAt(before)) >= settled
	d.file = nil
	if d.digest, err = read(f); err != nil || !old {
		return err
	}
	if after, err := f.Stat(); err == nil && isUnchanged(before, after) {
		d.file = after
	}
	return nil
}

// isUnchanged reports whether two reads show the same file with the same content. A program can set
// the time of a file's last write, but not the time of its last change.
func isUnchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && changedAt(a).Equal(changedAt(b))
}
