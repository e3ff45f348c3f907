package folders

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/glyph"
)

// Since names the moment to compare the work tree with: a result of Snapshot, or a constant below.
type Since string

const (
	SessionStart Since = ""            // the commit at the session's start
	LastCommit   Since = "last-commit" // if no earlier moment is known
)

// Diffs reads the changes of sessions. It may take seconds. It returns a *refusal.Error, the
// context's error, or an error for the log.
type Diffs interface {
	// Snapshot remembers the present work tree until the session is archived or the snapshots become
	// too many or too large. It returns refusal.NoRepository if there is no git repository.
	Snapshot(ctx context.Context, session uuid.UUID) (Since, error)
	// Changes returns the changed files of the session's folder, committed or not, sorted by name.
	// If since is no longer known, it compares with the session's start, or if that is unknown,
	// with the last commit; Of names the moment. It returns refusal.FileLinked if the folder is
	// reached through a link.
	Changes(ctx context.Context, session uuid.UUID, since Since) (Changes, error)
	// Patch returns the changes of one file by its path. It returns refusal.Unchanged if Changes no
	// longer lists the file.
	Patch(ctx context.Context, session uuid.UUID, since Since, path string) (Patch, error)
}

// Changes are the changed files since a moment.
type Changes struct {
	Of     Since         // the moment compared with
	Root   string        // top folder of the repository
	Main   string        // top folder of its first work tree, if Root is another one
	Branch string        // empty: none is checked out
	Files  []ChangedFile // of the session's folder
	// Outside is the number of changed files outside the session's folder. They are not named.
	Outside int
	Cut     bool // there are more files
}

// Sum returns the number of files, and of their added and deleted lines.
func (c Changes) Sum() (files, added, deleted int) {
	for _, f := range c.Files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	return len(c.Files), added, deleted
}

// ChangedFile is a changed file.
type ChangedFile struct {
	Path    string     `json:"path"`           // from Root, with slashes
	From    string     `json:"from,omitempty"` // its earlier path, if renamed
	Kind    ChangeKind `json:"kind"`
	Added   int        `json:"added"` // lines
	Deleted int        `json:"deleted"`
	Binary  bool       `json:"binary,omitempty"` // no text, so no lines
	// TooLarge reports that its lines are not counted.
	TooLarge bool `json:"too_large,omitempty"`
	// Withheld reports that its content is not shown: it is a link, has several names, is ccbot's
	// own, or its name is not UTF-8. Path has U+FFFD for each foreign byte of that name.
	Withheld bool `json:"withheld,omitempty"`
}

// ChangeKind is the way a file has changed.
type ChangeKind string

// The ways in which a file changes.
const (
	Modified  ChangeKind = "modified"
	Added     ChangeKind = "added"
	Deleted   ChangeKind = "deleted"
	Renamed   ChangeKind = "renamed"
	Untracked ChangeKind = "untracked" // new, and not added to git
)

// Patch is the change of one file.
type Patch struct {
	All  Changes
	At   int    // index of the file in All.Files
	Text string // the hunks, in the unified format, without the header of the file
	Cut  bool   // there is more
}

// File returns the file of the patch; zero: another machine has not listed it.
func (p Patch) File() (f ChangedFile) {
	if p.At >= 0 && p.At < len(p.All.Files) {
		f = p.All.Files[p.At]
	}
	return f
}

// PatchLines returns the lines of a patch for a person, in the chat and in a terminal. After the
// first character of each line, invisible characters are shown as in glyph.Signs. A carriage return
// is not shown if all lines of the file end with one.
func PatchLines(patch string) []string {
	if patch == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(patch, "\n"), "\n")
	foreign := !slices.ContainsFunc(lines, func(line string) bool {
		return !strings.HasPrefix(line, "@@") && !strings.HasPrefix(line, `\`) && !strings.HasSuffix(line, "\r")
	})
	for i, line := range lines {
		if foreign || strings.HasPrefix(line, "@@") {
			line = strings.TrimSuffix(line, "\r")
		}
		mark := min(len(line), 1) // the character "+", "-" or " "
		lines[i] = line[:mark] + glyph.Signs(line[mark:])
	}
	return lines
}
