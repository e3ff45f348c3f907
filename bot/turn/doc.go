// Package turn shows how a turn of an agent goes: one message below its prompt, which lives until the
// turn ends and is then one line, and on request a page of its steps.
//
// It promises one card per turn, in the conversation where the session was in front when the turn was
// first shown, never above its prompt; that nothing is edited without a change, never for the time alone,
// and never for what other sessions do; and that the card in the end says what the transcript says. A turn
// goes on in the same message over restarts: the card has the place in the transcript behind which nothing
// of it is missing, so that an item may come twice. A turn that is over before anybody could have seen its
// card has none. The files of a turn are counted only where no step can have been before or after.
//
// Pace is the outbox's: all cards of a chat share a budget behind all messages, and what has come to a
// turning point goes first. So what a line changes is drawn at most once in outbox.CardsEach, and a new phase
// and the end of the turn at once; what a kill leaves undrawn is read again by the next start. The package does not read what agents say, sends no sound, and knows what
// its buttons do only as functions.
package turn
