// Package received puts files that came from the chat into the folder .ccbot-inbox of a session's
// directory, and takes them away again when their time is over.
//
// It promises:
//   - Nothing is written outside that folder. It is a real directory of our own uid: a link, a file or somebody else's
//     directory of that name is refused, because a repository may ship one, and what was checked is what is written to.
//   - A file gets its name when all of it is on disk, and never takes the place of another.
//   - Names are harmless: no path, no control, bidi or invisible characters, nothing at the start that a shell or an agent
//     takes for something else, at most [maxName] bytes.
//   - The same id for the same directory makes one file, however often it is put there and whatever crashes in between.
//   - Only what it put there is removed, and only while it is still that: the name is on record before the file is there,
//     with what tells the file from another of that name.
//
// It does not know where the bytes come from, and does not decide who may send them.
package received
