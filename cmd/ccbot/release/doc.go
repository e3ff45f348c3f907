// Package release reads which ccbot a file has, and compares it with this one. It runs nothing of
// the file and changes nothing.
//
// A program says of which version it is, and which state it knows, in marks: words between angle
// brackets that stand in its bytes, whatever was stripped from it.
package release
