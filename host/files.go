package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"ccbot/bot/port/files"
	"ccbot/bot/port/refusal"
	"ccbot/host/received"
)

// Open implements [files.Files]. Its result is a descriptor of the very file that was checked.
func (m *Machine) Open(_ context.Context, session uuid.UUID, path string) (f files.File, err error) {
	err = m.inside(session, path, func(root *os.Root, rel string, ours fs.FileInfo) (err error) {
		f, err = openBelow(root, rel, ours)
		return err
	})
	if err != nil && f.Body != nil {
		return files.File{}, errors.Join(err, f.Body.Close())
	}
	return f, err
}

func refuse(code refusal.Code) error { return &refusal.Error{Code: code} }

// inside does something with the folder of a session, and with a path below it. It follows the path's links first: their
// target decides whether the path is inside, and whether it is one of ccbot's own, whose folder is ours. It is
// reached through the opened folder, so that a link that has appeared since the check cannot lead out of it. A folder that
// is reached through a link is refused: the record has only the folder's name, and an agent could replace the
// folder by a link to any place.
func (m *Machine) inside(session uuid.UUID, path string, do func(root *os.Root, rel string, ours fs.FileInfo) error) error {
	r, ok := m.Records.Get(session)
	if !ok {
		return refuse(refusal.NotFound)
	}
	if !filepath.IsAbs(path) {
		return refuse(refusal.FileRelative)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fileReason(err)
	}
	own, err := filepath.EvalSymlinks(m.StateDir)
	if err != nil || m.StateDir == "" { // then ccbot's own files could not be recognised
		return fmt.Errorf("find CCBOT_DIR %q: %w", m.StateDir, errors.Join(err, fs.ErrInvalid))
	}
	if _, below := within(own, path); below {
		return refuse(refusal.FileOwn)
	}
	ours, err := os.Stat(own)
	if err != nil {
		return fmt.Errorf("find CCBOT_DIR: %w", err)
	}
	base := filepath.Clean(r.Dir)
	root, err := os.OpenRoot(base)
	if err != nil {
		return fileReason(err)
	}
	defer root.Close()
	rel, below := within(base, path)
	switch {
	case !isRoot(root, base):
		return refuse(refusal.FileLinked)
	case !below:
		return refuse(refusal.FileOutside)
	}
	if err := do(root, rel, ours); err != nil {
		return err
	}
	if !isRoot(root, base) {
		return refuse(refusal.FileChanged)
	}
	return nil
}

// isRoot reports whether the opened folder is still the one that has the name.
func isRoot(root *os.Root, dir string) bool {
	opened, err := root.Stat(".")
	if err != nil {
		return false
	}
	named, err := os.Lstat(dir)
	if err != nil || !os.SameFile(opened, named) {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && real == dir
}

// openBelow opens a file one folder at a time. It refuses a link on the way, because there was none
// when the path was checked. It also refuses the folder of ccbot's own, even if that is mounted
// under another name or spelt otherwise.
func openBelow(root *os.Root, rel string, ours fs.FileInfo) (files.File, error) {
	here, err := root.Stat(".")
	if err != nil {
		return files.File{}, fileReason(err)
	}
	if os.SameFile(here, ours) {
		return files.File{}, refuse(refusal.FileOwn)
	}
	folder, rest, deeper := strings.Cut(rel, string(filepath.Separator))
	if !deeper {
		return openRegular(root, rel)
	}
	named, err := root.Lstat(folder)
	if err != nil {
		return files.File{}, fileReason(err)
	}
	next, err := root.OpenRoot(folder)
	if err != nil {
		return files.File{}, fileReason(err)
	}
	defer next.Close()
	if opened, err := next.Stat("."); err != nil || !os.SameFile(named, opened) {
		return files.File{}, refuse(refusal.FileChanged)
	}
	return openBelow(next, rest, ours)
}

// openRegular looks before it opens, because opening a device has effects, and looks again at the
// opened file, because that one is sent.
func openRegular(root *os.Root, name string) (files.File, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return files.File{}, fileReason(err)
	}
	if !before.Mode().IsRegular() {
		return files.File{}, refuse(refusal.FileIrregular)
	}
	// O_NONBLOCK, because a FIFO that takes the file's place just now must not block us.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return files.File{}, fileReason(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = checkFile(before, info)
	}
	if err != nil {
		return files.File{}, errors.Join(err, f.Close())
	}
	return files.File{Name: filepath.Base(name), Size: info.Size(), Body: f}, nil
}

