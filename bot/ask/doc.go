// Package ask is what the chat shows of a permission request, a question or a plan, and what a tap on it decides.
//
// It promises that a decision carries only what was shown: as long as something of the request is cut, or cannot be
// seen because it is invisible, there is no button that allows it. A request is decided at most once, a card that is
// over never changes, and a tool's input stays inside its own formatting. Cards are on disk before they are shown.
//
// It sends nothing and waits for nothing. What became of a request it takes from the transcript, not from a tap.
package ask
