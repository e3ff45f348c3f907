// Package ask shows the permission requests, questions and plans of agents in the chat, and sends
// people's answers to the agents. It draws the blocks of a talk.Ask, and knows no agent's format.
//
// It guarantees:
//   - A decision carries only what was shown (P7): while a part of the request is cut or invisible,
//     no button allows it.
//   - A request is decided at most once, by an allowed person, on the message that shows it.
//   - The decision is on disk before the hook receives it, and is sent again when the hook redials.
//   - A request that has ended never changes.
//   - The input of a tool stays inside its own formatting.
//   - The number of a session's requests is bounded.
//   - The message of an open request is below what the agent wrote before it asked, or has it: a
//     group takes few messages.
//
// A request is a State, a plain value. Tap, applyText, settle, leave and Return return its next
// State, and Viewer draws it; actions is the table of taps. Store keeps States on disk for a week
// after their end, because a hook may redial late and a text may come again after a crash. The
// message is a card of package card. Requests combines them: each request has a lock for its
// changes, and a goroutine for everything that waits. The outcome of a request comes from the
// transcript, not from a tap.
package ask
