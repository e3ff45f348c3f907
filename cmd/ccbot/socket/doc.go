// Package socket is ccbot.sock: who may ask a running bot for what, and how a program asks.
//
// It promises that the kernel says who asks, and nothing in a call; that a program below an agent gets nothing but a
// permission by our hook, and a file into the chat of its own session; and that what is refused does not fill the log.
// What people have changed it hands on.
package socket
