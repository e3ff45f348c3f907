// Package cellpicture draws text in cells, as a terminal has it, as a PNG.
//
// It promises:
//   - Every character is in the picture. This package draws box drawings, braille and some signs
//     itself; letters come from DejaVu Sans Mono, which is built in. A character without a font
//     makes the whole picture an error.
//   - If the caller brings the fonts of the machine, they have the other characters, and a frame
//     stands for a character that no font has. Only then the picture depends on the machine.
//   - Cells keep their columns, whatever their letters are.
//
// It reads no escape sequences and breaks no lines. Of joined emoji it draws the first.
package cellpicture
