// Package terminal prints the output of ccbot's verbs, for people and for programs, and reads their
// input. A foreign text that has been through Printable cannot move the cursor, change colours or
// reverse the text that follows.
package terminal
