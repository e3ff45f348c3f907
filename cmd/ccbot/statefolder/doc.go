// Package statefolder is CCBOT_DIR as a folder: whose it is, who has its lock, whether it has room, and
// the files of its own (the lock, the instance, when ccbot was last there). It promises that nothing is
// read there that another user could have written, that one ccbot at a time changes anything, and a
// sentence about what a person has to mend. What the records and messages in it mean it does not know.
package statefolder
