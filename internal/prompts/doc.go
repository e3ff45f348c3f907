// Package prompts stores the prompts that the engine of a machine has accepted from the chat, until
// the chat has their outcome. It is the engine's only store of a prompt and its progress. The
// chat's own entry has the message, the buttons and the reactions, and the engine never reads it.
//
// A prompt's path, each step on disk before the next:
//
//	accepted   the chat has the message; only then Telegram may forget it
//	offered    the chat's entry has a Number, and the chat offers the prompt to the session's engine
//	held       the prompt is in this store, and the engine has answered the offer
//	typing     its Mark is in this store, before the first key; an offer may become typing at once
//	unproven   no proof was found: a person decides, see [ccbot/port/news.Unproven]
//	finished   with an Outcome; the prompt is left as a tombstone until the chat has settled it
//
// The chat owns a prompt until the offer was answered, and again after Returned or Dropped. In
// between the engine owns it. The chat changes it only by commands, each with a later Number than
// all before: Reword, Withdraw, or an offer of the same key with a later number after Returned.
//
// The package guarantees:
//   - A repeated offer or command changes nothing and has the same answer. An offer of a finished
//     prompt is answered with its outcome, so the chat learns it again after a crash.
//   - A command that came too late is answered with ErrNoPrompt: the prompt was typed already, or
//     is finished.
//   - A number that the chat has settled is refused for ever, so a copy of an offer that turns up
//     after its tombstone is gone is not typed. An open prompt keeps no tombstone of another.
//   - A change is durable when the call returns. An unreadable file blocks no other prompt; a
//     damaged one that the chat does not know is put aside, and reported.
//
// A crash of one side, the other living on, loses nothing and types nothing twice:
//
//	the chat dies before the offer       its entry is read again, and gets a number
//	the chat dies after the offer        the same number again; the answer is the stored state
//	the engine dies before it is held    the offer was not answered; the chat repeats it
//	the engine dies in typing            proof finishes it; otherwise it is unproven
//	the engine dies after the outcome    the tombstone is reported again, until it is settled
//	the chat dies before it is settled   its entry is offered again; the answer is the outcome
//
// The package types nothing, decides nothing about proof, and does not call the chat.
package prompts
