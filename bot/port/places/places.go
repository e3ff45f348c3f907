package places

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Places are the folders of the agent's machine that sessions work in.
type Places interface {
	// Bounds says where sessions may work. It does not wait, and its answer never changes.
	Bounds() Bounds
	// Resolve gives the folder that a path names: "~" is the home folder, "~user" that of
	// another user, who must be known (refusal.DirMissing); a relative path begins at
	// base, an empty path is base, and an empty base is the home folder. Links are resolved as far
	// as the path exists. Where no session may work, it refuses with refusal.DirOutside.
	Resolve(ctx context.Context, base, path string) (dir string, err error)
	// Make makes a folder, and those above it. What cannot be made is a *refusal.Error.
	Make(ctx context.Context, dir string) error
}

// Bounds are where sessions may work.
type Bounds struct {
	Home  string   // where a session works when nobody says where; without links
	Roots []string // sessions work below these only, which have no links; none: anywhere
}

// Folders are looked into. Each call resolves the folder first, and refuses as Resolve does.
type Folders interface {
	// Children are the names of the folders in a folder, in the order of the alphabet; a link to a
	// folder is one. hidden: those whose name begins with a dot are among them.
	Children(ctx context.Context, dir string, hidden bool) (names []string, err error)
	// Conversations are those that Claude Code has of a folder, last written first: at most so many, from
	// the given one on. more: there are others behind them.
	Conversations(ctx context.Context, dir string, from, most int) (all []Conversation, more bool, err error)
}

// Conversation is one with Claude Code, whoever has led it.
type Conversation struct {
	Claude  uuid.UUID // Claude's id of it
	Session uuid.UUID // that has it; nil: none
	Said    string    // what a person asked last
	Size    int64     // of its file, in bytes
	At      time.Time // when something was last written
	Written bool      // by a process now, or perhaps
	Unseen  bool      // it cannot be seen who writes it
}

// Worktrees are git's work trees beside a repository's first one, as far as ccbot has made them.
type Worktrees interface {
	// Find gives the one that a folder is in; not found without an error: it is in none. With an error it may be found,
	// and its work is not known.
	Find(ctx context.Context, dir string) (w Worktree, found bool, err error)
	// Remove takes one away. refusal.HasWork, with the kind as its Reason, where there is work in it;
	// refusal.WrongState while an open session works or begins there; refusal.DirMissing where there is none.
	Remove(ctx context.Context, dir string) error
}

// Beside gives work trees to sessions that are about to start.
type Beside interface {
	// Add makes one for the repository of a folder, and gives the folder in it that is like the given one. One that was
	// made before and that nobody uses is taken instead. key is that of the start: another one is given another work tree,
	// the same one the same, also when its session has begun. refusal.NoRepository, and refusal.NoCommit where
	// nothing can be checked out yet.
	Add(ctx context.Context, dir, key string) (made string, err error)
	// Done says that the start of a key is over: a session works in what it was given, or that is free again.
	Done(key string)
}

// Lookups look up a single fact about a folder.
type Lookups interface {
	// IsMissing reports whether a folder of a session is known not to exist.
	IsMissing(ctx context.Context, dir string) bool
	// HasCommand reports whether an agent that works in a folder has a slash command of a name.
	HasCommand(ctx context.Context, dir, name string) bool
}

// Worktree is a work tree that ccbot has made.
type Worktree struct {
	Dir    string // its top folder
	Of     string // that of the repository
	Branch string // that was made with it
	Work   Work
}

// Work is what keeps a work tree from being removed; empty: nothing.
type Work string

// The kinds of work. Files that git is told to ignore are none.
const (
	Uncommitted Work = "uncommitted" // something is changed or untracked
	Unmerged    Work = "unmerged"    // commits that nothing else has
	Unfinished  Work = "unfinished"  // a merge or a rebase has begun
	Stashed     Work = "stashed"     // a stash that may be of it
)
