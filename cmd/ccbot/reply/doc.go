// Package reply waits for what an agent answers to a prompt.
//
// It reads what lies on disk, like every verb that only looks: the prompt in the inbox, the record of the session, the
// agent's presence file, and the transcript. The kernel says when one of these has changed, so nothing is polled, and it does not matter
// who types the prompt, or whether that program is started anew meanwhile. Whoever stops waiting changes nothing.
package reply
