// Package tabletest is a process table in memory, for tests.
//
// A [Table] answers as a process.Table does, and its End takes the steps of the real one, with
// their guards and at their times. A test adds processes, chooses the signal that ends each of them,
// and makes a reading fail. No process of the machine is read or signalled.
package tabletest
