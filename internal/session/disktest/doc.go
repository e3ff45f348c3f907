// Package disktest provides a test with a disk that is small enough to be filled, or that cannot be
// written, and counts which files of a folder are opened and how much the test reads.
//
// The disk is a file system in memory that only a child process of the test sees: it disappears
// with the child, however the child ends. It does not imitate the errors of other kinds of file
// systems.
package disktest
