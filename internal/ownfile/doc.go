// Package ownfile opens a file only when it is safe to read: a regular file that belongs to this
// user.
//
// A name in a folder that agents, hooks or other programs write to may stand for anything, and for
// something else a moment later. So the file is opened first, and what was opened is looked at
// then:
//
//   - A link is not followed (O_NOFOLLOW), or somebody could have ccbot read a file of their
//     choice, such as its own token, and pass on what it holds.
//   - A pipe without a writer does not hold up the open (O_NONBLOCK), and is refused with devices,
//     sockets and folders: reading them waits, does things, or never ends.
//   - A file of another user is refused: they may change it at any time, and what it says is their
//     word.
//   - Read stops behind the allowed size, whatever the size was when the file was opened.
//
// A caller that needs one says which of the two, links or other owners, it [Allow]s: a person's
// settings may lie elsewhere, a server may write its files as another user. The folders on the way
// to the name are not looked at, and neither is what other names (hard links) the file has: among
// processes of one user nothing of this is a wall.
package ownfile
