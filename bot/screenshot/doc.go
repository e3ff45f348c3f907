// Package screenshot shows a session's terminal as a picture, with keys under it.
//
// It promises that a key acts only on the screen that the picture shows (P7): where the terminal
// shows something else by now, nothing is pressed, and the picture is replaced in its message. Where
// a part of the screen may be out of sight, nothing can be chosen. A place has keys under its newest
// picture only; they work over restarts, as long as the screen is the same.
//
// The picture is a photo where Telegram leaves its pixels as they are, and else a file.
package screenshot
