package ledger

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/internal/logkey"
	"ccbot/internal/spool"
	"ccbot/internal/wording"
)

const (
	// Days is the number of days that the ledger reports.
	Days = 31
	kept = 40 * 24 * time.Hour

	indexName = "index"
	indexSize = 1 << 30 // at most; a hundred thousand answers are 14 MB
	version   = 1
)

// Ledger reads the transcripts of all agents. Its methods may be called concurrently.
type Ledger struct {
	// ReadOnly disables storing the counts, because another process stores them.
	ReadOnly bool

	agents agent.Agents
	folder spool.Folder
	now    func() time.Time
	log    *slog.Logger
	turn   chan struct{} // one reads at a time
}

// New returns the ledger of some agents. It stores its counts in dir.
func New(agents agent.Agents, dir string, now func() time.Time, log *slog.Logger) *Ledger {
	return &Ledger{agents: agents, folder: spool.Folder{Path: dir, MaxSize: indexSize}, now: now, log: log, turn: make(chan struct{}, 1)}
}

// Book holds all counts. Its fields are the file format.
type Book struct {
	Version int
	Since   time.Time // answers before it are not kept
	Models  []string
	Files   []*File // in no order

	unread map[string]error // by agent, of folders that cannot be read; "" is the default agent
}

// Unread returns the error of an agent whose folder could not be read: its new answers are missing.
// name is as in a record.
func (b *Book) Unread(name string) error { return b.unread[name] }

// File is one transcript.
type File struct {
	Agent    string `json:",omitempty"` // absent: the default agent
	Path     string // below the agent's folder
	Dev, Ino uint64
	Size     int64 // when it was last read
	Next     int64 // the offset of the line that is read next
	First    time.Time
	Dir      string // in which the agent last worked
	Answers  []Answer

	conversation string // empty if the agent is not known, or the file has no conversation
}

// Answer is one answer of the API in one file.
type Answer struct {
	ID     uint64
	Model  int // in Book.Models
	At     int64
	Copied bool // its line says that another conversation has asked
	history.Tokens
}

// Session returns the conversation that the file belongs to; for a subagent's file, its session.
func (f *File) Session() string { return f.conversation }

// Each calls do once per answer: for a file of the conversation that has asked, otherwise for the
// file that was seen first.
func (b *Book) Each(do func(f *File, model string, a Answer)) {
	files := slices.SortedFunc(slices.Values(b.Files), func(x, y *File) int {
		return cmp.Or(x.First.Compare(y.First), cmp.Compare(x.Path, y.Path))
	})
	type one struct { // each agent has its own ids
		agent string
		id    uint64
	}
	seen := make(map[one]bool)
	for _, copied := range []bool{false, true} {
		for _, f := range files {
			for _, a := range f.Answers {
				if is := (one{f.Agent, a.ID}); a.Copied == copied && !seen[is] && f.conversation != "" {
					seen[is] = true
					do(f, b.Models[a.Model], a)
				}
			}
		}
	}
}

// Read updates the book, newest files first, and returns it. left is the number of files not read
// to their end, because ctx ended or they are unreadable; the next call continues there. The folder
// of an agent that cannot be read counts as one file. The error is ctx's error if it ended before
// the first file, or the error of the folders if none can be read.
func (l *Ledger) Read(ctx context.Context) (b *Book, left int, err error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	found, unread := l.find()
	if len(unread) == len(l.agents) {
		return nil, 0, errors.Join(slices.Collect(maps.Values(unread))...)
	}
	b, err = l.load()
	if err != nil {
		return nil, 0, err
	}
	b.unread, left = unread, len(unread)
	r := reading{Ledger: l, Book: b, files: make(map[name]*File)}
	for _, f := range r.Files {
		r.files[f.name()] = f
	}
	for _, is := range found {
		if ctx.Err() == nil {
			r.file(ctx, is)
		}
		if f := r.files[is.name]; f == nil || f.Size != is.info.Size() {
			left++
		}
	}
	r.keep(found)
	return r.Book, left, nil
}

// name names a file of the book.
type name struct{ agent, path string }

func (f *File) name() name { return name{f.Agent, f.Path} }

// at is a transcript that is there.
type at struct {
	name
	info fs.FileInfo
}

// find returns all transcripts, the ones written last first, and the errors of agents.
func (l *Ledger) find() (all []at, unread map[string]error) {
	unread = make(map[string]error)
	for name, by := range l.agents {
		if name == agent.Default {
			name = ""
		}
		of, err := l.findOf(name, by.Usage)
		if err != nil {
			unread[name] = err
			l.log.Debug("usage_folder_unreadable", logkey.Path, wording.Path(by.Usage.Folder()), logkey.Error, err)
		}
		all = append(all, of...)
	}
	slices.SortFunc(all, func(x, y at) int {
		return cmp.Or(y.info.ModTime().Compare(x.info.ModTime()), cmp.Compare(x.path, y.path), cmp.Compare(x.agent, y.agent))
	})
	return all, unread
}

