// Package disktest makes calls on files fail and work again: each call that a test makes, once, ten
// times, and for a minute with each of [Errors].
//
// The minute passes in the time of testing/synctest.
package disktest
