// Package health derives warnings from the figures of a running ccbot.
//
// It returns typed values, the same for all callers; a caller has its own sentences. It measures
// nothing and does no I/O.
package health
