package folders

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// Places finds and makes the folders that sessions work in.
type Places interface {
	// Bounds returns where sessions may work on the machine of a folder. It does not block. With an
	// error it has the machine's name only.
	Bounds(dir string) (Bounds, error)
	// Resolve returns the folder of a path. "~" is the home folder, "~user" the home of a known
	// user (otherwise refusal.DirMissing). A relative path starts at base, and an empty base is the
	// home folder. Links are resolved as far as the path exists. It returns refusal.DirOutside if
	// no session may work there.
	Resolve(ctx context.Context, base, path string) (dir string, err error)
	// Make makes a folder and its parents. It returns a *refusal.Error on failure.
	Make(ctx context.Context, dir string) error
}

// Bounds are the folders where sessions may work.
type Bounds struct {
	Machine string   // its name for people; empty: the chat's own
	Home    string   // the default folder of a session, without links
	Roots   []string // sessions work only below these, without links; none: anywhere
}

// Folders reads folders. Each call resolves the folder first, and refuses as Resolve does.
type Folders interface {
	// Children returns the names of the folders in a folder, and of links to folders, sorted.
	// hidden includes names that begin with a dot. more reports that the folder has too many entries,
	// and that only some were read.
	Children(ctx context.Context, dir string, hidden bool) (names []string, more bool, err error)
	// Conversations returns up to most conversations of all agents in a folder, starting at index
	// from, the last written first. more reports whether others follow.
	Conversations(ctx context.Context, dir string, from, most int) (all []Conversation, more bool, err error)
}

// Searches finds folders, even if no session has used them.
type Searches interface {
	// Search finds the folders on the machine of dir, below its roots, or below the home folder if
	// there are none, whose name contains part in any case. A part with a slash is compared with
	// the path below the root. Git repositories come first, then folders nearer to their root. It
	// follows no links and skips hidden folders and dependencies such as node_modules.
	Search(ctx context.Context, dir, part string, most Extent) (Found, error)
}

// Extent bounds a search.
type Extent struct {
	Folders int // folders read
	Depth   int // below a root: 1 reads the root alone
	Found   int
	Time    time.Duration // the search returns the folders found by then
}

// Found is the result of a search.
type Found struct {
	Dirs       []string // without links
	Roots      []string // the folders below which it searched
	Read       int      // number of folders read
	Unreadable int      // number of unreadable folders
	Cut        bool     // the search stopped early, because of Extent or the time
}

// IsWhole reports whether the search left nothing out.
func (f Found) IsWhole() bool { return !f.Cut && f.Unreadable == 0 }

// Conversation is a conversation with an agent, with or without ccbot.
type Conversation struct {
	AgentSessionID uuid.UUID // the agent's id of it
	Agent          string    // as in port.Start; empty: the default one
	Product        string    // the agent's name for people; empty: Claude Code
	Session        uuid.UUID // its session; nil: none
	Had            uuid.UUID // if Session is nil, the session that had it before a /clear; nil: none
	LastQuestion   string    // the last question of a person
	Size           int64     // of its file, in bytes
	At             time.Time // time of the last write
	Written        bool      // a process writes it, or may write it
	Unseen         bool      // its writers are unknown
}

// Worktrees manages the git work trees that ccbot has made.
type Worktrees interface {
	// Find returns the work tree of a folder; found is false without an error if there is none.
	// With an error it may be found, but its work is unknown.
	Find(ctx context.Context, dir string) (w Worktree, found bool, err error)
	// Remove removes a work tree. Errors: refusal.HasWork if it has work, with the kind as Reason;
	// refusal.WrongState if an open session works or starts there; refusal.DirMissing if there is
	// none.
	Remove(ctx context.Context, dir string) error
}

// Checkouts finds all work trees of a repository.
type Checkouts interface {
	// Checkouts returns the work trees of the folder's repository: the first one, then the others
	// by branch. It returns none if the repository has one work tree, or without a repository. It
	// reads a few small files and does not run git.
	Checkouts(ctx context.Context, dir string) ([]Checkout, error)
}

// Checkout is a work tree and its branch.
type Checkout struct {
	Dir    string // its top folder, without links
	Branch string // empty: none is checked out
	Here   bool   // the given folder is in it
}

// WorktreeMaker provides work trees for new sessions.
type WorktreeMaker interface {
	// Add makes a work tree of dir's repository, or reuses an unused one, and returns the folder in
	// it that corresponds to dir. key is the key of the start: the same key always gets the same
	// work tree, another key another one. Errors: refusal.NoRepository, and refusal.NoCommit if
	// there is nothing to check out yet.
	Add(ctx context.Context, dir, key string) (made string, err error)
	// Done ends the start of a key in dir: its session works in the work tree, or the tree is free
	// again.
	Done(ctx context.Context, dir, key string) error
}

// Lookups returns single facts about a folder.
type Lookups interface {
	// IsMissing reports whether a session's folder is known not to exist.
	IsMissing(ctx context.Context, dir string) (bool, error)
	// Branch returns the branch of the linked work tree that a folder is in; empty: none or
	// unknown.
	Branch(ctx context.Context, dir string) (string, error)
	// HasCommand reports whether the agent of a session has a slash command with this name.
	HasCommand(ctx context.Context, session uuid.UUID, name string) (bool, error)
}

// Worktree is a work tree made by ccbot.
type Worktree struct {
	Dir    string // its top folder
	Of     string // top folder of the repository
	Branch string // the branch made with it
	Work   Work
}

// Work is the reason why a work tree is not removed; empty: none.
type Work string

// The kinds of work.
const (
	Uncommitted Work = "uncommitted" // changed or untracked files
	Unmerged    Work = "unmerged"    // commits that exist nowhere else
	Unfinished  Work = "unfinished"  // a merge or a rebase in progress
	Stashed     Work = "stashed"     // a stash that may belong to it
	Ignored     Work = "ignored"     // files that git ignores; only of the worktree of a loop, whose removal nobody is asked about
)
