// Package naming finds the session that a person means by a few letters, in the chat and in a
// terminal alike, and names a session after its first prompt.
//
// It promises that a full name never matches what only begins with it, and that it does not choose
// between several matches: it returns all.
package naming
