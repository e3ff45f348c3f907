package show

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/bot/port/diffs"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/each"
)

// Changes are the files that have changed, in JSON.
type Changes struct {
	Since  string `json:"since"` // session_start, or last_commit where the start is not known
	Root   string `json:"root"`
	Branch string `json:"branch,omitempty"`
	Files  []File `json:"files"`
	Cut    bool   `json:"cut,omitempty"` // there are more files
}

// File is a file that has changed, in JSON.
type File struct {
	Path    string     `json:"path"`
	From    string     `json:"from,omitempty"` // its earlier path
	Kind    diffs.Kind `json:"kind"`
	Added   int        `json:"added"`
	Deleted int        `json:"deleted"`
	Binary  bool       `json:"binary,omitempty"`
}

// Patch is what has changed in one file, in JSON.
type Patch struct {
	File
	Patch string `json:"patch"` // the hunks, in the unified format
	Cut   bool   `json:"cut,omitempty"`
}

// Changed prints the files that have changed since a session's start.
func Changed(ctx context.Context, out io.Writer, d diffs.Diffs, session uuid.UUID, asJSON bool) error {
	all, err := d.Changes(ctx, session, diffs.SessionStart)
	if err != nil {
		return err
	}
	c := Changes{Since: "session_start", Root: all.Root, Branch: all.Branch, Files: []File{}, Cut: all.Cut}
	if all.Of == diffs.LastCommit {
		c.Since = "last_commit"
	}
	c.Files = append(c.Files, each.As(all.Files, func(f diffs.File) File { return File(f) })...)
	return terminal.Show(out, asJSON, c, func(p *terminal.Printer) {
		files, added, deleted := all.Sum()
		p.Line("%s changed since %s: +%d -%d", terminal.Several(files, "file"), sinceText[all.Of], added, deleted)
		for _, f := range c.Files {
			p.Line("  %-9s %s  %s", f.Kind, f.lines(), terminal.Printable(f.name()))
		}
		if c.Cut {
			p.Line("  (there are more)")
		}
	})
}

// Hunks prints what has changed in one file; its path begins at the top folder of the repository.
func Hunks(ctx context.Context, out io.Writer, d diffs.Diffs, session uuid.UUID, path string, asJSON bool) error {
	found, err := d.Patch(ctx, session, diffs.SessionStart, filepath.ToSlash(path))
	if err != nil {
		return err
	}
	f := Patch{File: File(found.File()), Patch: found.Text, Cut: found.Cut}
	return terminal.Show(out, asJSON, f, func(p *terminal.Printer) {
		p.Line("%s  %s  %s", f.Kind, f.lines(), terminal.Printable(f.name()))
		if f.Patch != "" {
			p.Line("%s", terminal.Text(f.Patch))
		}
		if f.Cut {
			p.Line("(there is more)")
		}
	})
}

var sinceText = map[diffs.Since]string{diffs.SessionStart: "the session's start", diffs.LastCommit: "the last commit"}

func (f File) lines() string {
	if f.Binary {
		return "binary"
	}
	return fmt.Sprintf("+%d -%d", f.Added, f.Deleted)
}

func (f File) name() string {
	if f.From != "" {
		return f.From + " → " + f.Path
	}
	return f.Path
}
