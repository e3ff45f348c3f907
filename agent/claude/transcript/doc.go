// Package transcript knows Claude Code's transcripts: where they are, their lines (Form), and how
// to check their ends before a resume. Package jsonl reads them.
//
// It never changes a transcript: Repair writes a copy under another id. The format is Claude Code's
// own and undocumented; its description here was found with versions 2.1.197 and 2.1.328, and
// unknown line types give no items.
package transcript
