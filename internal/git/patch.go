package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"ccbot/internal/lazyregexp"
)

const (
	// maxPatch limits the kept patch of a file.
	maxPatch = 1 << 20
	// maxCounted and maxCountedAll bound what is read of files that are not tracked.
	maxCounted    = 4 << 20
	maxCountedAll = 32 << 20
	// binaryWithin is the number of bytes in which git searches for a zero byte, which no text has.
	binaryWithin = 8000
)

// Patch are the hunks of a file, of those that Since has given; empty where no line has changed.
// cut says that there is more.
func (t *Tree) Patch(ctx context.Context, m Moment, c Change) (text string, cut bool, err error) {
	if c.Withheld || t.taken.untaken[c.Path] != 0 { // its content in the index is out of date
		return "", false, nil
	}
	if c.Status == Untracked {
		data, cut, err := t.content(c.Path, maxPatch)
		if err != nil { // it was removed, or may no longer be shown
			return "", false, nil
		}
		return allNew(data), cut, nil
	}
	tree, err := t.treeOf(ctx, m)
	if err != nil {
		return "", false, err
	}
	args := slices.Concat(comparing, []string{"-p", "--unified=3", "--inter-hunk-context=0", tree, "--", c.Path})
	if c.From != "" {
		args = append(args, c.From)
	}
	said := &start{limit: maxPatch}
	if err := t.reading(m).runWithInput(ctx, "", said, args...); err != nil {
		return "", false, err
	}
	return hunks(said.kept.String()), said.cut, nil
}

// hunkHead matches the line before a hunk, with its number of lines in the old and in the new file.
// Git omits a 1.
var hunkHead = lazyregexp.New(`^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// hunks is a patch without all that stands around its hunks.
func hunks(patch string) string {
	var kept strings.Builder
	before, after := 0, 0 // lines of the hunk that follow
	for line := range strings.Lines(patch) {
		switch head := hunkHead.FindStringSubmatch(line); {
		case before <= 0 && after <= 0 && head != nil:
			before, after = counted(head[1]), counted(head[2])
		case strings.HasPrefix(line, `\`) && kept.Len() > 0: // no line end at the end
		case before <= 0 && after <= 0:
			continue
		case strings.HasPrefix(line, "-"):
			before--
		case strings.HasPrefix(line, "+"):
			after--
		default:
			before, after = before-1, after-1
		}
		kept.WriteString(line)
	}
	return kept.String()
}

func counted(figure string) int {
	if figure == "" {
		return 1
	}
	n, _ := strconv.Atoi(figure)
	return n
}

// allNew is a text as one hunk of new lines.
func allNew(data []byte) string {
	if len(data) == 0 || isBinary(data) {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "@@ -0,0 +1,%d @@\n", lines(data))
	for line := range strings.Lines(string(data)) {
		text.WriteString("+" + line)
	}
	if data[len(data)-1] != '\n' {
		text.WriteString("\n\\ No newline at end of file\n")
	}
	return text.String()
}

func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), binaryWithin)], 0) >= 0 }

func lines(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// newFile counts the lines of an untracked file, unless it has more bytes than room.
func (t *Tree) newFile(path string, room *int64) Change {
	c := Change{Path: path, Status: Untracked}
	p, mode, ok := t.print(path)
	switch {
	case !ok:
		return c
	case mode.IsDir(): // a repository
		return c
	case mode.IsRegular() && p.Size > min(maxCounted, *room):
		c.TooLarge = true
		return c
	}
	*room -= p.Size
	data, cut, err := t.content(path, maxCounted)
	c.Withheld = err != nil && !errors.Is(err, fs.ErrNotExist)
	switch c.TooLarge, c.Binary = cut, !cut && isBinary(data); {
	case !c.TooLarge && !c.Binary:
		c.Added = lines(data)
	}
	return c
}

// content returns the beginning of a file of the tree's folder.
func (t *Tree) content(path string, most int64) (data []byte, cut bool, err error) {
	rel, inside := t.within(path)
	if !inside {
		return nil, false, fs.ErrPermission
	}
	f, info, err := t.files.Open(rel)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	data, err = io.ReadAll(io.NewSectionReader(f, 0, min(info.Size(), most)))
	return data, info.Size() > int64(len(data)), err
}
