// Package schedules makes schedules in the chat with /at and /every, lists them, and reports their
// runs.
//
// It guarantees:
//   - A message makes at most one schedule, also after a crash. Its time counts from the moment at
//     which it was sent.
//   - The words of a request whose time is not understood stay in the question about it (P4).
//   - A run has one message, which sounds only if a person has to bring the session back, and never
//     in quiet hours.
//
// Package schedule parses the times, and decides what is sent.
package schedules
