// Package keepjson reads and writes versioned JSON objects without losing what
// this program does not know: fields of a later one survive a rewrite.
//
// It does not migrate older versions and does not look into fields.
package keepjson
