// Package hooks is the bot's side of the hook program that agents run: it passes the reports of
// that program on, reads the other files that it leaves, and keeps requests waiting for a person.
//
// It promises:
//
//   - Every event reaches the sink in order and stays on disk until the sink has taken it. One
//     event that cannot be handled does not delay other sessions for ever.
//   - An event whose conversation is not proven yet is kept for a while and then rejected; of the
//     rejected events the newest stay.
//   - A request is answered once, with a decision that was made; otherwise it is left to the
//     terminal. "For this session" returns only rules that the agent proposed.
//
// The package does not judge whether an event's process is the one bound to a session, decides no
// permission, and knows no settings of an agent.
package hooks
