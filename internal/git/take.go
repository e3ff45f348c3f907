package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// bounds limits the content that is read from changed files.
type bounds struct {
	file, all int64 // bytes of one file, and of all
	files     int
}

// untaken is the reason why the content of a changed file is not taken.
type untaken int

const (
	outside  untaken = iota + 1 // the file is not in the tree's folder
	withheld                    // its content may not be shown
	tooLarge
)

// taken is the result of Tree.take.
type taken struct {
	untaken map[string]untaken // changed files whose content in the index is out of date
	copied  map[string]bool    // changed files whose content in the index is current
	folders map[string]bool    // submodules, and folders that have replaced a file
	cut     bool               // there are more changed files
}

// take brings the copy of the index up to date with the work tree. Git reads no file there by its
// name: it gets copies of the files that Files has opened. g writes the objects.
func (t *Tree) take(ctx context.Context, g caller, room bounds) (is taken, err error) {
	changed, cut, err := g.list(ctx, "diff-files", "--name-only", "-z", "--ignore-submodules=dirty")
	if err != nil {
		return is, err
	}
	is = taken{make(map[string]untaken), make(map[string]bool), make(map[string]bool), cut}
	copies, err := os.OpenRoot(t.copies())
	if err != nil {
		return is, err
	}
	defer copies.Close()
	var gone, folders, copied []string
	done := make(map[string]bool)
	for _, path := range changed {
		if ctx.Err() != nil {
			return is, ctx.Err()
		}
		if done[path] { // a file that is not merged is listed for each side
			continue
		}
		done[path] = true
		rel, inside := t.within(path)
		p, mode, there := t.print(path)
		switch {
		// a submodule; of another folder git takes the path out
		case there && mode.IsDir() && !t.viaLink(path):
			folders, is.folders[path] = append(folders, path), true
		case !there, t.viaLink(path), !mode.IsRegular() && mode.Type() != fs.ModeSymlink:
			gone = append(gone, path)
		case !inside:
			is.untaken[path] = outside
		case p.Size > min(room.file, room.all), room.files == 0:
			is.untaken[path] = tooLarge
		case t.copy(copies, path, rel, p.Size) != nil:
			is.untaken[path] = withheld
		default:
			room.all, room.files = room.all-p.Size, room.files-1
			copied, is.copied[path] = append(copied, path), true
		}
	}
	return is, errors.Join(g.update(ctx, gone, "--force-remove"), g.update(ctx, folders, "--remove"), t.amongCopies(g).update(ctx, copied))
}

// update adds files of the work tree to the index.
func (g caller) update(ctx context.Context, paths []string, how ...string) error {
	if len(paths) == 0 {
		return nil
	}
	args := append([]string{"update-index", "-z", "--add"}, how...)
	return g.runWithInput(ctx, strings.Join(paths, "\x00")+"\x00", &start{}, append(args, "--stdin")...)
}

// amongCopies returns a caller whose work tree is the folder of the copies. If there is no copy of
// a .gitattributes, git takes it from the index.
func (t *Tree) amongCopies(g caller) caller {
	g.dir = t.copies()
	g.env = append(g.env[:len(g.env):len(g.env)], "GIT_DIR="+t.dir, "GIT_WORK_TREE="+t.copies())
	return g
}

// copy copies a file of at most size bytes that Files opens.
func (t *Tree) copy(to *os.Root, path, rel string, size int64) error {
	f, info, err := t.files.Open(rel)
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() > size {
		return errors.New("it grows")
	}
	if err := to.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	out, err := to.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|info.Mode().Perm()&0o100)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.NewSectionReader(f, 0, info.Size()))
	return errors.Join(err, out.Close())
}

// mayShow reports whether the content of a file may be shown. It may if Files opens the file, and
// if the file exists only in the index.
func (t *Tree) mayShow(path string) bool {
	rel, inside := t.within(path)
	if !inside {
		return false
	}
	f, _, err := t.files.Open(rel)
	if err == nil {
		err = f.Close()
	}
	return err == nil || errors.Is(err, fs.ErrNotExist)
}
