// Package limit has a session go on when a limit that has stopped it ends.
//
// It promises that a session which a limit has stopped offers to be sent a prompt when that ends, which a
// tap takes back; and that the prompt is typed once, whatever is killed, and only where nothing has happened
// since the limit: where the session has ended, works again, or has got anything else, the message says that
// nothing was sent. Time that nobody was there for, because the machine slept or ccbot was down, makes
// it later, not wrong.
//
// Claude Code goes on by itself up to two minutes after the end of a limit, unless it was told not to:
// the prompt comes after that.
package limit
