// Package typing types into the terminals of sessions. It is the only package of ccbot that pastes
// text or presses keys in the pane of an agent: TestArchitectureOfTyping checks that.
//
// A Typist is made once. Of returns its use for one session, in one turn of the session's worker: a
// Session has the record, its save, and the other functions of a Turn, and can reach nothing else
// of the session's life. A Terminal has the last View and the keys, each with tmux's guard; it does
// not know which key is right.
//
// A prompt is typed in five steps: its mark is put on disk, its text is pasted, the terminal is
// read again, Enter is pressed, and proof of the arrival comes from a hook or from the transcript.
// Decide returns the next step of the prompt whose turn it is. An agent with a Delivery gets the
// text by one call instead of paste and Enter, and its receipt is the proof. Other keys are pressed
// through a Terminal by package dialog, which promises which ones.
//
// The package promises:
//   - Text reaches only the prompt box of the bound agent, and only while the agent is idle and no
//     dialog is open. Enter is pressed only if the box shows the text (P7).
//   - A prompt leaves the queue only with proof or after a question to the person. It is never
//     typed again unless the person asks for it (P4).
//   - A key reaches only the pane of the bound agent, with tmux's guard, and only with the meaning
//     that the agent gives it: a key that a person has bound to something else is refused (P7).
//   - The mark is on disk before the first key, so that a crash at any point leaves what recovery
//     needs.
//   - A draft of a person is reported before it is removed.
package typing
