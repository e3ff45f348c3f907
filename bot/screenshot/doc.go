// Package screenshot shows a session's terminal as a picture, with keys under it.
//
// It guarantees:
//   - A key acts only on the screen that the picture shows (P7). If the terminal has changed,
//     nothing is pressed, and the picture is replaced in its message.
//   - If a part of the screen may be out of sight, nothing can be chosen.
//   - A place has keys under its newest picture only; they work over restarts, as long as the
//     screen is the same.
//
// The picture is a photo if Telegram leaves its pixels unchanged, otherwise a file.
package screenshot
