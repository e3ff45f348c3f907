// Package doctor looks for what keeps ccbot from working, or soon will: one check is one function
// over a World, and each finding has a code.
//
// It promises to change nothing while it checks, and to repair only ccbot's own files: no process,
// no window, and nothing that a person has written. It takes no update from Telegram, and its
// output has no secret. A state that cannot be read is reported as unknown, which is not a fault.
package doctor
