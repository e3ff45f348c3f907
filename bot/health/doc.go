// Package health shows how ccbot does: first what is wrong, then the figures.
//
// It promises to measure nothing itself, and to show what it was given: the judgement is that of
// internal/health. It also tells each private chat that the disk is full, almost full, or has room again:
// that it is full goes straight to Telegram, for nothing can be kept.
package health
