// Package ask shows the permission requests, questions and plans of agents in the chat, and gives
// what people decide to the hooks that wait.
//
// It promises that a decision carries only what was shown (P7): as long as something of the
// request is cut, or cannot be seen because it is invisible, there is no button that allows it. A
// request is decided at most once, by an allowed person on the message that shows it; the decision
// is on disk before the hook hears of it, and given again when the hook redials. A request that is
// over never changes, and the input of a tool stays inside its own formatting. What one session may
// ask is bounded.
//
// A request is a State, a plain value: Tap, say, settle, leave and Return give the next State, and
// Viewer draws it; actions is the table of what a tap may do. The Store keeps all of it on disk, a
// week beyond its end, because a hook may redial late and a text may come again after a crash; the
// message is a card of package card, which has only what the message looks like. Requests brings
// both together: each request has a lock, under which it changes, and a goroutine, which does all
// that waits. What became of a request comes from the transcript, not from a tap.
package ask
