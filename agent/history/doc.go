// Package history is a part of the contract of coding agents, package agent: it reads their
// conversations for people, follows their work, and counts their tokens.
//
// It promises:
//
//   - A path names the file of one conversation, in the agent's own form. An offset counts its
//     bytes, and a line of it begins there.
//   - A file is only read, also while the agent writes it. Each call stops when its ctx ends.
//   - No interface has more than five methods.
//
// Its limits: an agent appends to its files. The package reads no file itself.
package history
