// Package budget holds back the prompts of sessions that have cost as much as people allow.
//
// A session has up to three caps, in dollars at list prices: one for itself and one for each day of
// its chat (/settings), and one for each day of all sessions of the machine (CCBOT_BUDGET_DAY). A
// day begins at midnight by the machine's clock. A session counts from its beginning, but for at
// most [talk.ReportDays] days.
//
// It guarantees:
//   - A chat is warned once at 80 percent of a cap, and gets one card when the cap is reached. Both
//     survive a restart.
//   - From then on no prompt of the chat is typed to the session, and a turn that runs is
//     interrupted after its next answer, unless a dialog is open: Esc would answer it.
//   - Only a person raises a cap, by a tap or in /settings. Two taps on one card raise it once.
//   - An answer without a known price counts as more than any cap.
//
// Package ledger counts, and package lifecycle holds the prompts.
package budget
