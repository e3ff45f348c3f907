package show

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/port/folders"
)

// Changes are the files that have changed, in JSON.
type Changes struct {
	Since  string                `json:"since"` // session_start, or last_commit where the start is not known
	Root   string                `json:"root"`
	Branch string                `json:"branch,omitempty"`
	Files  []folders.ChangedFile `json:"files"`
	// Outside is the number of further files changed outside of the session's folder.
	Outside int  `json:"outside,omitempty"`
	Cut     bool `json:"cut,omitempty"` // there are more files
}

// Patch is the change of one file, in JSON.
type Patch struct {
	folders.ChangedFile
	Patch string `json:"patch"` // the hunks, in the unified format
	Cut   bool   `json:"cut,omitempty"`
}

// Changed prints the files that have changed since a session's start.
func Changed(ctx context.Context, out io.Writer, d folders.Diffs, session uuid.UUID, asJSON bool) error {
	all, err := d.Changes(ctx, session, folders.SessionStart)
	if err != nil {
		return err
	}
	c := Changes{Since: "session_start", Root: all.Root, Branch: all.Branch, Files: append([]folders.ChangedFile{}, all.Files...), Outside: all.Outside,
		Cut: all.Cut}
	if all.Of == folders.LastCommit {
		c.Since = "last_commit"
	}
	return terminal.Show(out, asJSON, c, func(p *terminal.Printer) {
		files, added, deleted := all.Sum()
		p.Line("%s changed since %s: +%d -%d", terminal.Several(files, "file"), sinceText[all.Of], added, deleted)
		for _, f := range c.Files {
			p.Line("  %s", fileText(f, "%-9s %s  %s"))
		}
		if c.Cut {
			p.Line("  (there are more)")
		}
		if c.Outside > 0 {
			p.Line("outside of the session's folder: %s, not shown", terminal.Several(c.Outside, "more file"))
		}
	})
}

// Hunks prints what has changed in one file; its path begins at the top folder of the repository.
func Hunks(ctx context.Context, out io.Writer, d folders.Diffs, session uuid.UUID, path string, asJSON bool) error {
	found, err := d.Patch(ctx, session, folders.SessionStart, filepath.ToSlash(path))
	if err != nil {
		return err
	}
	f := Patch{ChangedFile: found.File(), Patch: found.Text, Cut: found.Cut}
	return terminal.Show(out, asJSON, f, func(p *terminal.Printer) {
		p.Line("%s", fileText(f.ChangedFile, "%s  %s  %s"))
		if f.Patch != "" {
			p.Line("%s", strings.Join(folders.PatchLines(f.Patch), "\n"))
		}
		if f.Cut {
			p.Line("(there is more)")
		}
	})
}

var sinceText = map[folders.Since]string{folders.SessionStart: "the session's start", folders.LastCommit: "the last commit"}

// fileText returns the kind of a change, its lines and the name of its file.
func fileText(f folders.ChangedFile, format string) string {
	lines := fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
	switch {
	case f.Withheld:
		lines = "not shown"
	case f.Binary:
		lines = "binary"
	case f.TooLarge:
		lines = "too large"
	}
	return fmt.Sprintf(format, f.Kind, lines, terminal.Printable(terminal.Words("", f.From, " → ")+f.Path))
}
