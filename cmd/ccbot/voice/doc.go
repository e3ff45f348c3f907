// Package voice has VOICE_COMMAND write down recordings. It promises that nothing of a message is a part
// of the command, that the command gets no secret, and that all of it ends with its time. It sends nothing.
package voice
