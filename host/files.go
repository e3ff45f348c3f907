package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/host/outgoing"
	"ccbot/host/received"
	"ccbot/internal/git"
	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// Open implements [folders.Files]. The ticket has a descriptor of the very file that was checked.
func (m *Machine) Open(_ context.Context, session uuid.UUID, path string) (f folders.File, err error) {
	err = m.inside(session, path, func(folder *outgoing.Folder, rel string) error {
		file, info, err := folder.Open(rel)
		if err == nil && info.Size() == 0 {
			err = errors.Join(refuse(refusal.FileEmpty), file.Close())
		}
		if err == nil {
			f = m.Tickets.read(filepath.Base(rel), version(info), info.Size(), file, func() error { return unchanged(file, info) })
		}
		return err
	})
	if err != nil && f.Ticket != "" {
		m.Tickets.end(f.Ticket)
		return folders.File{}, err
	}
	return f, err
}

// version names the content of a file, as far as a file system tells.
func version(info fs.FileInfo) string {
	return fmt.Sprintf("%x-%x", received.Inode(info), info.ModTime().UnixNano())
}

// unchanged refuses a file that was written since it was opened, unless it has only grown, as a log
// does.
func unchanged(file *os.File, was fs.FileInfo) error {
	info, err := file.Stat()
	if err == nil && info.Size() <= was.Size() && (info.Size() < was.Size() || version(info) != version(was)) {
		err = refuse(refusal.FileChanged)
	}
	return err
}

func refuse(code refusal.Code) error { return &refusal.Error{Code: code} }

// openFolder opens a folder of a session for files that may leave it. It must be in the roots,
// which may have changed since the session began.
func openFolder(dir string, roots []string, own Own) (*outgoing.Folder, error) {
	if !InRoots(roots, dir) {
		return nil, outside(dir)
	}
	folder, err := outgoing.Open(dir, own)
	if err != nil {
		return nil, cmp.Or(there(dir), err)
	}
	return folder, nil
}

// folderWith is the folder of a session that a path belongs to: the one in which it works, or the one in which it began if the path is
// only there, or if the session works above it.
func folderWith(r session.Record, path string) string {
	_, works := within(r.Folder(), path)
	_, began := within(r.Dir, path)
	if began && (!works || len(r.Dir) > len(r.Folder())) {
		return r.Dir
	}
	return r.Folder()
}

// MaySend refuses a file that the agent of a session may not send by itself. It must be in the folder of the session's start, or in the
// one in which it works if that is a work tree of the same repository: an agent that has gone elsewhere may not send from there.
func (m *Machine) MaySend(id uuid.UUID, path string) error {
	r, ok := m.Records.Get(id)
	if !ok {
		return refuse(refusal.NotFound)
	}
	if dir := folderWith(r, WithoutLinks(path)); dir != r.Dir && !git.SameRepository(dir, r.Dir) {
		return refuse(refusal.FileOutside)
	}
	return nil
}

// inside calls do with the folder of a session and a path from there. It resolves the links of the
// path first: their target decides whether the path is inside. do reaches the target through the
// opened folder, so that a link that appears after the check cannot lead out.
func (m *Machine) inside(id uuid.UUID, path string, do func(folder *outgoing.Folder, rel string) error) error {
	r, ok := m.Records.Get(id)
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
	if !folders.IsText(path) {
		return refuse(refusal.FileMissing)
	}
	folder, err := openFolder(folderWith(r, path), m.Roots, m.Own)
	if err != nil {
		return err
	}
	defer folder.Close()
	rel, err := folder.RelativePath(path)
	if err == nil {
		err = do(folder, rel)
	}
	if err == nil {
		err = folder.Stays()
	}
	return err
}

// fileReason is the refusal of a file that cannot be read.
func fileReason(err error) error {
	e := &refusal.Error{Code: refusal.FileUnreadable, Reason: reason(err), Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		e.Code = refusal.FileMissing
	}
	return e
}

