// Package attachment stores the files that people send in the folder of a session.
//
// It guarantees:
//   - A message's file is stored once, even if the message is handled again.
//   - The sender reads why a file was not stored.
//
// Recordings are transcribed if a transcriber is configured.
package attachment
