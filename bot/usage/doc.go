// Package usage shows what the agents of the machine have used: tokens and what they cost, in days, by
// model and by session, and how far the limits of the account are used up.
//
// It promises that every cost says that it is an estimate, that what has no known price is shown without
// one and named as left out, and that a page comes soon: what takes longer to count is said to be missing.
//
// What counts, and once, is for package ledger to say; what happens when a limit is reached, for package
// limit.
package usage
