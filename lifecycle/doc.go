// Package lifecycle runs the life of each session: start, prompt, archive, restore. It is the only
// package that starts an agent; its packages ending and typing alone end agents and type.
//
// Each session has one worker (session.Store.Do), and every change of a session is a turn of that
// worker. A work is the set of possible actions in a turn, split by concern: opening starts an
// agent, closing ends a session, reporter reports the agent's activity and questions, writers finds
// other writers, and adoption binds a session to an agent that a person started. Each has the turn:
// the record, its save, the Observer, news, the agenda and the memory. Package ending ends
// processes, package typing types prompts, and package dialog presses the keys of dialogs, modes
// and models; they have only their arguments from this package.
//
// The files use each other in one direction: turn.go, then the concerns (opening.go, stop.go with
// ended.go, writers.go, adoption.go, report.go), then work.go, then step.go and the methods of
// Service, then run.go.
//
// The central function is a step: read the state (View), decide, act. The decision is pure. Decide,
// its first part, is about the life of the session; recovery also uses it for each session at a
// start. A step runs whenever something may have changed: a hook event, the agent's presence file,
// a tmux notification, the end of a process, a new prompt. An idle session is not polled. A working
// session is checked every 30 s, because no event reports failing requests.
//
// A turn reads and uses the session's pane through its typing.Terminal: the last View, and the
// keys, each with tmux's guard. Which key is right is decided before.
//
// Package view reads one session, its pane and its agent: steps act on a View, while people and the
// archive's clock get a Status. Evidence covers the processes of all sessions: which process writes
// which conversation; see package evidence. Neither package changes anything.
//
// The package guarantees:
//   - An intent is on disk before its effect, and the result after it.
//   - Text reaches only the prompt box of the bound agent, and only while the agent is idle and
//     no dialog is open.
//   - A prompt leaves the queue only with proof or after a question to the person (P4).
//   - An archive reports "ended" only of processes that are verified gone (P3).
//   - A second process is never started on a conversation that has a writer (P1).
//   - Every other writer of a conversation is reported once, and after that ended only by a
//     person's decision (P2).
//   - Unknown facts change nothing (P6).
//
// If the end of an agent cuts a turn short, the record keeps that until a prompt has followed or a
// turn has ended well; see interruption for the rules.
//
// The package does not call the chat: it reports to News, which stores its arguments. News that are
// Kept are in the record's own save, and a step or a start delivers them until News has them.
package lifecycle
