// Package git tells the state of the repository that a directory is in, and how
// much has changed since a commit, for a session's record and its status.
//
// It promises to change nothing (not even git's own index), to run nothing that
// the repository configures, to give git none of ccbot's secrets, and to come
// back within a short time: what git does not say by then is not known.
package git
