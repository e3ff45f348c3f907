// Package transcript reads Claude Code's JSONL transcripts: it finds them, parses their lines,
// follows them, and checks their ends before a resume. A Form reads the transcripts of another
// agent that writes lines of JSON.
//
// It promises that a Cursor taken from an item continues exactly after that item, that only whole
// lines are parsed, and that a line it cannot read is counted and passed instead of stopping the
// reader. A line of any length takes a bounded part of Budget: the rest stays in the file, and
// OpenWords reads it in pieces.
//
// It never changes a transcript: Repair writes a copy under another id. It does not remember
// cursors, and does not decide what is shown in a chat. The format is Claude Code's own and
// undocumented; its description here was found with versions 2.1.197 and 2.1.328, and unknown line
// types give no items.
package transcript
