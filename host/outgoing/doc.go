// Package outgoing decides which files of a session's folder may leave the machine, and opens them.
// /get, `ccbot send`, /changes and the outputs of long commands all read through it.
//
// It promises:
//   - The file is in the folder. Neither the path of the folder nor the path from there to the file
//     contains a link.
//   - It is a regular file with one name, because the other name of a hard link could be anywhere.
//   - It is not ccbot's own, by device and inode: not a file or folder in CCBOT_DIR, not the target
//     of a link in there, and not the file of settings.
//   - The result is a descriptor of the file that was checked, even if another file gets its name.
//
// Content that ccbot makes itself, such as pictures and exports, does not pass here. The package
// does not decide who may ask for a file.
package outgoing
