// Package usage shows what the agents of the machine have used: tokens and what they cost, in days, by
// model and by session, and how far the limits of the account are used up.
//
// It promises that every cost says that it is an estimate, that what has no known price is shown without
// one and named as left out, that a page comes soon, with what takes longer to count said to be missing,
// and that each private chat is warned once at 80 and once at 95 percent of a limit's window.
//
// What counts, and once, is for package ledger to say; what happens when a limit is reached, for package
// limit.
package usage
