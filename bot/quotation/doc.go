// Package quotation reads a person's message: its text in a form that may be typed, and whether it
// is a command, or has no words. Only the person's own words act: the words of others, and program
// output, are a quotation, in which no sign is at a place where Claude Code acts on it (P7).
//
// It knows no session and no command by name, and sends nothing.
package quotation
