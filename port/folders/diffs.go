// Package diffs is how the chat sees what an agent has changed in the repository of its session's
// folder: what git says of the work tree, compared with an earlier moment.
//
// Nothing in the person's repository is changed by a question, and nothing that the repository names
// is run.
package folders

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/glyph"
)

// Since names the moment with which the work tree is compared: what Mark gave, or one of these.
type Since string

const (
	SessionStart Since = ""            // the commit at the session's start
	LastCommit   Since = "last-commit" // where no earlier moment is known
)

// Diffs reads the changes of sessions. It may take seconds. Errors: a *refusal.Error, that of the
// context, or one for the log.
type Diffs interface {
	// Mark remembers the work tree as it is now, until the session is archived, many newer moments are
	// remembered, or all of them are too large. refusal.NoRepository: there is no git to ask.
	Mark(ctx context.Context, session uuid.UUID) (Since, error)
	// Changes are the files of the session's folder that have changed since a moment, in the order of
	// their names, committed since or not. refusal.FileLinked: the folder is reached through a link. Where that moment is not known any more, it is the session's start, or the last commit where
	// that is not known either; Of says so.
	Changes(ctx context.Context, session uuid.UUID, since Since) (Changes, error)
	// Patch is what has changed in one of the files that Changes gives now, by its path. refusal.Unchanged: it is none of
	// them any more.
	Patch(ctx context.Context, session uuid.UUID, since Since, path string) (Patch, error)
}

// Changes are the files that have changed since a moment.
type Changes struct {
	Of     Since         // the moment that was compared with
	Root   string        // top folder of the repository
	Main   string        // that of the repository's first work tree, where Root is another one
	Branch string        // empty: none is checked out
	Files  []ChangedFile // of the session's folder
	// Outside is how many more files have changed in the repository, outside of the session's folder. They are not named.
	Outside int
	Cut     bool // there are more files
}

// Sum counts the files, and their lines.
func (c Changes) Sum() (files, added, deleted int) {
	for _, f := range c.Files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	return len(c.Files), added, deleted
}

// ChangedFile is a file that has changed.
type ChangedFile struct {
	Path    string     `json:"path"`           // from Root, with slashes
	From    string     `json:"from,omitempty"` // its earlier path, where it was renamed
	Kind    ChangeKind `json:"kind"`
	Added   int        `json:"added"` // lines
	Deleted int        `json:"deleted"`
	Binary  bool       `json:"binary,omitempty"` // it has no lines
	// TooLarge reports that the lines of the file are not counted.
	TooLarge bool `json:"too_large,omitempty"`
	// Withheld says that its content is not shown: it is a link, has several names, or is ccbot's own.
	Withheld bool `json:"withheld,omitempty"`
}

// ChangeKind says how a file has changed.
type ChangeKind string

// The ways in which a file changes.
const (
	Modified  ChangeKind = "modified"
	Added     ChangeKind = "added"
	Deleted   ChangeKind = "deleted"
	Renamed   ChangeKind = "renamed"
	Untracked ChangeKind = "untracked" // it is new, and git was not told of it
)

// Patch is what has changed in one file.
type Patch struct {
	All  Changes
	At   int    // the file among All
	Text string // the hunks, in the unified format, without the header of the file
	Cut  bool   // there is more
}

// File is the file whose patch it is.
func (p Patch) File() ChangedFile { return p.All.Files[p.At] }

// PatchLines returns the lines of a patch as a person reads them, in the chat and in a terminal: the rest of a line after its
// first character has the signs of glyph.Signs. A carriage return at the end of each line of a file has no sign.
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
		mark := min(len(line), 1) // "+", "-" or " "
		lines[i] = line[:mark] + glyph.Signs(line[mark:])
	}
	return lines
}
