// Package longtext shows texts of agents that do not fit in memory.
//
// It promises that such a text is read from its transcript in pieces: the beginning comes as a file, and if there is more,
// a mark names the size and offers the rest. The button stays, because an upload may fail. A text that Telegram takes in no
// file is reported.
//
// It moves no cursor: package answer does, after the mark is on disk.
package longtext
