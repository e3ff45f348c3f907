// Package ownfile opens a file only when it is safe to read: a regular file that belongs to this
// user.
//
// A name in a folder that agents, hooks or other programs write to may be anything, and may change
// at any moment. So the file is opened first, and the open file is checked:
//
//   - A link is not followed (O_NOFOLLOW), because it could make ccbot read and pass on any file,
//     such as one with its own token.
//   - A pipe without a writer does not hold up the open (O_NONBLOCK), and is refused with devices,
//     sockets and folders: reading them waits, does things, or never ends.
//   - A file of another user is refused: they may change it at any time, and what it says is their
//     word.
//   - Read stops after limit bytes, even if the file grows after it was opened.
//
// A caller may [Allow] links or other owners: a person's settings may be elsewhere, and a server
// may write its files as another user. The folders of the path and other names (hard links) of the
// file are not checked, because processes of one user are not protected from each other.
package ownfile
