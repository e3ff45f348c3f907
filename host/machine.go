package host

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/host/outgoing"
	"ccbot/host/received"
	"ccbot/internal/each"
	"ccbot/internal/git"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/internal/wording"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// Machine is the machine that ccbot runs on. It implements the chat's ports.
type Machine struct {
	Home  string   // without links
	Roots []string // sessions work only below these, which have no links; none: anywhere

	Own      Own // ccbot's own files; none of them is ever sent
	Records  AllRecords
	Received *received.Store // files from the chat
	Ended    received.Ended
	Tickets  *Tickets
	Offers   *Offers

	Agents agent.Agents
	// Written reports which of some conversations processes write now, or may write.
	Written func(ctx context.Context, claude ...uuid.UUID) (map[uuid.UUID]bool, error)
	// Unread reports whether a record that was not loaded may be of a session in a folder: inside
	// reports whether a directory is in that folder. nil: all records were loaded.
	Unread  func(inside func(dir string) bool) bool
	GitEnv  []string      // git's whole environment, without secrets
	Folders *session.Gate // sessions that begin also pass it

	worktrees sync.Mutex // held while a work tree is made or removed
	looks     folderChecks
	// Folders of work trees that no record has yet, and the keys of their starts.
	given map[string]string
}

// Own names ccbot's own files.
type Own = outgoing.Own

// Records reads the existing sessions.
type Records interface {
	Get(id uuid.UUID) (session.Record, bool)
}

// reason is the system's text for a failure, without the path, which the reader knows already.
func reason(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return glyph.Name(err.Error())
}

// Bounds implements [folders.Places].
func (m *Machine) Bounds(string) (folders.Bounds, error) {
	return folders.Bounds{Home: m.Home, Roots: m.Roots}, nil
}

// Resolve implements [folders.Places].
func (m *Machine) Resolve(_ context.Context, base, path string) (dir string, err error) {
	switch base = cmp.Or(base, m.Home); {
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = filepath.Join(m.Home, path[1:])
	case strings.HasPrefix(path, "~"): // but ./~x is a folder of that name
		name, rest, _ := strings.Cut(path[1:], "/")
		other, err := user.Lookup(name)
		if err != nil {
			return path, &refusal.Error{Code: refusal.DirMissing, Dir: path, Err: wording.Errorf("unknown user %s", wording.Text(name))}
		}
		path = filepath.Join(other.HomeDir, rest)
	case !filepath.IsAbs(path):
		path = filepath.Join(base, path)
	}
	dir = WithoutLinks(filepath.Clean(path))
	if !folders.IsText(dir) {
		return dir, &refusal.Error{Code: refusal.DirNotText, Dir: dir}
	}
	if !InRoots(m.Roots, dir) {
		return dir, outside(dir)
	}
	return dir, nil
}

func outside(dir string) error {
	return &refusal.Error{Code: refusal.DirOutside, Dir: dir, Err: wording.Errorf("%s is outside of CCBOT_ROOTS", wording.Path(dir))}
}

// Make implements [folders.Places]. Inside the roots it follows no link that is made at this moment
// to lead out of them.
func (m *Machine) Make(_ context.Context, dir string) error {
	err := m.make(dir)
	if err == nil || refusal.Is(err, refusal.DirOutside) {
		return err
	}
	return &refusal.Error{Code: refusal.DirNoAccess, Dir: dir, Reason: reason(err), Err: err}
}

func (m *Machine) make(dir string) error {
	if len(m.Roots) == 0 {
		return os.MkdirAll(dir, 0o755)
	}
	for _, path := range m.Roots {
		rel, inside := within(path, WithoutLinks(dir))
		if !inside {
			continue
		}
		root, err := os.OpenRoot(path)
		if err != nil {
			return err
		}
		return errors.Join(root.MkdirAll(rel, 0o755), root.Close())
	}
	return outside(WithoutLinks(dir))
}

// InRoots reports whether sessions may be opened in dir: below one of the roots, which have no
// links in them; without roots anywhere. The links of dir are resolved as far as the path exists,
// so that none leads out.
func InRoots(roots []string, dir string) bool {
	real := WithoutLinks(dir)
	return len(roots) == 0 || slices.ContainsFunc(roots, func(root string) bool {
		_, inside := within(root, real)
		return inside
	})
}

