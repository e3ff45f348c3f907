// Package longtext shows texts of agents that do not fit in memory.
//
// It guarantees:
//   - A long text is read from its transcript in pieces: the beginning is sent as a file; if there
//     is more, a mark shows the size and offers the rest.
//   - The button stays, because an upload may fail.
//   - A text that Telegram refuses as a file is reported.
//
// It moves no cursor: package answer does, after the mark is on disk.
package longtext
