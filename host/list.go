package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/port/files"
	"ccbot/bot/port/refusal"
)

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
