// Package release reads which ccbot a file has, and compares it with this one. It runs nothing of
// the file and changes nothing.
//
// A program contains its version, and the state that it knows, in marks: words between angle
// brackets in its bytes, which stripping does not remove.
package release
