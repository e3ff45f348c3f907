// Package lifecycle is a session's life: start, prompt, archive, restore. It is
// the only package that starts or ends an agent and the only one that types
// into a window.
//
// Each session has one worker (session.Store.Do); everything that changes a
// session runs there, one thing after another. What runs there is a work: it has the
// kit (settings, effects, the agenda, the memory), and none of the verbs of the
// Service. The heart is a step: look at the world (View), decide (decide is pure), act.
// A step is taken whenever something may have changed: a hook event, the agent's
// presence file, a tmux notification, the end of a process, a new prompt. Nothing here
// polls a session that is idle; one that works is looked at every 30 s, because no
// event says that its requests fail.
//
// Three kinds of looking have three words. An Observer looks at one session, at its
// pane and its agent: a View is what steps act on, and a Look is what people and the
// archive's clock are shown of it. Evidence is about processes, of all sessions at
// once: who writes which conversation; see package evidence. Both change nothing.
//
// What an agent does, or what keeps it from doing anything, is one pure function of
// all evidence: doing. People are told it, and no text is typed by it.
//
// It promises that an intent is on disk before its effect and the result after
// it; that text reaches only the prompt box of the bound agent, idle and with no
// dialog open, and a key that a person taps only the dialog that it was drawn
// for (P7); that a prompt leaves only with proof or after the person was told
// (P4); that an archive says "ended" only of what is verified gone (P3);
// that a second process is never started on a conversation that has a writer
// (P1); that whoever else writes one is told once and, once told, ended only when
// a person has decided so (P2); and that what cannot be known changes nothing (P6).
//
// A turn that the end of an agent has cut short is kept in its record until a
// prompt has followed or a turn has ended well; interruption says what counts.
//
// It does not talk to the chat: it tells News, which keeps what it is told.
package lifecycle
