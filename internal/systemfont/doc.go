// Package systemfont reads the glyphs of characters from font files.
//
// It promises:
//   - A file counts only if root owns it and every folder on its path, and no other user can write
//     them. No symbolic link is followed, and no environment variable and no configuration of fonts
//     is read.
//   - A damaged font yields no glyph. A panic of the parser is caught; files, tables, outlines and
//     bitmaps have limits.
//   - Nothing is kept between two calls: a font that is installed now is found by the next call.
//
// Its limits are against damage, not against root: the parser of CFF outlines counts no steps. It
// shapes no text: a glyph belongs to one character.
package systemfont
