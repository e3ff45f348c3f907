// Package report tells what a start of ccbot found and did.
//
// It promises one message for each conversation, and only where there is something that matters to
// people; that a session is told once, and is noted as told only when the message is on disk; and
// that the buttons mean the same after a restart: they resume what is still lost, and nothing that
// is lost later.
//
// It resumes no session itself, and decides nothing about a window: other features do.
package report
