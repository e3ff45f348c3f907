// Package glyph makes texts that somebody else has chosen safe to show: names of sessions, folders,
// files and windows, and what must be read exactly, such as a command.
//
// It promises that a name takes one line, that every character of it leaves a mark on the screen,
// and that none turns or pushes away what stands around it. Of a text that must be exact, Hides says
// whether a person may miss a part, and Signs shows every character that leaves no mark. It does not
// promise that two names which differ look different: letters of several scripts look alike, and
// accents pile up.
package glyph
