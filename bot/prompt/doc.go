// Package prompt brings what people write to the agent of a session: texts, files, recordings,
// albums, and the edits of what is not typed yet.
//
// It promises that a message is queued for its session, or that its sender is told why it is not
// (P4). An entry of the inbox is accepted until the queue of its session holds the prompt: what
// cannot be queued is the inbox's to hand on again. The words of others, and what a program has
// written down, are typed as a quotation in which nothing acts (P7).
//
// A prompt that may not be typed unasked waits for a person, and so may one behind a request, and one
// of which it is unknown which open session it is for. There
// is one question about a prompt, a card, with a reason that says what is asked and what may be
// answered (question.go). The card says what became of the prompt and closes, also when the
// prompt needs no answer any more.
//
// What is written in a terminal comes through [Desk]: normalised and queued alike.
//
// It does not type, and decides nothing about the order of a queue. Texts that answer a request are
// taken before they come here.
package prompt
