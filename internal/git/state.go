package git

import "time"

// State is a repository at one moment.
type State struct {
	Root   string    `json:"root"`             // its top directory, absolute
	Branch string    `json:"branch,omitempty"` // empty: a detached HEAD
	Head   string    `json:"head,omitempty"`   // commit id; empty before the first commit
	Dirty  bool      `json:"dirty"`            // something is changed or not tracked
	At     time.Time `json:"at"`
}

// Changes are what a work tree has beside a commit, committed since or not.
type Changes struct {
	Files      int `json:"files"`
	Insertions int `json:"inserted_lines"`
	Deletions  int `json:"deleted_lines"`
	Untracked  int `json:"untracked"` // new files, and folders with nothing else in them, which the others do not count
}
