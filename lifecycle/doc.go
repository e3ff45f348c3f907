// Package lifecycle runs the life of each session: start, prompt, archive, restore. It is the only
// package that starts or ends an agent and the only one that types into a window.
//
// Each session has one worker (session.Store.Do). Everything that changes a session runs there, one
// turn after another. What can be done in a turn is a work, split by concern: opening begins an agent,
// closing ends a session, delivery types prompts, switching presses the keys of modes and models,
// reporter reports what the agent does and asks, writers finds other writers, and adoption binds a
// session to an agent that a person started. Each has the turn (the record, its save, eyes, news, the
// agenda, the memory) and only those effects that it needs. Processes are ended by package ending,
// which has its arguments and nothing else of this package.
//
// The heart is a step: look at the world (View), decide (decide is pure), act. Decide, its first part, is
// about the life of the session; recovery asks it about each session at a start. A step is taken whenever
// something may have changed: a hook event, the agent's presence file, a tmux notification, the end of
// a process, a new prompt. Nothing here polls an idle session. A session that works is looked at every
// 30 s, because no event reports that its requests fail.
//
// What a turn sees and does in the session's pane goes through its terminal: the last View, and the
// keys, each under tmux's guard. A terminal knows nothing of the record's life: which key is right,
// and whether text may be typed at all, is decided before.
//
// Three kinds of looking have three words. An Observer looks at one session, at its pane and its
// agent: steps act on a View, while people and the archive's clock get a Look. Evidence is about
// the processes of all sessions at once: who writes which conversation; see package evidence.
// Neither an Observer nor Evidence changes anything.
//
// What an agent does, or what prevents it from doing anything, is computed from all evidence by one
// pure function: doing. Its result is shown to people; no text is typed because of it.
//
// The package promises that an intent is on disk before its effect, and the result after it; that
// text reaches only the prompt box of the bound agent, and only while the agent is idle and no
// dialog is open; that a key that a person taps reaches only the dialog for which the button was
// drawn (P7); that a prompt leaves only with proof or after the person was asked (P4); that an
// archive says "ended" only of processes that are verified gone (P3); that a second process is
// never started on a conversation that has a writer (P1); that every other process that writes a
// conversation is reported once and, once it was reported, ended only when a person has decided so
// (P2); and that what is unknown changes nothing (P6).
//
// If the end of an agent cuts a turn short, the record keeps that until a prompt has followed or a
// turn has ended well; see interruption for what counts.
//
// The package does not talk to the chat: it reports to News, which stores what it is given.
package lifecycle
