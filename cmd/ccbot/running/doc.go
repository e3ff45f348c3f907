// Package running is a running ccbot: it makes all parts out of the settings, connects them,
// recovers, and runs the bot until it must stop. wire.go makes the parts; startup.go and run.go
// start them.
//
// A Change is a change that a verb of the command line makes: package socket passes it to a running
// bot, and without a bot it is made in the process of the verb.
//
// It promises that nothing in the folder is changed without the lock, that nothing is changed for a
// program below an agent, and that no error has the token. It reads no command line, and prints
// nothing but its log.
package running
