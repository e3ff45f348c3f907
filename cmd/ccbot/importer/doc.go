// Package importer decides which sessions of the Python ccbot become records here, and why the
// others do not.
//
// It promises that a conversation gets at most one record, that a record belongs to an allowed
// person, in a folder that sessions may begin in, under a name that no other session has, and that
// no other process writes its conversation. It only reads: its caller makes the records, under the
// lock.
package importer
