// Package attachment brings the files that people send to the folder of a session.
//
// It promises that a message's file is there once, however often the message is handled, and that who sent it
// is told why a file did not come. What is said in a recording is written down by a program, if there is one.
package attachment
