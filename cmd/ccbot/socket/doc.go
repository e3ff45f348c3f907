// Package socket is ccbot.sock: the permissions of callers of a running bot, and the calls of a
// program.
//
// It promises that only the kernel identifies the caller; that a program below an agent gets
// nothing but a permission by our hook, and a file into the chat of its session; and that refused
// calls do not fill the log. It passes on the changes that people make.
package socket
