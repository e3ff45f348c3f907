package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ccbot/internal/ownfile"
)

// errElsewhere is returned for a work tree that has its history from another place. An unpacked
// archive can bring such a .git, and git would compare the folder with the commits of any
// repository of this user.
var errElsewhere = errors.New("git: the repository is another folder's")

func elsewhere(why string) error { return &Refused{Output: "its .git " + why, err: errElsewhere} }

// folderOf returns git's own folder of the work tree root, if it belongs to that work tree: it is
// root/.git, it is in root, it is a linked work tree's that names root, or it is in git's folder of
// the work tree above, as a submodule's is. No link leads from it to commits.
func folderOf(root string) (string, error) {
	mark := filepath.Join(root, ".git")
	info, err := os.Lstat(mark)
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		if _, err := os.Lstat(filepath.Join(mark, "commondir")); err == nil {
			return "", elsewhere("has the commits of another repository")
		}
		return mark, linksNowhere(mark)
	case !info.Mode().IsRegular():
		return "", elsewhere("is a link")
	}
	folder, err := namedBy(mark, "gitdir: ")
	if err != nil {
		return "", err
	}
	shared, err := namedBy(filepath.Join(folder, "commondir"), "")
	if errors.Is(err, fs.ErrNotExist) {
		if err := inOwner(folder, root); err != nil {
			return "", err
		}
		return folder, linksNowhere(folder)
	} else if err != nil {
		return "", err
	}
	known, err := (&Worktree{admin: folder}).knownPath()
	if err != nil {
		return "", err
	}
	if filepath.Dir(folder) != filepath.Join(shared, "worktrees") || !ownfile.Same(filepath.Join(known, ".git"), mark) {
		return "", elsewhere("leads to a repository that has no such work tree")
	}
	return folder, errors.Join(linksNowhere(folder), linksNowhere(shared))
}

// Shared returns the folder that all work trees of the repository of the work tree root have in
// common.
func Shared(root string) (string, error) {
	folder, err := folderOf(root)
	if err != nil {
		return "", err
	}
	shared, err := namedBy(filepath.Join(folder, "commondir"), "")
	if errors.Is(err, fs.ErrNotExist) {
		return folder, nil
	}
	return shared, err
}

// namedBy returns the folder that a file names after prefix, without links.
func namedBy(file, prefix string) (string, error) {
	said, err := ownfile.Read(file, maxComplaint, ownfile.Others)
	if err != nil {
		return "", err
	}
	path, found := strings.CutPrefix(strings.TrimRight(string(said), "\r\n"), prefix)
	if !found {
		return "", elsewhere("names no folder")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(file), path)
	}
	return filepath.EvalSymlinks(path)
}

// inOwner reports an error unless folder is in root, or in git's own folder of the work tree above.
func inOwner(folder, root string) error {
	if strings.HasPrefix(folder, root+string(filepath.Separator)) {
		return nil
	}
	above, ok := findRoot(filepath.Dir(root))
	if !ok || root == filepath.Dir(root) {
		return elsewhere("leads out of the folder")
	}
	owner, err := folderOf(above)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(folder, owner+string(filepath.Separator)) {
		return elsewhere("leads out of the folder")
	}
	return nil
}

// isLink reports whether an entry is a link, or a file with a second name.
func isLink(d fs.DirEntry) bool {
	if !d.Type().IsRegular() {
		return d.Type()&fs.ModeSymlink != 0
	}
	info, err := d.Info()
	if err != nil {
		return false // it is gone
	}
	s, known := info.Sys().(*syscall.Stat_t)
	return known && s.Nlink > 1
}

// linksNowhere reports an error if what names commits, the index, or a file that git appends to is
// a link. Objects do not matter: without the name of a commit git shows none of them.
func linksNowhere(folder string) error {
	for _, name := range []string{"HEAD", "index", "packed-refs", "refs", "reftable", "logs", "worktrees"} {
		err := filepath.WalkDir(filepath.Join(folder, name), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && isLink(d) {
				return elsewhere("has a link in it")
			}
			if err == nil && d.IsDir() && name == "worktrees" { // git makes a new folder in it
				return fs.SkipDir
			}
			return unless(err, fs.ErrNotExist, syscall.ENOTDIR) // git removes empty folders
		})
		if err != nil {
			return err
		}
	}
	return nil
}
