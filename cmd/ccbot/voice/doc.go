// Package voice runs VOICE_COMMAND to transcribe recordings. It promises that nothing of a message
// is a part of the command, that the command gets no secret, and that nothing of the command
// outlives its time limit. It sends nothing.
package voice
