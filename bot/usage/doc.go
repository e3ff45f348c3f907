// Package usage shows the consumption of the machine's agents: tokens and their cost, in days, by
// model and by session, and the use of the account's limits.
//
// It guarantees:
//   - Every cost is marked as an estimate.
//   - Usage without a known price is shown without a cost and named as left out.
//   - A page comes soon; counts that take longer are named as missing.
//   - Each private chat is warned once at 80 and once at 95 percent of a limit's window.
//
// Package ledger decides what counts, and once; package limit acts when a limit is reached.
package usage
