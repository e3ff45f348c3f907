// Package sessions starts, lists, ends and resumes sessions, and reports the result.
//
// It guarantees:
//   - A session is ended only after the person has confirmed it for that very launch of the
//     session.
//   - The report of an end has all its effects.
//   - The report of a failed resume offers the next steps.
//   - The start of a session and its readiness are one message.
//
// Commands from a terminal come through [CLI] and are reported in the chat alike.
//
// Package lifecycle decides whether a session can start, end or come back. Other packages show the
// agent's texts.
package sessions
