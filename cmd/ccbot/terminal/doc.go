// Package terminal prints what ccbot's verbs say, for people and for programs. Nothing of somebody
// else's text moves the cursor, colours or turns what follows, once it has been through Printable.
package terminal
