// Package disktest gives a test its own disk, which is so small that it can be full, or one that
// cannot be written, and counts which files of a folder are opened and how much the test reads.
//
// The disk is a file system in memory that only a child process of the test sees: it disappears
// with the child, however the child ends. It does not imitate the errors of other kinds of file
// systems.
package disktest