// within reports whether a path is in a folder, and returns its relative path. Both must be without
// links.
func within(folder, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(folder, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// WithoutLinks is a path with its links resolved, as far as the path exists.
func WithoutLinks(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if parent := filepath.Dir(path); err != nil && parent != path {
		return filepath.Join(WithoutLinks(parent), filepath.Base(path))
	} else if err != nil {
		return path
	}
	return real
}

var (
	_ folders.Folders       = &Machine{}
	_ folders.Searches      = &Machine{}
	_ folders.Worktrees     = &Machine{}
	_ folders.Checkouts     = &Machine{}
	_ folders.WorktreeMaker = &Machine{}
)

// mostChildren bounds what is read of one folder.
const mostChildren = 20_000

// Children implements [folders.Folders].
func (m *Machine) Children(ctx context.Context, dir string, hidden bool) (names []string, more bool, err error) {
	dir, err = m.Resolve(ctx, "", dir)
	if err != nil {
		return nil, false, err
	}
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0) // a pipe would wait for a writer
	if err != nil {
		return nil, false, dirRefusal(dir, err)
	}
	defer f.Close()
	all, err := f.ReadDir(mostChildren)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, dirRefusal(dir, err)
	}
	for _, one := range all {
		if !hidden && strings.HasPrefix(one.Name(), ".") || !folders.IsText(one.Name()) {
			continue
		}
		is := one.IsDir()
		if one.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(dir, one.Name()))
			is = err == nil && info.IsDir()
		}
		if is {
			names = append(names, one.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
	})
	return names, len(all) == mostChildren, nil
}

// dirRefusal returns why a folder cannot be read.
func dirRefusal(dir string, err error) error {
	code := refusal.DirNoAccess
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = refusal.DirMissing
	case errors.Is(err, syscall.ENOTDIR):
		code = refusal.DirNotADir
	}
	return &refusal.Error{Code: code, Dir: dir, Reason: reason(err), Err: err}
}

// Conversations implements [folders.Folders].
func (m *Machine) Conversations(ctx context.Context, dir string, from, most int) (shown []folders.Conversation, more bool, err error) {
	dir, err = m.Resolve(ctx, "", dir)
	if err != nil {
		return nil, false, err
	}
	if _, err := os.Stat(filepath.Join(dir, ".")); err != nil {
		return nil, false, dirRefusal(dir, err)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Agents)) {
		by := m.Agents[name]
		if _, missing := agent.Program(by.Launch.Command); name != agent.Default && missing != nil {
			continue // nothing could continue them
		}
		some, err := conversationsOf(ctx, by, dir, from+most+1)
		if err != nil {
			return nil, false, err
		}
		for _, c := range some {
			c.Session, c.Had = m.has(c.AgentSessionID)
			if c.Product = by.Product; name != agent.Default {
				c.Agent = name
			}
			shown = append(shown, c)
		}
	}
	slices.SortStableFunc(shown, func(a, b folders.Conversation) int { return b.At.Compare(a.At) })
	shown = shown[min(from, len(shown)):]
	if more = len(shown) > most; more {
		shown = shown[:most]
	}
	ids := each.As(shown, func(c folders.Conversation) uuid.UUID { return c.AgentSessionID })
	if len(ids) == 0 {
		return shown, more, nil
	}
	written, err := m.Written(ctx, ids...)
	for i := range shown {
		shown[i].Written, shown[i].Unseen = err != nil || written[shown[i].AgentSessionID], err != nil
	}
	return shown, more, nil
}

// conversationsOf returns up to most conversations of an agent in a folder, the last written first.
func conversationsOf(ctx context.Context, by agent.Agent, dir string, most int) (all []folders.Conversation, err error) {
	err = by.Folders.InFolder(ctx, dir, func(c history.Conversation) bool {
		said := by.Proof.LastPrompt(ctx, c.Path)
		if said != "" { // otherwise it has nothing to resume
			all = append(all, folders.Conversation{AgentSessionID: c.ID, LastQuestion: said, Size: c.Size, At: c.Changed})
		}
		return len(all) < most
	})
	return all, err
}

// has is the session that has a conversation, an open one first, or, if none has it, one that had it
// before a /clear; nil: none.
func (m *Machine) has(conversation uuid.UUID) (id, had uuid.UUID) {
	for _, r := range m.Records.Shared() {
		switch {
		case r.AgentSessionID == conversation && (id == uuid.Nil || r.State.Live()):
			id = r.ID
		case slices.Contains(r.EarlierSessionIDs, conversation):
			had = r.ID
		}
	}
	if id != uuid.Nil {
		return id, uuid.Nil
	}
	return uuid.Nil, had
}

// worktreeTimeout is how long git may take to check a repository out.
const worktreeTimeout = 2 * time.Minute

// Add implements [folders.WorktreeMaker].
func (m *Machine) Add(ctx context.Context, dir, key string) (made string, err error) {
	return m.AddAt(ctx, dir, "", key)
}

