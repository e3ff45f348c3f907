// Package template reads templates of loops: TOML files with a task, a check and bounds.
//
// Templates of a person are in ccbot's folder. A repository has others, which anyone who writes to
// the repository can change, as the agent can. The package promises:
//   - A file that a reader could not see in full in one message is refused, and so is one with
//     control characters, with an unknown key or another spelling of one, or without bounds.
//   - Only a regular file of this user is read. No link is followed, neither as a file nor as a
//     folder of templates.
//   - A repository's template never replaces a person's own one of the same name.
//
// A template is only a request: a person starts the loop.
package template
