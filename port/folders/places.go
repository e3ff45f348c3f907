package folders

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

// Searches find folders that were perhaps never used.
type Searches interface {
	// Search finds the folders below the roots, without roots below the home folder, that have a part in their name,
	// whatever the case of its letters. A part with a slash is compared with the path below the root. Git repositories come first,
	// then what is nearer to its root. Links are not followed; hidden folders and those of dependencies, such as
	// node_modules, are left out. It reads folders until ctx ends, and returns what it has found until then.
	Search(ctx context.Context, part string, most Extent) Found
}

// Extent bounds a search.
type Extent struct {
	Folders int // that are read
	Depth   int // below a root: 1 reads the root alone
	Found   int
}

// Found is the result of a search.
type Found struct {
	Dirs       []string // without links
	Below      []string // the folders below which it has searched
	Read       int      // folders that were read
	Unreadable int      // folders that could not be read
	Cut        bool     // not all was read, because of Extent or the time
}

// IsWhole reports whether nothing was left out.
func (f Found) IsWhole() bool { return !f.Cut && f.Unreadable == 0 }

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

// Checkouts are the work trees of a repository, whoever has made them.
type Checkouts interface {
	// Checkouts are the work trees of the repository that a folder is in, the first one first, then by the branch. None: it
	// has one work tree only, or the folder is in none. It reads a few small files and does not ask git.
	Checkouts(ctx context.Context, dir string) []Checkout
}

// Checkout is a work tree and what is checked out there.
type Checkout struct {
	Dir    string // its top folder, without links
	Branch string // empty: none is checked out
	Here   bool   // the folder that was asked about is in it
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
	// Branch is the branch that is checked out in the linked work tree of a repository that a folder is in; empty: the folder
	// is in none, or that is not known.
	Branch(ctx context.Context, dir string) string
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
