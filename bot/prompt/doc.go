// Package prompt brings messages of people to the agent of a session: texts, files, recordings,
// albums, and the edits of untyped messages.
//
// It guarantees:
//   - A message is queued for its session, or its sender gets the reason (P4). An entry of the
//     inbox is accepted until the queue of its session holds the prompt; the inbox hands it on
//     again if it cannot be queued.
//   - The words of others, and the transcript of a recording, are typed as a quotation in which
//     nothing acts (P7).
//   - A prompt that needs confirmation waits for a person, and so does a prompt after a request,
//     and a prompt that fits several open sessions.
//   - A prompt has one question, a card, whose reason defines the text and the answers
//     (question.go). The card closes with the outcome of the prompt, also when the prompt no longer
//     needs an answer.
//   - A text that a limit would make fail waits until the limit ends, and keeps its order (limited.go).
//   - A text from a terminal comes through [CLI]: normalised and queued alike.
//
// It does not type, and does not order a queue. Texts that answer a request are taken before they
// come here.
package prompt
