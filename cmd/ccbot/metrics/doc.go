// Package metrics holds the numbers that Prometheus may read of a running ccbot, and serves them at
// METRICS_ADDR.
//
// It promises that a number is a count, a time or an amount, without names, texts and paths, and
// that measurements are made at the reading. It decides nothing and changes nothing: callers count,
// and pass the sources of measurements.
package metrics
