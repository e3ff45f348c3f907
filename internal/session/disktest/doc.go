// Package disktest gives a test a disk of its own, so small that it can be full,
// or one that cannot be written, and counts which files of a folder are opened.
//
// The disk is a file system in memory that only a child process of the test
// sees: it goes away with the child, whatever becomes of it. It does not imitate
// the errors of other kinds of file systems.
package disktest
