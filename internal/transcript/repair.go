package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/internal/ownfile"
	"ccbot/internal/spool"
)

// Repair writes a copy of h.Path under the session id as, in the same folder, and leaves the
// original as it is. The copy has every whole line, in order, without NULs. A last line that only
// lacks its line break is included; a last line with NULs inside is not. The sessionId of each line
// becomes as, and so `--resume` takes the copy for a conversation with that id (seen with Claude
// Code 2.1.328, which also leaves other mentions alone when it forks). Data that Claude Code keeps
// elsewhere under the old id, such as checkpoints of code, stays there.
//
// The copy is on disk when Repair returns. It exists as a whole or not at all; a crash may leave a
// file .UUID.tmp, which Claude Code does not look at. fs.ErrExist: a transcript with the id as
// exists already. ErrNothingLeft: the file has no whole line of the conversation. A line of more
// than 64 MiB is an error, because it would not fit in memory and this package could not read it.
//
// Nothing is written outside the projects folder, wherever links in it lead.
func Repair(h Health, id, as uuid.UUID) (path string, err error) {
	if err := repair(h.Path, id, as); err != nil {
		return "", fmt.Errorf("repair transcript %s: %w", h.Path, err)
	}
	return filepath.Join(filepath.Dir(h.Path), as.String()+suffix), nil
}

func repair(path string, id, as uuid.UUID) error {
	if filepath.Base(path) != id.String()+suffix {
		return fmt.Errorf("not the transcript of %s", id)
	}
	dir := filepath.Dir(path)
	projects := filepath.Dir(dir)
	if _, err := files(projects, as); err == nil {
		return fmt.Errorf("%w: a transcript of %s", fs.ErrExist, as)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	source, _, err := ownfile.Open(path, ownfile.Links)
	if err != nil {
		return err
	}
	defer source.Close()
	root, err := os.OpenRoot(projects)
	if err != nil {
		return err
	}
	defer root.Close()
	folder, err := root.OpenRoot(filepath.Base(dir))
	if err != nil {
		return err
	}
	defer folder.Close()
	return create(folder, as.String()+suffix, func(w io.Writer) error { return copyWhole(w, source, id, as) })
}

// create makes a file that is either whole and on disk, or does not exist. Its temporary name is
// unique, and a hard link never replaces another file: so two calls that make the same name at the
// same time cannot mix.
func create(folder *os.Root, name string, fill func(io.Writer) error) (err error) {
	temp := "." + uuid.NewString() + ".tmp"
	file, err := folder.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Remove(temp)) }()
	if err = fill(file); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := folder.Link(temp, name); err != nil {
		return err
	}
	if err := spool.SyncFolder(folder.Open(".")); err != nil {
		return errors.Join(err, folder.Remove(name))
	}
	return nil
}

// copyWhole copies the whole lines of a transcript and gives them another session id.
func copyWhole(w io.Writer, r io.Reader, id, as uuid.UUID) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 256<<10), maxLine)
	in.Split(splitLine)
	out := bufio.NewWriterSize(w, 256<<10)
	spoken := false
	for in.Scan() {
		h, whole := readHeading(in.Bytes())
		if !whole {
			continue
		}
		spoken = spoken || h.spoken()
		rename(in.Bytes(), id, as)
		// A bufio.Writer keeps its error: Flush returns it.
		_, _ = out.Write(in.Bytes())
		_ = out.WriteByte('\n')
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("read its lines: %w", err)
	}
	if !spoken {
		return ErrNothingLeft
	}
	return out.Flush()
}

const lineBreaks = "\n\x00"

// splitLine is a bufio.SplitFunc for lines without their breaks. A NUL ends a line too, because a
// power cut may leave a whole line right behind a stretch of NULs. Such a stretch is skipped
// without being buffered, however long it is.
func splitLine(data []byte, atEOF bool) (advance int, line []byte, err error) {
	text := bytes.TrimLeft(data, lineBreaks)
	skipped := len(data) - len(text)
	if i := bytes.IndexAny(text, lineBreaks); i >= 0 {
		return skipped + i + 1, text[:i], nil
	}
	if atEOF && len(text) > 0 {
		return len(data), text, nil
	}
	return skipped, nil, nil
}

// rename replaces the line's own session id, in place, because ids have one length. The same key
// deeper inside may be the input of a tool call, and stays; inside a string the quotes around the
// key would be escaped.
func rename(line []byte, id, as uuid.UUID) {
	const key = `"sessionId":"`
	own := []byte(key + id.String() + `"`)
	for at := 0; ; {
		i := bytes.Index(line[at:], own)
		if i < 0 {
			return
		}
		at += i
		if depth(line[:at]) == 1 {
			copy(line[at+len(key):], as.String())
		}
		at += len(own)
	}
}

// depth is how many objects and arrays are open at the end of a piece of JSON.
func depth(text []byte) (open int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			open++
		case '}', ']':
			open--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return open
}
