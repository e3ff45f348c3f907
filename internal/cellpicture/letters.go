package cellpicture

import (
	"compress/gzip"
	"embed"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"os"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// The fonts, packed by gzip -9n.
//
//go:embed fonts/*.ttf.gz
var fonts embed.FS

// Of the built-in fonts, in parts of their size: how wide a letter is, and how far one reaches above and below its line.
const (
	advance = 1233. / 2048
	above   = 1901. / 2048
	below   = 483. / 2048
	slant   = .2 // of italic letters
)

// SystemFonts are where Linux and macOS keep fonts with Chinese, Japanese and Korean letters, signs, and emoji in outlines.
func SystemFonts() []string {
	return []string{
		"/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
		"/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
		"/usr/share/fonts/google-noto-cjk/NotoSansCJK-Regular.ttc",
		"/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
		"/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
		"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
		"/usr/share/fonts/truetype/noto/NotoSansSymbols2-Regular.ttf",
		"/usr/share/fonts/truetype/noto/NotoSansSymbols-Regular.ttf",
		"/usr/share/fonts/truetype/noto/NotoSansMath-Regular.ttf",
		"/usr/share/fonts/truetype/noto/NotoEmoji-Regular.ttf",
		"/usr/share/fonts/truetype/ancient-scripts/Symbola_hint.ttf",
		"/System/Library/Fonts/PingFang.ttc",
		"/System/Library/Fonts/Hiragino Sans GB.ttc",
		"/System/Library/Fonts/AppleSDGothicNeo.ttc",
		"/System/Library/Fonts/Apple Symbols.ttf",
		"/System/Library/Fonts/Supplemental/Arial Unicode.ttf",
	}
}

// letters are the fonts of one picture. A font is read when it is first needed.
type letters struct {
	faces [2]*sfnt.Font // regular, bold
	more  []string      // files that are not open yet
	found []*sfnt.Font  // in the files that are
	files []*os.File
	boxes bool
	buf   sfnt.Buffer
}

func unpacked(name string) (*sfnt.Font, error) {
	packed, err := fonts.Open("fonts/" + name + ".ttf.gz")
	if err != nil {
		return nil, err
	}
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(unzipped)
	if err != nil {
		return nil, err
	}
	return sfnt.Parse(data)
}

// face is one of the built-in fonts.
func (l *letters) face(isBold bool) (*sfnt.Font, error) {
	n, name := 0, "DejaVuSansMono"
	if isBold {
		n, name = 1, "DejaVuSansMono-Bold"
	}
	if l.faces[n] == nil {
		f, err := unpacked(name)
		if err != nil {
			return nil, fmt.Errorf("read a font: %w", err)
		}
		l.faces[n] = f
	}
	return l.faces[n], nil
}

// font finds one that has a letter.
func (l *letters) font(r rune, isBold bool) (*sfnt.Font, sfnt.GlyphIndex, error) {
	for _, bold := range []bool{isBold, false} {
		f, err := l.face(bold)
		if err != nil {
			return nil, 0, err
		}
		if i, err := f.GlyphIndex(&l.buf, r); err == nil && i != 0 {
			return f, i, nil
		}
	}
	for n := 0; ; n++ {
		for n == len(l.found) && len(l.more) > 0 {
			l.open(l.more[0])
			l.more = l.more[1:]
		}
		if n == len(l.found) {
			return nil, 0, ErrGlyph
		}
		if i, err := l.found[n].GlyphIndex(&l.buf, r); err == nil && i != 0 {
			return l.found[n], i, nil
		}
	}
}

// open takes in a file, if it is there and a font.
func (l *letters) open(name string) {
	file, err := os.Open(name)
	if err != nil {
		return
	}
	l.files = append(l.files, file)
	all, err := sfnt.ParseCollectionReaderAt(file)
	if err != nil {
		return
	}
	// Of Noto's collection and Apple's the third is that of simplified Chinese.
	if f, err := all.Font(min(2, all.NumFonts()-1)); err == nil {
		l.found = append(l.found, f)
	}
}

// text draws a letter and the accents that stand over it.
func (c *canvas) text(cell Cell, at image.Rectangle, ink color.RGBA, width int) error {
	for i, r := range cell.Text {
		f, glyph, err := c.letters.font(r, cell.Bold)
		if err == nil {
			err = c.glyph(f, glyph, cell, at, ink, width)
		}
		if c.letters.boxes && i > 0 || c.letters.boxes && unicode.Is(unicode.Cf, r) { // the letter stands for all of it
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// glyph draws one glyph in a cell: on its line, in the middle of its columns, and not beyond them.
func (c *canvas) glyph(f *sfnt.Font, glyph sfnt.GlyphIndex, cell Cell, at image.Rectangle, ink color.RGBA, width int) error {
	em := float64(width) / advance
	base := (float64(at.Dy())-(above+below)*em)/2 + above*em
	if f != c.letters.faces[0] && f != c.letters.faces[1] {
		em = float64(width) * 1.8 // a Chinese letter is as wide as it is high
	}
	wide, err := f.GlyphAdvance(&c.letters.buf, glyph, fixed26(em), font.HintingNone)
	if err != nil {
		return ErrGlyph
	}
	if w := float(wide); w > float64(at.Dx()) {
		em *= float64(at.Dx()) / w
		wide = fixed26(float64(at.Dx()))
	}
	segments, err := f.LoadGlyph(&c.letters.buf, glyph, fixed26(em), nil)
	if err != nil { // a picture, not an outline
		return ErrGlyph
	}
	x := (float64(at.Dx()) - float(wide)) / 2
	point := func(p fixed.Point26_6) (float32, float32) {
		px, py := float(p.X), float(p.Y)
		if cell.Italic {
			px -= slant * (py + em/3)
		}
		return float32(x + px), float32(math.Round(base) + py)
	}
	c.shape.Reset(at.Dx(), at.Dy())
	for _, s := range segments {
		x0, y0 := point(s.Args[0])
		x1, y1 := point(s.Args[1])
		x2, y2 := point(s.Args[2])
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			c.shape.ClosePath()
			c.shape.MoveTo(x0, y0)
		case sfnt.SegmentOpLineTo:
			c.shape.LineTo(x0, y0)
		case sfnt.SegmentOpQuadTo:
			c.shape.QuadTo(x0, y0, x1, y1)
		case sfnt.SegmentOpCubeTo:
			c.shape.CubeTo(x0, y0, x1, y1, x2, y2)
		}
	}
	c.shape.ClosePath()
	c.shape.Draw(c.image, at, image.NewUniform(ink), image.Point{})
	return nil
}

func fixed26(f float64) fixed.Int26_6 { return fixed.Int26_6(f * 64) }

func float(f fixed.Int26_6) float64 { return float64(f) / 64 }
