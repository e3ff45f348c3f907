package rights

import "strings"

// Names are the names of subjects and streams of one fleet.
type Names struct {
	Fleet string // see Keys.Fleet
}

func (n Names) subject(tokens ...string) string {
	return "cc." + n.Fleet + ".v1." + strings.Join(tokens, ".")
}

// Command is the subject of the commands for a host.
func (n Names) Command(host string) string { return n.subject("cmd", host) }

// Event is the subject of the events of a host.
func (n Names) Event(host string) string { return n.subject("evt", host) }

// Request is the subject of the requests to a host.
func (n Names) Request(host string) string { return n.subject("rpc", host) }

// Answer is the subject of the answers and the beats of a host.
func (n Names) Answer(host string) string { return n.subject("ans", host) }

// Join is the subject of the joiner with a code.
func (n Names) Join(code string) string { return n.subject("join", code) }

// Commands is the stream of the commands for all hosts.
func (n Names) Commands() string { return "CMD_" + n.Fleet }

// Events is the stream of the events of all hosts.
func (n Names) Events() string { return "EVT_" + n.Fleet }

// Inboxes is the prefix of all inboxes.
const Inboxes = "_INBOX"

// Inbox is the prefix of the inboxes of a host or of a joiner.
func Inbox(owner string) string { return Inboxes + "_" + owner }

// IsInbox reports whether a reply subject is in an owner's inbox. An answer is sent nowhere else:
// its sender has more rights than the owner, who chose the subject.
func IsInbox(owner, subject string) bool {
	rest, ok := strings.CutPrefix(subject, Inbox(owner)+".")
	return ok && rest != "" && !strings.ContainsAny(rest, "*> \t\r\n")
}
