// Package received puts files from the chat into the folder .ccbot-inbox of a session's directory,
// and removes them again when they are old enough.
//
// It promises:
//   - Nothing is written outside that folder. The folder is a real directory of this uid: a link, a
//     file or another user's directory of that name is refused, because a repository may contain
//     one. Files are written to the very directory that was checked.
//   - A file gets its name only when all of it is on disk, and never replaces another file.
//   - Names are harmless: no path, no control, bidi or invisible characters, nothing at the start
//     that has a meaning for a shell or an agent, at most [maxName] bytes.
//   - Calls with the same id for the same directory make one file, even after a crash.
//   - Only files that this package put there are removed, and only while they are unchanged: the
//     name is on record before the file exists, with the properties that distinguish the file from
//     another one of that name.
//
// It does not know where the bytes come from, and does not decide who may send them.
package received
