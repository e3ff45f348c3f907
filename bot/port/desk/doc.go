// Package desk is what a person at the agent's machine would see and do: terminals, keys, windows
// and the processes that write conversations.
//
// Nothing is typed or ended on the word of the chat alone: each operation names what a person saw
// (the mark of a screen, the id of a process or of a window), and does nothing where that has
// changed. Such ids are opaque, and stay valid over restarts of either side.
package desk
