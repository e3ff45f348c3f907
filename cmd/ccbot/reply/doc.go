// Package reply waits for what an agent answers to a prompt.
//
// It reads files, like every reading verb: the prompt in the inbox, the record of the session, the
// agent's presence file, and the transcript. The kernel reports their changes, so nothing is
// polled, and the wait does not depend on the program that types the prompt, or on its restart. A
// wait that ends early changes nothing.
package reply
