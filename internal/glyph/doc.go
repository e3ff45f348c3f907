// Package glyph makes foreign texts safe to show: names of sessions, folders, files and windows,
// and texts that must be read exactly, such as a command.
//
// It promises that a name takes one line, that every character of it leaves a mark on the screen,
// and that no control character turns or pushes away what stands around it. Signs shows a text that
// a person approves: two different texts have two different results. LeftToRight keeps the words of
// a command in their order. Hides reports whether a person may miss a part of the text itself. The
// package does not promise that two names or texts which differ look different: letters of several
// scripts look alike, and in a name accents pile up.
package glyph
