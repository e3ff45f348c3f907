// Package rename gives sessions other names: with /rename, or with the next text of the person whom it
// has asked.
//
// It promises that a question takes one text of the one person who was asked, for a few minutes, and
// becomes the answer to it; what is no name, because it has several lines or is too long, goes to the
// agent, and so does a text after the person has switched to another session. A crash repeats no text.
//
// Which name is free, and what becomes of the window, is for package lifecycle to say.
package rename