func checkFile(before, info fs.FileInfo) error {
	s, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return refuse(refusal.FileIrregular)
	case !os.SameFile(before, info): // a link, or another file
		return refuse(refusal.FileChanged)
	case !known || s.Nlink != 1: // the other name may be that of a file of ccbot's own
		return refuse(refusal.FileNamed)
	case info.Size() == 0: // files of /proc too, where our own environment is
		return refuse(refusal.FileEmpty)
	}
	return nil
}

// fileReason is the refusal of a file that cannot be read.
func fileReason(err error) error {
	e := &refusal.Error{Code: refusal.FileUnreadable, Reason: reason(err), Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		e.Code = refusal.FileMissing
	}
	return e
}

// Read implements [files.Files].
func (m *Machine) Read(_ context.Context, transcript, path string, most int64) (string, error) {
	folder := filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "tool-results")
	if filepath.Dir(path) != folder {
		return "", errors.New("it is not beside the transcript")
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := openRegular(root, filepath.Base(path))
	if err != nil {
		return "", err
	}
	defer f.Body.Close()
	if f.Size > most {
		return "", errors.New("it is too long")
	}
	data, err := io.ReadAll(io.NewSectionReader(f.Body, 0, f.Size))
	return string(data), err
}

const (
	mostListed = 50   // a message shows no more
	mostRead   = 5000 // of a larger folder nobody knows how much more there is
)

// List implements [files.Files]. It tells names and sizes only, so that a link which appears meanwhile
// below the session's folder shows at most what else is there.
func (m *Machine) List(_ context.Context, session uuid.UUID, path string) (l files.Listing, err error) {
	err = m.inside(session, path, func(root *os.Root, rel string, ours fs.FileInfo) error {
		if info, err := root.Lstat(rel); err == nil && !info.IsDir() {
			return refuse(refusal.FileIrregular)
		}
		folder, err := root.OpenRoot(rel)
		if err != nil {
			return fileReason(err)
		}
		defer folder.Close()
		here, err := folder.Stat(".")
		if err != nil {
			return fileReason(err)
		}
		if os.SameFile(here, ours) {
			return refuse(refusal.FileOwn)
		}
		l, err = listing(folder)
		return err
	})
	return l, err
}

func listing(folder *os.Root) (l files.Listing, err error) {
	f, err := folder.Open(".")
	if err != nil {
		return l, fileReason(err)
	}
	defer f.Close()
	all, err := f.ReadDir(mostRead)
	if err != nil && !errors.Is(err, io.EOF) {
		return l, fileReason(err)
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	l.More = max(0, len(all)-mostListed)
	for _, one := range all[:len(all)-l.More] {
		e := files.Entry{Name: one.Name(), Dir: one.IsDir()}
		if info, err := one.Info(); err == nil && info.Mode().IsRegular() {
			e.Size = info.Size()
		}
		l.Entries = append(l.Entries, e)
	}
	return l, nil
}

// Has implements [files.Received].
func (m *Machine) Has(_ context.Context, id uuid.UUID, file string) (name string, err error) {
	r, ok := m.Records.Get(id)
	if !ok {
		return "", refuse(refusal.NotFound)
	}
	name, err = m.Received.Has(r.Dir, file)
	return name, notPut(r.Dir, err)
}

// Put implements [files.Received].
func (m *Machine) Put(_ context.Context, id uuid.UUID, file, wished string, body io.Reader) (name string, err error) {
	r, ok := m.Records.Get(id)
	if !ok {
		return "", refuse(refusal.NotFound)
	}
	from := &source{Reader: body}
	name, err = m.Received.Put(r.Dir, file, wished, from)
	if from.err != nil {
		return "", err
	}
	return name, notPut(r.Dir, err)
}

// notPut is the refusal that an error about a file from the chat means.
func notPut(dir string, err error) error {
	e := &refusal.Error{Code: refusal.InboxUnwritable, Dir: filepath.Join(dir, received.Folder), Err: err}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, received.ErrNotOurs):
		e.Code = refusal.InboxNotOurs
	default:
		e.Reason = reason(err)
	}
	return e
}

// source is a body that remembers its own error, so that every other error is known to be the
// disk's.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
