package host

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/each"
	"ccbot/internal/git"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// Diffs are the changes in the repositories of this machine's sessions. It implements
// [folders.Diffs].
type Diffs struct {
	Records Records
	Roots   []string // see Machine
	Moments Moments
	Own     Own // ccbot's own files; none of them is ever shown
	// Open opens the work tree of a folder, see git.OpenTree.
	Open func(ctx context.Context, dir string, files git.Files) (*git.Tree, error)
}

var _ folders.Diffs = Diffs{}

const (
	// gitTimeout is how long git may take for one answer.
	gitTimeout = 15 * time.Second
	// shownFiles bounds the files of an answer.
	shownFiles = 2000
)

// Snapshot implements [folders.Diffs].
func (d Diffs) Snapshot(ctx context.Context, id uuid.UUID) (since folders.Since, err error) {
	err = d.look(ctx, id, func(ctx context.Context, _ session.Record, tree *git.Tree) error {
		since, err = d.Moments.Keep(id, func(objects string) (git.Moment, error) { return tree.Snapshot(ctx, objects) })
		return err
	})
	return since, err
}

// Changes implements [folders.Diffs].
func (d Diffs) Changes(ctx context.Context, id uuid.UUID, since folders.Since) (c folders.Changes, err error) {
	err = d.look(ctx, id, func(ctx context.Context, r session.Record, tree *git.Tree) error {
		_, c, _, err = d.compare(ctx, r, tree, since)
		return err
	})
	return c, err
}

// Patch implements [folders.Diffs].
func (d Diffs) Patch(ctx context.Context, id uuid.UUID, since folders.Since, path string) (p folders.Patch, err error) {
	err = d.look(ctx, id, func(ctx context.Context, r session.Record, tree *git.Tree) error {
		m, c, all, err := d.compare(ctx, r, tree, since)
		if err != nil {
			return err
		}
		for i, f := range c.Files {
			if f.Path == path {
				p.All, p.At = c, i
				if f.Withheld {
					return nil
				}
				p.Text, p.Cut, err = tree.Patch(ctx, m, all[i])
				return err
			}
		}
		return &refusal.Error{Code: refusal.Unchanged}
	})
	return p, err
}

// Print identifies the content of a session's work tree, see git.Tree.Print.
func (d Diffs) Print(ctx context.Context, id uuid.UUID) (p string, err error) {
	err = d.look(ctx, id, func(ctx context.Context, _ session.Record, tree *git.Tree) error {
		p, err = tree.Print(ctx)
		return err
	})
	return p, err
}

// look calls do with the work tree of a session's folder. The content of files is read through the
// folder that is opened here.
func (d Diffs) look(ctx context.Context, id uuid.UUID, do func(ctx context.Context, r session.Record, tree *git.Tree) error) error {
	r, ok := d.Records.Get(id)
	if !ok {
		return &refusal.Error{Code: refusal.NotFound}
	}
	if err := there(r.Folder()); err != nil {
		return err
	}
	folder, err := openFolder(r.Folder(), d.Roots, d.Own)
	if err != nil {
		return err
	}
	defer folder.Close()
	asked, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	tree, err := d.Open(asked, r.Folder(), folder)
	if err == nil && tree == nil {
		return &refusal.Error{Code: refusal.NoRepository, Dir: r.Folder()}
	}
	if err == nil {
		err = errors.Join(do(asked, r, tree), tree.Close())
	}
	if err == nil {
		err = folder.Stays()
	}
	return gitRefusal(ctx, r.Folder(), err)
}

// gitRefusal returns why git failed in a folder; ctx is the caller's context.
func gitRefusal(ctx context.Context, dir string, err error) error {
	said, gone := (*git.Refused)(nil), there(dir)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case gone != nil: // since the check
		return gone
	case errors.Is(err, context.DeadlineExceeded):
		return &refusal.Error{Code: refusal.GitSlow, Dir: dir, Err: err}
	case errors.As(err, &said):
		first, _, _ := strings.Cut(strings.TrimSpace(said.Output), "\n")
		return &refusal.Error{Code: refusal.GitFailed, Dir: dir, Reason: glyph.Name(strings.ToValidUTF8(first, "\uFFFD")), Err: err}
	}
	return err
}

// there refuses a folder that is not there, that is a file, or that cannot be read or entered.
func there(dir string) error {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err == nil {
		_ = f.Close()                // it was only opened
		_, err = os.Stat(dir + "/.") // filepath.Join would leave the dot out
	}
	if err != nil {
		return dirRefusal(dir, err)
	}
	return nil
}

// compare compares with a moment, or with the first one after it in this order that is known: the
// session's start, the last commit. all are the files of c as git has them.
func (d Diffs) compare(ctx context.Context, r session.Record, tree *git.Tree, since folders.Since) (m git.Moment, c folders.Changes, all []git.Change, err error) {
	branch, head := tree.Head(ctx)
	for _, of := range []folders.Since{since, folders.SessionStart, folders.LastCommit} {
		switch {
		case of == folders.LastCommit:
			m = git.Moment{Tree: head}
		case of == folders.SessionStart && r.GitStart == nil:
			continue
		case of == folders.SessionStart:
			m = git.Moment{Tree: r.GitStart.Head}
		default:
			if m, err = d.Moments.Load(r.ID, of); err != nil {
				continue // it is too old, or damaged
			}
		}
		var found git.Found
		if found, err = tree.Since(ctx, m); errors.Is(err, git.ErrNoMoment) {
			continue
		}
		all, c.Outside, c.Cut = found.Files, found.Outside, found.Cut
		c.Of, c.Root, c.Main, c.Branch = of, tree.Root, git.MainOf(tree.Root), branch
		break
	}
	all = d.visible(tree.Root, all)
	if len(all) > shownFiles {
		all, c.Cut = all[:shownFiles], true
	}
	c.Files = each.As(all, func(f git.Change) folders.ChangedFile {
		named := folders.IsText(f.Path) && folders.IsText(f.From)
		return folders.ChangedFile{Path: strings.ToValidUTF8(f.Path, "\uFFFD"), From: strings.ToValidUTF8(f.From, "\uFFFD"), Kind: kinds[f.Status], Added: f.Added, Deleted: f.Deleted, Binary: f.Binary,
			TooLarge: f.TooLarge, Withheld: f.Withheld || !named}
	})
	return m, c, all, err
}

var kinds = map[git.Status]folders.ChangeKind{git.Modified: folders.Modified, git.Added: folders.Added, git.Deleted: folders.Deleted,
	git.Renamed: folders.Renamed, git.Untracked: folders.Untracked}

// visible leaves out the files in CCBOT_DIR, including deleted files.
func (d Diffs) visible(root string, all []git.Change) []git.Change {
	state := WithoutLinks(d.Own.Dir)
	own := func(path string) bool {
		_, is := within(state, filepath.Join(root, path))
		return is
	}
	return slices.DeleteFunc(all, func(f git.Change) bool { return own(f.Path) || f.From != "" && own(f.From) })
}
