// Package attention decides what a session needs from people: whether its agent waits for an
// answer, and how many messages are undecided. The list, buttons, menu, queue and pinned line share
// this rule.
package attention