// AddAt is Add for a commit; empty: the checked-out one.
func (m *Machine) AddAt(ctx context.Context, dir, commit, key string) (made string, err error) {
	dir, err = m.Resolve(ctx, "", dir)
	if err != nil {
		return "", err
	}
	m.worktrees.Lock()
	defer m.worktrees.Unlock()
	for _, r := range m.Records.Shared() {
		if key != "" && r.Origin == key && r.State != session.Failed {
			return r.Dir, nil
		}
	}
	asked, cancel := context.WithTimeout(ctx, worktreeTimeout)
	defer cancel()
	w, err := git.AddWorktree(asked, dir, commit, m.GitEnv, func(path string) error { return m.free(path, key) })
	switch {
	case err != nil && refusal.Is(err, refusal.DirOutside):
		return "", err
	case errors.Is(err, git.ErrNoCommit):
		return "", &refusal.Error{Code: refusal.NoCommit, Dir: dir, Err: err}
	case err != nil:
		return "", gitRefusal(ctx, dir, err)
	case w == nil:
		return "", &refusal.Error{Code: refusal.NoRepository, Dir: dir}
	}
	if m.given == nil {
		m.given = make(map[string]string)
	}
	m.given[w.Dir] = key
	return likeIn(w, dir), nil
}

// free reports whether a work tree may be at a path, for the start of a key.
func (m *Machine) free(path, key string) error {
	if !InRoots(m.Roots, path) {
		return outside(path)
	}
	of, given := m.given[path]
	if given && of != key || m.works(path, func(session.Record) bool { return true }) {
		return git.ErrTaken
	}
	return nil
}

// Done implements [folders.WorktreeMaker].
func (m *Machine) Done(_ context.Context, _, key string) error {
	m.worktrees.Lock()
	defer m.worktrees.Unlock()
	maps.DeleteFunc(m.given, func(_, of string) bool { return of == key })
	return nil
}

// likeIn returns the folder of a new work tree that corresponds to dir in the old one, or its top
// if there is no such folder.
func likeIn(w *git.Worktree, dir string) string {
	top := w.Of
	if in := git.TopOf(dir); in != "" {
		top = in
	}
	rel, inside := within(top, dir)
	if info, err := os.Stat(filepath.Join(w.Dir, rel)); inside && err == nil && info.IsDir() {
		return filepath.Join(w.Dir, rel)
	}
	return w.Dir
}

// works reports whether one of these sessions works in a folder, or below it.
func (m *Machine) works(folder string, which func(r session.Record) bool) bool {
	return slices.ContainsFunc(m.Records.Shared(), func(r session.Record) bool {
		_, began := within(folder, r.Dir)
		_, works := within(folder, r.Folder())
		return (began || works) && which(r)
	})
}

// unreadIn reports whether the session of an unread record may work in a folder, or below it.
func (m *Machine) unreadIn(folder string) bool {
	return m.Unread != nil && m.Unread(func(dir string) bool {
		_, inside := within(folder, dir)
		return inside
	})
}

// Find implements [folders.Worktrees].
func (m *Machine) Find(ctx context.Context, dir string) (found folders.Worktree, is bool, err error) {
	w, err := git.FindWorktree(dir)
	if err != nil || w == nil {
		return found, false, gitRefusal(ctx, dir, err)
	}
	asked, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	work, err := w.Work(asked, m.GitEnv)
	return folders.Worktree{Dir: w.Dir, Of: w.Of, Branch: w.Branch, Work: folders.Work(work)}, true, gitRefusal(ctx, dir, err)
}

// Checkouts implements [folders.Checkouts].
func (m *Machine) Checkouts(ctx context.Context, dir string) (all []folders.Checkout, err error) {
	if dir, err = m.Resolve(ctx, "", dir); err != nil {
		return nil, err
	}
	top := git.TopOf(dir)
	for _, c := range git.Checkouts(dir) {
		if InRoots(m.Roots, c.Dir) && folders.IsText(c.Dir) {
			all = append(all, folders.Checkout{Dir: c.Dir, Branch: c.Branch, Here: c.Dir == top})
		}
	}
	return all, nil
}

// Remove implements [folders.Worktrees].
func (m *Machine) Remove(ctx context.Context, dir string) error {
	m.worktrees.Lock()
	defer m.worktrees.Unlock()
	w, err := git.FindWorktree(dir)
	switch {
	case err != nil:
		return gitRefusal(ctx, dir, err)
	case w == nil || w.Dir != dir: // a link leads to another one, which was not asked about
		return &refusal.Error{Code: refusal.DirMissing, Dir: dir}
	}
	stays := &refusal.Error{Code: refusal.WrongState, Dir: dir}
	over, err := m.Folders.Vacate(w.Dir)
	if err != nil {
		return stays
	}
	defer over()
	_, given := m.given[w.Dir]
	if given || m.works(w.Dir, func(r session.Record) bool { return !r.State.HasEnded() }) || m.unreadIn(w.Dir) {
		return stays
	}
	asked, cancel := context.WithTimeout(ctx, worktreeTimeout)
	defer cancel()
	err = w.Remove(asked, m.GitEnv)
	if work, has := errors.AsType[git.ErrWork](err); has {
		return &refusal.Error{Code: refusal.HasWork, Dir: dir, Reason: string(work.Work), Err: err}
	}
	return gitRefusal(ctx, dir, err)
}
