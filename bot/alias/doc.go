// Package alias maps Telegram's chat numbers to the names of places, and back.
//
// A group that becomes a supergroup is another chat to Telegram, and the new chat numbers its
// messages from 1. Inside ccbot the place keeps its name: the group's first number. A message of a
// later chat gets a number that no message of an earlier chat has, so they cannot be confused.
//
// It guarantees:
//   - The news of Note is on disk when Note returns.
//   - The same news in any order, however repeated, make the same table.
//
// It sends no messages.
package alias
