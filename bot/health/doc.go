// Package health shows how ccbot does: first what is wrong, then the figures.
//
// It promises to measure nothing itself, and to show what it was given: the judgement is that of
// internal/health.
package health
