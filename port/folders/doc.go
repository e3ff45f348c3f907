// Package folders is what the chat knows of folders and files on the agent's machine: where sessions
// may work, what changed there, and the files that people send and are sent.
//
//   - A folder that [Places] returns has an absolute path without links.
//   - A file that [Files] opens is in the session's folder and may be sent.
//   - What people send goes into one folder of the session, [InboxName].
//
// The package touches no disk.
package folders
