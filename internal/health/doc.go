// Package health says of the figures of a running ccbot what is wrong in them.
//
// It promises the same judgement to everybody who has the figures, as typed values: who shows them has the
// sentences. It measures nothing and asks nobody.
package health
