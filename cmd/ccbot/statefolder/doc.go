// Package statefolder is CCBOT_DIR as a folder: who may write it, the holder of its lock, the room on its
// disk, and its files (the lock, the instance, when ccbot was last alive). It promises that nothing
// is read there that another user could have written, that only one ccbot at a time changes
// anything, and that its errors say in a sentence what a person has to repair. It knows nothing
// about the records and messages in the folder.
package statefolder
