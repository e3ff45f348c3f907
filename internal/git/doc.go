// Package git tells the state of the repository that a directory is in, and what has changed in its work tree since a
// commit, or since a moment that was marked.
//
// It promises to change nothing but what AddWorktree and Worktree.Remove are asked for (not even git's own index; what
// git finds unchanged may get a new time), to remove no work tree and no branch that it has not made or that has work in it, to run nothing
// that the repository configures, to give git none of ccbot's secrets, and to come back within a short time: what git
// does not say by then is not known. A Tree is bounded by its context instead, and in what it reads. What it
// shows of a file is read from a descriptor that its caller opens, never by git from the work tree.
package git
