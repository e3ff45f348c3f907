// Package folders defines what the chat knows of folders and files on the agent's machine: where
// sessions may work, what changed there, and the files that people send and receive.
//
//   - A folder that [Places] returns has an absolute path without links.
//   - A file that [Files] opens is in the session's folder and may be sent.
//   - Files from people go into one folder of the session, [InboxName].
//   - A question about changes leaves the person's repository unchanged and runs nothing that the
//     repository names.
//
// The package touches no disk.
package folders
