// Package health shows the state of ccbot: first the warnings, then the figures.
//
// It measures nothing itself; internal/health computes the figures and warnings. It also reports to
// each private chat that the disk is full, almost full, or has room again. The report of a full
// disk is sent directly, because nothing can be stored.
package health
