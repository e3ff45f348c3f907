// Package keepjson reads and writes versioned JSON objects without losing what
// this program does not know: fields of a later one survive a rewrite.
//
// It reads one version and no earlier one, and does not look into fields.
package keepjson
