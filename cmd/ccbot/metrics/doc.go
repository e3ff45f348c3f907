// Package metrics holds the numbers that Prometheus may read of a running ccbot, and serves them at
// METRICS_ADDR.
//
// It promises that a number is a count, a time or an amount: no name, no text and no path of
// anybody's is in it; and that what is measured is measured at the reading. It decides nothing and
// changes nothing: who counts calls it, and what it measures is handed to it.
package metrics
