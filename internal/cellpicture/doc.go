// Package cellpicture draws text in cells, as a terminal has it, as a PNG.
//
// It promises that a picture shows every character that it was given: one that no font has, and that is no box drawing or
// sign drawn here, makes the whole picture an error. Where a caller names fonts of the machine, they are asked, too, and an
// empty box stands for what is nowhere; else the picture needs nothing of the machine: DejaVu Sans Mono is built in. Cells
// stand in columns, whatever their letters.
//
// It reads no escape sequences and breaks no line: that is done by those who make the cells. Emoji have no colours but a few
// signs that are drawn here.
package cellpicture
