// Package running is a running ccbot: it makes all parts out of the settings, connects them, recovers, and runs the bot
// until it is asked to stop. wire.go makes the parts; startup.go and run.go start them.
//
// What a verb of the command line changes is a Change: package socket hands it to a running bot, and it is
// made in the process of the verb where no bot runs.
//
// It promises that nothing in the folder is changed without the lock, that nothing is changed for a program below an
// agent, and that no error has the token. It reads no command line, and prints nothing but its log.
package running
