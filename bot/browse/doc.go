// Package browse implements the page "new", which chooses the folder and the conversation of a new
// session.
//
// It guarantees:
//   - All choices are in the address of the page, so they survive a restart.
//   - A folder is resolved and checked each time it is shown or used; an error is shown as a
//     sentence.
//   - A message sent while the page is open becomes a first prompt or stays under a question; it is
//     never lost (P4).
//   - A work tree is removed only by the person who was asked, and only if it has no unfinished
//     work.
//
// Package sessions starts sessions, and lifecycle decides whether a conversation can be resumed.
package browse
