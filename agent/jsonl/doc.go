// Package jsonl reads transcripts that agents write as lines of JSON. A Form knows the lines of one
// agent; the rest is the same for all: to follow a file, to read it backwards, to search it, and to
// find the proof of a text.
//
// It promises that a cursor taken from an item continues exactly after that item, that only whole
// lines are parsed, and that a line it cannot read is counted and passed instead of stopping the
// reader. A line of any length takes a bounded part of Budget: the rest stays in the file, and
// OpenWords reads it in pieces.
//
// It changes no file, does not remember cursors, and does not decide what is shown in a chat.
package jsonl