// Read implements [folders.Files]. The folder of outputs is Claude Code's, but any program of this
// user can put a link there, to ccbot's own folder for example.
func (m *Machine) Read(_ context.Context, transcript, path string, most int64) (string, error) {
	beside := strings.TrimSuffix(transcript, ".jsonl")
	if filepath.Dir(path) != filepath.Join(beside, "tool-results") {
		return "", errors.New("it is not next to the transcript")
	}
	// A person may have moved Claude Code's folder.
	project, err := filepath.EvalSymlinks(filepath.Dir(beside))
	if err != nil {
		return "", err
	}
	folder, err := outgoing.Open(project, m.Own)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	f, info, err := folder.Open(filepath.Join(filepath.Base(beside), "tool-results", filepath.Base(path)))
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info.Size() > most {
		return "", errors.New("it is too long")
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, info.Size()))
	return string(data), err
}

const (
	mostListed = 50   // a message shows no more
	mostRead   = 5000 // of a larger folder the rest is not counted
)

// List implements [folders.Files]. It shows names and sizes only.
func (m *Machine) List(_ context.Context, session uuid.UUID, path string) (l folders.Listing, err error) {
	err = m.inside(session, path, func(folder *outgoing.Folder, rel string) error {
		dir, err := folder.OpenDir(rel)
		if err != nil {
			return err
		}
		defer dir.Close()
		l, err = listing(dir)
		return err
	})
	return l, err
}

func listing(dir *os.File) (l folders.Listing, err error) {
	all, err := dir.ReadDir(mostRead)
	if err != nil && !errors.Is(err, io.EOF) {
		return l, fileReason(err)
	}
	read := len(all)
	all = slices.DeleteFunc(all, func(one fs.DirEntry) bool { return !folders.IsText(one.Name()) })
	l.NotText = read - len(all)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	l.More = max(0, len(all)-mostListed)
	for _, one := range all[:len(all)-l.More] {
		e := folders.Entry{Name: one.Name(), Dir: one.IsDir()}
		if info, err := one.Info(); err == nil && info.Mode().IsRegular() {
			e.Size = info.Size()
		}
		l.Entries = append(l.Entries, e)
	}
	return l, nil
}

// Has implements [folders.Received].
func (m *Machine) Has(_ context.Context, id uuid.UUID, file string) (name, folder string, err error) {
	folder, err = m.receiving(id)
	if err != nil {
		return "", "", err
	}
	m.Tickets.drop(writingKey(id, file))
	name, err = m.Received.Has(folder, file)
	return name, folder, notPut(folder, err)
}

// receiving returns the folder that gets the files for a session.
func (m *Machine) receiving(id uuid.UUID) (dir string, err error) {
	r, ok := m.Records.Get(id)
	if !ok {
		return "", refuse(refusal.NotFound)
	}
	if !InRoots(m.Roots, r.Folder()) {
		return "", outside(r.Folder())
	}
	return r.Folder(), there(r.Folder())
}

func writingKey(id uuid.UUID, file string) string { return id.String() + "/" + file }

// Begin implements [folders.Received].
func (m *Machine) Begin(_ context.Context, id uuid.UUID, file, wished string) (folders.Ticket, error) {
	dir, err := m.receiving(id)
	if err != nil {
		return "", err
	}
	return m.Tickets.write(writingKey(id, file), func(body io.Reader) (string, error) {
		from := &origin{Reader: body}
		name, err := m.Received.Put(dir, file, wished, from)
		if from.err != nil {
			return "", err
		}
		return filepath.Join(dir, name), notPut(dir, err)
	}), nil
}

// Finish implements [folders.Received].
func (m *Machine) Finish(_ context.Context, t folders.Ticket) (name, folder string, err error) {
	at, err := m.Tickets.finish(t)
	if err != nil {
		return "", "", err
	}
	return filepath.Base(at), filepath.Dir(at), nil
}

// Discard implements [folders.Received].
func (m *Machine) Discard(_ context.Context, dir string, names []string) error {
	return m.Received.Discard(dir, names, m.Ended)
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

// origin is a body that remembers its own error, so that every other error is known to be the
// disk's.
type origin struct {
	io.Reader
	err error
}

func (s *origin) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
