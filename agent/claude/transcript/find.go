package transcript

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf16"

	"github.com/google/uuid"

	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/internal/lazyregexp"
)

// Find returns the transcript of a session below projectsDir (<config>/projects). When several
// folders hold one, which happens after a session was moved by hand, it returns the one that was
// changed last. If there is none the error is fs.ErrNotExist; a folder that cannot be read is
// another error. The folder cannot be derived from the working directory: a session that is resumed
// elsewhere continues in the folder where it began.
func Find(projectsDir string, sessionID uuid.UUID) (path string, err error) {
	all, err := files(projectsDir, sessionID)
	if err != nil {
		return "", fmt.Errorf("find transcript of %s: %w", sessionID, err)
	}
	newest := slices.MaxFunc(all, func(a, b file) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	return newest.path, nil
}

// All returns all files with a session's id, at least one. The error is as that of Find.
func All(projectsDir string, sessionID uuid.UUID) (paths []string, err error) {
	all, err := files(projectsDir, sessionID)
	for i, f := range all {
		if !slices.ContainsFunc(all[:i], func(other file) bool { return os.SameFile(other.info, f.info) }) { // not through a link
			paths = append(paths, f.path)
		}
	}
	return paths, err
}

// file is a transcript's file with links followed.
type file struct {
	path string
	info fs.FileInfo
}

// files returns all files with a session's id, at least one, in the order of their folders' names.
// The error is fs.ErrNotExist only if every folder could be read and none holds such a file.
func files(projectsDir string, sessionID uuid.UUID) ([]file, error) {
	dirs, err := os.ReadDir(projectsDir)
	if err != nil {
		return nil, err
	}
	var all []file
	none := fs.ErrNotExist
	for _, d := range dirs {
		path := filepath.Join(projectsDir, d.Name(), sessionID.String()+suffix)
		info, err := os.Stat(path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				none = err
			}
			continue
		}
		if _, own := jsonl.RealPath(path); own && info.Mode().IsRegular() {
			all = append(all, file{path, info})
		}
	}
	if len(all) == 0 {
		return nil, none
	}
	return all, nil
}

const suffix = ".jsonl"

// Own checks the path that a client gives for a session's transcript: <id>.jsonl in a folder of
// projectsDir. It returns the path with links followed, or "" for any other path. The file may not
// exist yet, nor may its folder.
func Own(projectsDir, path string, sessionID uuid.UUID) string {
	if !filepath.IsAbs(path) || filepath.Base(path) != sessionID.String()+suffix {
		return ""
	}
	projects, err := resolve(projectsDir)
	if err != nil {
		return ""
	}
	real, err := resolve(path)
	if err != nil || filepath.Base(real) != sessionID.String()+suffix || filepath.Dir(filepath.Dir(real)) != projects {
		return ""
	}
	return real
}

// resolve follows the links of a path as far as it exists. A link to a missing target is an error,
// because it is unknown where a file made through it would be.
func resolve(path string) (string, error) {
	path = filepath.Clean(path)
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
		return real, err
	}
	if _, found := os.Lstat(path); found == nil {
		return "", err
	}
	above, err := resolve(filepath.Dir(path))
	return filepath.Join(above, filepath.Base(path)), err
}

// InFolder calls see with the conversations that began in dir, which must have no links, last
// written first, until see returns false or ctx ends.
func InFolder(ctx context.Context, projectsDir, dir string, see func(history.Conversation) bool) error {
	place := filepath.Join(projectsDir, placeOf(dir))
	entries, err := os.ReadDir(place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var all []history.Conversation
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), suffix)
		id, err := uuid.Parse(name)
		info, gone := e.Info()
		if is && err == nil && gone == nil && info.Mode().IsRegular() && id.String() == name {
			all = append(all, history.Conversation{ID: id, Path: filepath.Join(place, e.Name()), Size: info.Size(), Changed: info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b history.Conversation) int { return b.Changed.Compare(a.Changed) })
	for _, c := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if isFrom(c.Path, dir) && !see(c) { // other folders have the same place
			return nil
		}
	}
	return nil
}

// placeOf returns Claude Code's name for the folder of the transcripts of a working directory.
func placeOf(dir string) string {
	return notInPlace.ReplaceAllStringFunc(dir, func(one string) string {
		return strings.Repeat("-", len(utf16.Encode([]rune(one))))
	})
}

var notInPlace = lazyregexp.New(`[^A-Za-z0-9]`)

// beginning is the number of bytes of a transcript that are read for its first folder.
const beginning = 256 << 10

// isFrom reports whether a conversation began in a folder, as far as its first lines say.
func isFrom(path, dir string) (is bool) {
	_ = jsonl.Noted(path, func() error {
		is = began(path, dir)
		return nil
	})
	return is
}

func began(path, dir string) bool {
	f, _, err := jsonl.OpenFile(path)
	if err != nil {
		return false
	}
	defer f.Close()
	lines := bufio.NewReader(io.LimitReader(f, beginning))
	for {
		line, err := lines.ReadBytes('\n')
		var says struct {
			Cwd string `json:"cwd"`
		}
		if bytes.Contains(line, []byte(`"cwd"`)) && json.Unmarshal(line, &says) == nil && says.Cwd != "" {
			return says.Cwd == dir
		}
		if err != nil {
			return true
		}
	}
}
