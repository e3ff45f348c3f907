// Package questions brings the open questions of agents to people: permission requests, questions,
// plans and dialogs.
//
// It promises:
//   - A session that is chosen while it asks has its question below all messages of the question's
//     own conversation. In another conversation there is a link only: a decision is made where all
//     of the question was shown.
//   - /waiting steps through all open questions, the oldest first. The answer to one brings the
//     next one.
//   - While two or more sessions wait, one pinned line in their chat counts and names them. Without
//     the right to pin there is no line, and /health reports that.
//   - A question that stays unanswered comes again with a sound, a bounded number of times, and not
//     in quiet hours.
//
// The questions themselves are cards of other features, which draw and decide them. This package
// only makes the board send them again.
package questions
