// Package cellpicture draws text in cells, as a terminal has it, as a PNG. It needs nothing of the machine: the fonts are
// built in.
//
// It promises that a picture shows every character that it was given: one that no font has, and that is no box drawing or
// sign drawn here, makes the whole picture an error. Cells stand in columns, whatever their letters.
//
// It reads no escape sequences and breaks no line: that is done by those who make the cells.
package cellpicture
