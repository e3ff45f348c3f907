// Package status shows all that is known of one session: its agent's activity, tools and progress,
// the changes in its folder, other writers, and what waits. It deletes the record of an ended
// session.
//
// It guarantees:
//   - Unknown facts are shown as unknown, never left to be taken for none.
//   - A view changes nothing.
//   - A record is deleted only after the person has confirmed it for that very launch of the
//     session.
//
// The archive lists the ended sessions. The list is quick even if there are many: it reads nothing
// of sessions that a page does not show. Each is resumed, viewed and deleted by the code of
// /resume, /status and their questions.
//
// A session gets another name with /rename, or with the next text of the person to whom the
// question for it is shown. The question takes one text, for a few minutes. A text that cannot be a
// name, because it has several lines or is too long, goes to the agent, and so does a text after
// the person has switched to another session. A crash repeats no text.
//
// The history of a session is shown by /why.
package status
