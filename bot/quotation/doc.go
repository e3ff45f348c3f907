// Package quotation reads a message of a person: what it says, as it may be typed, and whether it is a
// command, or no words at all. Only the person's own words act: what others wrote, or a program did,
// is a quotation, in which nothing stands where Claude Code acts on it (P7).
//
// It knows no session and no command by name, and sends nothing.
package quotation
