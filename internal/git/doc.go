// Package git tells the state of the repository that a directory is in, and what has changed in its
// work tree since a commit, or since a moment that was marked.
//
// It promises:
//
//   - Only AddWorktree and Worktree.Remove change anything. Even git's index stays as it is;
//     objects that already exist may get a new time.
//   - No work tree or branch is removed that it has not made or that has work in it.
//   - Nothing that the repository configures is run, and git gets none of ccbot's secrets.
//   - Each call returns within a short time; facts that git has not reported until then are
//     unknown. A Tree is bounded by its context instead, and in what it reads. The content of a
//     file is read from a descriptor that its caller opens, never by git from the work tree.
package git
