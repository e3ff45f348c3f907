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
