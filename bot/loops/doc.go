// Package loops shows the loops of sessions: that one has begun, why it is paused, and how it has
// ended.
package loops
