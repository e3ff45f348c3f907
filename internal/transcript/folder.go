package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/google/uuid"
)

// Conversation is the transcript of a conversation that began in a folder.
type Conversation struct {
	ID      uuid.UUID
	Path    string
	Size    int64     // in bytes
	Changed time.Time // when something was last written
}

// InFolder gives the conversations whose transcripts lie where Claude Code puts those of a folder, which
// must have no links, last written first. Other folders have the same place: see Began.
func InFolder(projectsDir, dir string) ([]Conversation, error) {
	place := filepath.Join(projectsDir, placeOf(dir))
	entries, err := os.ReadDir(place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Conversation
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), suffix)
		id, err := uuid.Parse(name)
		info, gone := e.Info()
		if is && err == nil && gone == nil && info.Mode().IsRegular() && id.String() == name {
			all = append(all, Conversation{ID: id, Path: filepath.Join(place, e.Name()), Size: info.Size(), Changed: info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b Conversation) int { return b.Changed.Compare(a.Changed) })
	return all, nil
}

// placeOf is the name that Claude Code gives the folder of the transcripts of a working directory.
func placeOf(dir string) string {
	return notInPlace.ReplaceAllStringFunc(dir, func(one string) string {
		return strings.Repeat("-", len(utf16.Encode([]rune(one))))
	})
}

var notInPlace = regexp.MustCompile(`[^A-Za-z0-9]`)

// beginning is how much of a transcript is read for its first folder.
const beginning = 256 << 10

// Began reports whether a conversation began in a folder, as far as its first lines say.
func (c Conversation) Began(dir string) bool {
	f, err := os.Open(c.Path)
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

// Said is what a person asked last in a conversation; empty: nothing, or that stands too far back.
func (c Conversation) Said() (string, error) { return LastPrompt(Cursor{Path: c.Path, Offset: c.Size}) }
