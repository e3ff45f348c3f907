// Package naming finds the session that a person means by a few letters, in the chat and in a
// terminal alike, and names a session after its first prompt.
//
// It promises that what is named in full is never taken for what only begins so, and that it decides
// nothing where several are meant: all of them are given.
package naming
