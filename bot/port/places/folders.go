package places

import (
	"context"
	"time"

	"github.com/google/uuid"
)

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
	// Add makes one for the repository of a folder, and gives the folder in it that is like the given one.
	// Asked for again before a session works there, it gives the same.
	Add(ctx context.Context, dir string) (made string, err error)
	// Find gives the one that a folder is in; false: it is in none, or git does not answer.
	Find(ctx context.Context, dir string) (Worktree, bool)
	// Remove takes one away. refusal.HasWork, with the kind as its Reason, where there is work in it;
	// refusal.WrongState while an open session works there.
	Remove(ctx context.Context, dir string) error
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
