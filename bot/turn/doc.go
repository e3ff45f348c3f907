// Package turn shows the course of an agent's turn: one message below its prompt, which lives until
// the turn ends and is then one line, and on request a page of its steps.
//
// It guarantees:
//   - A turn has one card, in the conversation where its session was in front when the turn was
//     first shown, never above its prompt.
//   - A card is edited only if it changes, never for the time alone, and never for other sessions.
//   - The final card agrees with the transcript.
//   - A turn continues in the same message over restarts: the card has the place in the transcript
//     up to which it is complete, so that an item may come twice.
//   - A turn that ends before its card could be read has none.
//   - The files of a turn are counted only if no other step can have changed them.
//
// The outbox sets the pace: all cards of a chat share a budget after all messages, and turning
// points go first. A changed line is drawn at most once in outbox.CardsEach, a new phase and the
// end of the turn at once; the next start reads again what a kill left undrawn.
//
// The package does not read the texts of agents, sends no sound, and has the actions of its buttons
// as functions.
package turn