// findOf returns the transcripts of one agent.
func (l *Ledger) findOf(by string, usage history.Usage) (all []at, err error) {
	root, err := filepath.EvalSymlinks(usage.Folder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no transcript yet
	}
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == root {
				return err
			}
			l.log.Debug("usage_folder_unreadable", logkey.Path, wording.Path(path), logkey.Error, err)
			return nil
		}
		below, _ := filepath.Rel(root, path) // it is below
		if !d.Type().IsRegular() || usage.Conversation(below) == "" {
			return nil
		}
		if info, err := d.Info(); err == nil { // otherwise it was removed
			all = append(all, at{name{by, below}, info})
		}
		return nil
	})
	return all, err
}

// reading is one call of Read.
type reading struct {
	*Ledger
	*Book
	files   map[name]*File
	changed bool
}

// file reads what is new in a file.
func (r *reading) file(ctx context.Context, is at) {
	dev, ino := identity(is.info)
	f := r.files[is.name]
	if f != nil && f.Dev == dev && f.Ino == ino && f.Size == is.info.Size() {
		return
	}
	r.changed = true
	if f == nil {
		f = &File{Agent: is.agent, Path: is.path, First: is.info.ModTime()}
		f.conversation = r.agents.Of(is.agent).Usage.Conversation(is.path)
		r.files[is.name] = f
	}
	if f.Dev != dev || f.Ino != ino || is.info.Size() < f.Next {
		f.restart(dev, ino)
	}
	err := r.on(ctx, f)
	if errors.Is(err, history.ErrTruncated) {
		f.restart(dev, ino)
		err = r.on(ctx, f)
	}
	if f.Size = is.info.Size(); err != nil {
		f.Size = -1 // forces a new read
		r.log.Debug("usage_file_unread", logkey.Path, wording.Path(is.path), logkey.Error, err)
	}
}

func (f *File) restart(dev, ino uint64) { f.Dev, f.Ino, f.Next, f.Answers = dev, ino, 0, nil }

// on reads on in a file.
func (r *reading) on(ctx context.Context, f *File) (err error) {
	seen := make(map[uint64]bool, len(f.Answers))
	for _, a := range f.Answers {
		seen[a.ID] = true
	}
	usage := r.agents.Of(f.Agent).Usage
	f.Next, err = usage.Answers(ctx, filepath.Join(usage.Folder(), f.Path), f.Next, func(a history.Answer) {
		f.Dir = cmp.Or(a.Dir, f.Dir)
		id := digest(a.ID)
		if seen[id] || a.At.Before(r.Since) {
			return
		}
		seen[id] = true
		f.Answers = append(f.Answers, Answer{ID: id, Model: r.model(a.Model), At: a.At.Unix(),
			Copied: a.Session != "" && a.Session != f.Session(), Tokens: a.Tokens})
	})
	return err
}

func (r *reading) model(name string) int {
	i := slices.Index(r.Models, name)
	if i < 0 {
		i, r.Models = len(r.Models), append(r.Models, name)
	}
	return i
}

// keep writes the book where something is new. A disk that refuses costs only the next reading.
func (r *reading) keep(found []at) {
	there := make(map[name]bool, len(found))
	for _, f := range found {
		there[f.name] = true
	}
	maps.DeleteFunc(r.files, func(n name, f *File) bool { return !there[n] && len(f.Answers) == 0 })
	r.changed = r.changed || len(r.files) != len(r.Files)
	r.Files = slices.Collect(maps.Values(r.files))
	if !r.changed || r.ReadOnly {
		return
	}
	data, err := json.Marshal(r.Book)
	if err == nil {
		err = r.folder.Put(indexName, data)
	}
	if err != nil {
		r.log.Warn("usage_index_not_saved", logkey.Error, err)
	}
}

// load returns the stored book. An unreadable book is replaced by a new one, as is a book that
// omits answers needed now because the clock was set back.
func (l *Ledger) load() (*Book, error) {
	b := new(Book)
	data, err := l.folder.Read(indexName)
	if spool.MayPass(err) { // the transcripts that it was counted from may be gone
		return nil, fmt.Errorf("read what was counted: %w", err)
	}
	if err == nil {
		err = json.Unmarshal(data, b)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.log.Warn("usage_index_unreadable", logkey.Error, err)
	}
	since := l.now().Add(-kept)
	if err != nil || b.Version != version || b.Since.After(l.now().AddDate(0, 0, -Days)) {
		return &Book{Version: version, Since: since}, nil
	}
	if b.Since.Before(since) {
		b.Since = since
	}
	for _, f := range b.Files {
		if usage := l.agents.Of(f.Agent).Usage; usage != nil {
			f.conversation = usage.Conversation(f.Path)
		}
		f.Answers = slices.DeleteFunc(f.Answers, func(a Answer) bool { return a.At < b.Since.Unix() || a.Model >= len(b.Models) })
	}
	return b, nil
}

// digest is short for the ids of an answer: of a million answers two are taken for one with a
// chance of one to forty million.
func digest(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // it never fails
	return h.Sum64()
}

// identity tells a file from another one of the same name.
func identity(info fs.FileInfo) (dev, ino uint64) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev), stat.Ino //nolint:unconvert // it has another type on macOS
	}
	return 0, 0
}
