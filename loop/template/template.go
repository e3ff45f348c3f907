package template

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"ccbot/internal/git"
	"ccbot/internal/glyph"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/ownfile"
	"ccbot/port"
)

const (
	suffix = ".toml"
	// maxShown limits a template as it is shown, in UTF-16 units: one message has all of it.
	maxShown = 3000
	// maxBytes limits the file.
	maxBytes = 12_000
	// maxTemplates limits the templates of a folder, and maxEntries the files that are read of it.
	maxTemplates = 50
	maxEntries   = 1000
)

// nameForm is the form of a template's name, without the suffix.
var nameForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// Source reads templates.
type Source struct {
	Own string // the folder of a person's templates
}

// Templates returns the templates for a session in a folder, ordered by name. The repository's ones
// are not Known. A folder that cannot be read has none.
func (s Source) Templates(dir string, now time.Time) []port.LoopTemplate {
	top := cmp.Or(git.TopOf(dir), dir)
	repo := cmp.Or(git.MainOf(dir), top)
	all := read(s.Own, "", now)
	for _, one := range read(filepath.Join(top, ".ccbot", "loops"), repo, now) {
		if !slices.ContainsFunc(all, func(own port.LoopTemplate) bool { return own.Name == one.Name }) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b port.LoopTemplate) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// WithKnown returns templates with those as Known whose text the newest loop from them had. loops
// are all loops, the newest last.
func WithKnown(all []port.LoopTemplate, loops []port.Loop) []port.LoopTemplate {
	all = slices.Clone(all)
	for i := range all {
		of := all[i].LoopSource
		for _, l := range loops {
			if t := l.Template; t != nil && t.Name == of.Name && t.Repo == of.Repo {
				all[i].Known = all[i].Known && of.Repo == "" || *t == of
			}
		}
	}
	return all
}

// read reads the templates of a folder.
func read(dir, repo string, now time.Time) (all []port.LoopTemplate) {
	if repo != "" && !isFolder(filepath.Dir(dir)) || !isFolder(dir) {
		return nil
	}
	folder, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(maxEntries) // what was read counts
	slices.Sort(names)
	for _, file := range names {
		name, is := strings.CutSuffix(file, suffix)
		if !is || !nameForm.MatchString(name) || len(all) == maxTemplates {
			continue
		}
		t := port.LoopTemplate{LoopSource: port.LoopSource{Name: name, Repo: repo}, Known: repo == ""}
		if err := load(&t, filepath.Join(dir, file), now); err != nil {
			t.Fault = err.Error()
		}
		all = append(all, t)
	}
	return all
}

// isFolder reports whether a path is a folder, and no link to one.
func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// Errors of a file.
var (
	errTooLong = errors.New("it is too long to be shown in one message")
	errControl = errors.New("it has a control character")
)

// load reads one file. A file that is refused leaves no request.
func load(t *port.LoopTemplate, path string, now time.Time) error {
	data, err := ownfile.Read(path, maxBytes, 0)
	switch {
	case errors.Is(err, ownfile.ErrTooBig):
		return errTooLong
	case err != nil:
		if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
			err = inner.Err // the reader knows the path
		}
		return fmt.Errorf("it cannot be read: %w", err)
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n") // as Windows writes it
	if err := readable(text); err != nil {
		return err
	}
	t.Text = text
	sum := sha256.Sum256(data)
	t.Digest = hex.EncodeToString(sum[:])
	q, err := parse(text, now)
	if err != nil {
		return err
	}
	if shown(text)+shown(q.Check) > maxShown { // the check is shown once more, as it will run
		return errTooLong
	}
	source := t.LoopSource
	q.Template = &source
	t.Wanted = q
	return nil
}

// readable returns why a person could not see all of a text.
func readable(text string) error {
	switch {
	case strings.ToValidUTF8(text, "") != text:
		return errors.New("it is no UTF-8")
	case hasControl(text):
		return fmt.Errorf("%w, %U", errControl, first(text, isControl))
	case shown(text) > maxShown:
		return errTooLong
	}
	return nil
}

// shown is the length of a text as a message has it, in UTF-16 units.
func shown(text string) int { return len(utf16.Encode([]rune(glyph.LeftToRight(glyph.Block(text))))) }

func hasControl(text string) bool { return strings.ContainsFunc(text, isControl) }

// first returns the first letter of a text that is one of those.
func first(text string, is func(rune) bool) rune {
	r, _ := utf8.DecodeRuneInString(text[strings.IndexFunc(text, is):])
	return r
}

func isControl(r rune) bool { return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) }
