// Package importer decides which sessions of the Python ccbot become records here, and says why the
// others do not.
//
// It promises that a conversation gets one record at most, that a record belongs to somebody who is
// allowed, in a folder that sessions may begin in, under a name that no other session has, and that
// nobody else writes its conversation. It only reads: its caller makes the records, under the lock.
package importer
