// Package view reads one session: its pane, its screen, its agent, and what they have written.
//
// An Observer reads. A View is one reading, on which the steps of package lifecycle act. A Status
// is for people and for the archive's clock.
//
// The package guarantees:
//   - It changes nothing, and presses no key.
//   - Unknown is a value: the zero View, AgentState and PaneFate mean that nothing is known, and no
//     key, text or end follows from them (P6).
//   - A pane counts as the session's only if the tmux server and the pane's process are the
//     binding's.
//   - Text is safe to type only in the empty prompt box of the bound agent, while it is idle and no
//     dialog is open (P7): see View.TypeSafe.
//
// The phase of an agent decides where keys go. Its activity, which Doing returns, is shown to
// people; no text is typed because of it.
package view
