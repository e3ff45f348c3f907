package rollout

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/internal/ownfile"
)

// Files are the rollouts below a folder of Codex. It implements agent.Transcripts, agent.Replies,
// agent.Keeper, agent.Proof and package history.
type Files struct {
	*jsonl.Form
	Home string // CODEX_HOME
}

// New returns the rollouts below a folder.
func New(home string) Files {
	f := Files{form(), home}
	f.LimitEnd = f.limitEnd
	return f
}

// A rollout is sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl.
const (
	prefix = "rollout-"
	suffix = ".jsonl"
)

// Folder is <CODEX_HOME>/sessions.
func (f Files) Folder() string { return filepath.Join(f.Home, "sessions") }

// idOf returns the conversation in the name of a rollout, or "".
func idOf(path string) string {
	name, is := strings.CutSuffix(filepath.Base(path), suffix)
	if !is || !strings.HasPrefix(name, prefix) || len(name) < 36 {
		return ""
	}
	id, err := uuid.Parse(name[len(name)-36:])
	if err != nil || id.String() != name[len(name)-36:] {
		return ""
	}
	return id.String()
}

// Find looks in the folders of the days around the time in the id, because the path has the local
// day. If several rollouts have the id, it returns the one that was changed last.
func (f Files) Find(conversation uuid.UUID) (path string, err error) {
	none := fmt.Errorf("find rollout of %s: %w", conversation, fs.ErrNotExist)
	if conversation.Version() != 7 {
		return "", none // Codex makes no other ids
	}
	seconds, nanos := conversation.Time().UnixTime()
	var newest time.Time
	for _, days := range []int{-1, 0, 1} {
		day := time.Unix(seconds, nanos).UTC().AddDate(0, 0, days).Format("2006/01/02")
		entries, err := os.ReadDir(filepath.Join(f.Folder(), filepath.FromSlash(day)))
		if err != nil && !os.IsNotExist(err) {
			none = err
		}
		for _, e := range entries {
			info, err := e.Info()
			if idOf(e.Name()) == conversation.String() && err == nil && info.Mode().IsRegular() && info.ModTime().After(newest) {
				path, newest = filepath.Join(f.Folder(), filepath.FromSlash(day), e.Name()), info.ModTime()
			}
		}
	}
	if path == "" {
		return "", none
	}
	return path, nil
}

// All finds the one file that Find does.
func (f Files) All(conversation uuid.UUID) ([]string, error) {
	path, err := f.Find(conversation)
	return []string{path}, err
}

// Own accepts a rollout of the conversation below sessions.
func (f Files) Own(path string, conversation uuid.UUID) string {
	if !filepath.IsAbs(path) || idOf(path) != conversation.String() {
		return ""
	}
	folder, err := filepath.EvalSymlinks(f.Folder())
	if err != nil {
		return ""
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return ""
	}
	real := filepath.Join(dir, filepath.Base(path))
	below, err := filepath.Rel(folder, real)
	info, gone := os.Lstat(real)
	if err != nil || !filepath.IsLocal(below) || gone == nil && !info.Mode().IsRegular() {
		return ""
	}
	return real
}

// Sibling knows no other conversation's file: its name has the time at which it began.
func (Files) Sibling(path string, conversation uuid.UUID) string {
	if idOf(path) != conversation.String() {
		return ""
	}
	return path
}

// Conversation is the id in the file's name.
func (Files) Conversation(below string) string { return idOf(below) }

// FirstID is the id in the first line: a fork begins with its own.
func (Files) FirstID(path string) string {
	l, err := first(path)
	if err != nil {
		return ""
	}
	return l.Payload.ID
}

// headSize is more than a first line has before its longest part, the instructions.
const headSize = 16 << 10

// first reads the beginning of the first line. The instructions in it may be long, and are cut.
func first(path string) (l line, err error) {
	file, _, err := ownfile.Open(path, ownfile.Others)
	if err != nil {
		return l, err
	}
	defer file.Close()
	text, err := bufio.NewReaderSize(io.LimitReader(file, headSize), headSize).ReadSlice('\n')
	if at := bytes.Index(text, []byte(`,"base_instructions":`)); at >= 0 {
		text, err = append(bytes.Clone(text[:at]), "}}"...), nil
	}
	if err == nil {
		l, err = read(text)
	}
	if err == nil && l.Type != meta {
		err = fmt.Errorf("the first line of %s is no %s", filepath.Base(path), meta)
	}
	return l, err
}

// InFolder reads the first line of each rollout, the last changed first. Conversations of subagents
// are left out.
func (f Files) InFolder(ctx context.Context, dir string, see func(history.Conversation) bool) error {
	var all []history.Conversation
	err := filepath.WalkDir(f.Folder(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return ctx.Err() // what cannot be read has none
		}
		id := idOf(path)
		info, gone := d.Info()
		if id != "" && gone == nil && info.Mode().IsRegular() {
			all = append(all, history.Conversation{ID: uuid.MustParse(id), Path: path, Size: info.Size(), Changed: info.ModTime()})
		}
		return nil
	})
	slices.SortFunc(all, func(a, b history.Conversation) int { return b.Changed.Compare(a.Changed) })
	for _, c := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l, err := first(c.Path)
		if err == nil && l.Payload.Cwd == dir && l.isPersons() && !see(c) {
			return nil
		}
	}
	return err
}

// isPersons reports whether a first line is of a conversation that a person leads.
func (l line) isPersons() bool {
	var source string
	return (l.Payload.ThreadSource == "" || l.Payload.ThreadSource == "user") && json.Unmarshal(l.Payload.Source, &source) == nil
}

// Check finds no faults: Codex 0.169.0 resumes a file whose last line is cut, or ends in NULs, and
// begins a new line. A file without its first line has nothing to resume.
func (f Files) Check(conversation uuid.UUID) (agent.Health, error) {
	path, err := f.Find(conversation)
	if err != nil {
		return agent.Health{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return agent.Health{}, err
	}
	h := agent.Health{Path: path, Size: info.Size()}
	if _, err := first(path); err != nil {
		return h, fmt.Errorf("check rollout: %w: %w", agent.ErrNothingLeft, err)
	}
	return h, nil
}

// Repair is never asked for.
func (Files) Repair(agent.Health, uuid.UUID, uuid.UUID) (string, error) {
	return "", agent.ErrNothingLeft
}
