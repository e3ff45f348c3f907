// Package sessions starts, lists, ends and resumes sessions, and tells what became of them.
//
// It promises that a session is ended only after the person who asked has confirmed it for that
// very launch of the session, that an end is told with all that it did, and that a session that
// cannot come back is told with what can be done about it. That a session begins, and that it is ready,
// is one message.
//
// What a person does at the desk comes through [Desk], and the chat hears of it alike.
//
// Whether a session can start, end or come back is for package lifecycle to say. What the agent of
// a session writes is shown elsewhere.
package sessions
