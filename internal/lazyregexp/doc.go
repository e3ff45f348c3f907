// Package lazyregexp holds regular expressions in package variables without compiling them when the
// program starts.
//
// It promises that an expression is compiled at its first use, once. Most verbs use few of them,
// and a bot keeps in memory only those that it has used. In a test all are compiled at once, so
// that a broken one fails the tests.
package lazyregexp
