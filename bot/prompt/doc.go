// Package prompt brings what people write to the agent of a session: texts, files, recordings, and
// the edits of what is not typed yet.
//
// It promises that a message is queued for its session, or that its sender is told why it is not
// (P4). An entry of the inbox is accepted until the queue of its session holds the prompt: what
// cannot be written down before that is the inbox's to hand on again. The words of others, and what
// a program has written down, are typed as a quotation in which nothing acts (P7).
//
// A prompt that may not be typed unasked waits for a person: there is one question about a prompt, a
// card, with a reason that says what is asked and what may be answered (question.go). The card says
// what became of the prompt and closes; it closes too when the prompt gets its way without an answer.
//
// It does not type, decides nothing about the order of a queue, and makes no prompt of an album:
// that is the roof's. Texts that answer a request are taken before they come here.
package prompt
