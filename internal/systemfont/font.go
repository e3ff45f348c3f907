package systemfont

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"slices"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/font/opentype/tables"
	"golang.org/x/image/draw"

	"ccbot/internal/guard"
)

const (
	maxFaces    = 64  // of a collection
	maxTables   = 128 // of a face
	maxSmall    = 1 << 20
	maxLetters  = 8_192  // that one call looks for, also in several files
	maxParts    = 64     // glyphs that a composite glyph is made of
	maxSegments = 10_000 // of an outline
	maxReach    = 16     // of an outline, in ems from its origin
	maxBitmap   = 512    // pixels, of each side
	maxAspect   = 2      // the width of a bitmap is at most its height times maxAspect
)

// face of a collection that is used, or the last one. In Noto's and Apple's collections it has the
// simplified Chinese forms.
const face = 2

// needed are the tables that are read, and whether one may be larger than maxSmall. Those for
// shaping, hints, names, SVG, and bitmaps without colours are left out.
var needed = map[string]bool{"cmap": false, "head": false, "maxp": false, "hhea": false, "hmtx": false, "fvar": false,
	"loca": false, "glyf": true, "CFF ": true, "CFF2": true, "CBLC": false, "CBDT": true}

var errDamaged = errors.New("the font is damaged")

// Glyph is the shape of a character.
type Glyph struct {
	Outline []opentype.Segment // in ems from the origin of the line, y grows downwards
	Advance float32            // the width in ems
	Bitmap  image.Image        // of an emoji; it has no Outline
}

// Empty reports whether the glyph draws nothing.
func (g Glyph) Empty() bool { return len(g.Outline) == 0 && g.Bitmap == nil }

// Read returns the glyphs that a font file has of some characters. A bitmap is scaled to a height
// in pixels.
func Read(file io.ReaderAt, size int64, letters []rune, pixels int) (found map[rune]Glyph, err error) {
	letters = letters[:min(len(letters), maxLetters)]
	err = guard.Call(func() error {
		found, err = read(file, size, letters, pixels)
		return err
	})
	return found, err
}

func read(file io.ReaderAt, size int64, letters []rune, pixels int) (map[rune]Glyph, error) {
	d, err := readDirectory(file, size)
	if err != nil {
		return nil, err
	}
	gids, err := d.lookUp(letters)
	if err != nil || len(gids) == 0 {
		return nil, err
	}
	if err := d.pick(gids); err != nil {
		return nil, err
	}
	loader, err := opentype.NewLoader(d.resource())
	if err != nil {
		return nil, err
	}
	f, err := font.NewFont(loader)
	if err != nil {
		return nil, err
	}
	found, one := make(map[rune]Glyph, len(gids)), font.NewFace(f)
	for r, gid := range gids {
		if g, ok := glyph(one, gid, pixels); ok {
			found[r] = g
		}
	}
	return found, nil
}

// directory holds the places of the tables of a face.
type directory struct {
	file   io.ReaderAt
	size   int64 // of the file
	flavor uint32
	tables map[string]section
	// tables that replace tables of the file; they are addressed as if they followed the file
	added []byte
}

type section struct{ offset, length uint32 }

// readDirectory reads the header of a font, or of one face of a collection.
func readDirectory(file io.ReaderAt, size int64) (*directory, error) {
	if size > maxFile {
		return nil, fmt.Errorf("the font has more than %d bytes", maxFile)
	}
	d := &directory{file: file, size: size, tables: make(map[string]section)}
	head, err := d.bytes(section{0, 12})
	if err != nil {
		return nil, err
	}
	var start uint32
	if string(head[:4]) == "ttcf" {
		n := binary.BigEndian.Uint32(head[8:])
		if n == 0 || n > maxFaces {
			return nil, errDamaged
		}
		at, err := d.bytes(section{12 + 4*min(face, n-1), 4})
		if err != nil {
			return nil, err
		}
		start = binary.BigEndian.Uint32(at)
		if head, err = d.bytes(section{start, 12}); err != nil {
			return nil, err
		}
	}
	d.flavor = binary.BigEndian.Uint32(head)
	n := uint32(binary.BigEndian.Uint16(head[4:]))
	if n > maxTables || start > maxFile {
		return nil, errDamaged
	}
	list, err := d.bytes(section{start + 12, 16 * n})
	for entry := range slices.Chunk(list, 16) {
		s := section{binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])}
		large, ok := needed[string(entry[:4])]
		if ok && d.holds(s) && (large || s.length <= maxSmall) {
			d.tables[string(entry[:4])] = s
		}
	}
	return d, err
}

func (d *directory) holds(s section) bool { return int64(s.offset)+int64(s.length) <= d.size }

func (d *directory) bytes(s section) ([]byte, error) {
	if !d.holds(s) {
		return nil, errDamaged
	}
	data := make([]byte, s.length)
	_, err := d.file.ReadAt(data, int64(s.offset))
	return data, err
}

// lookUp returns the numbers of the glyphs of characters.
func (d *directory) lookUp(letters []rune) (map[rune]font.GID, error) {
	raw, err := d.bytes(d.tables["cmap"])
	if err != nil {
		return nil, err
	}
	table, _, err := tables.ParseCmap(raw)
	if err != nil {
		return nil, err
	}
	cmap, _, err := font.ProcessCmap(table, tables.FPNone)
	if err != nil {
		return nil, err
	}
	gids := make(map[rune]font.GID)
	for _, r := range letters {
		if gid, ok := cmap.Lookup(r); ok && gid != 0 {
			gids[r] = gid
		}
	}
	return gids, nil
}

// pick replaces the outlines of a TrueType font by those of some glyphs and of the parts of these:
// the reader unpacks all outlines that it gets, which takes 38 MB of memory for WenQuanYi Zen Hei.
func (d *directory) pick(gids map[rune]font.GID) error {
	if _, ok := d.tables["glyf"]; !ok {
		return nil
	}
	all := make(map[string][]byte)
	for _, tag := range []string{"glyf", "loca", "head", "maxp"} {
		var err error
		if all[tag], err = d.bytes(d.tables[tag]); err != nil {
			return err
		}
	}
	head, maxp := all["head"], all["maxp"]
	if len(head) < 54 || len(maxp) < 6 {
		return errDamaged
	}
	loca, err := tables.ParseLoca(all["loca"], int(binary.BigEndian.Uint16(maxp[4:])), head[51] != 0)
	if err != nil {
		return err
	}
	o := outlines{data: all["glyf"], loca: loca, kept: make(map[uint16][]byte)}
	for _, gid := range gids {
		room := maxParts
		o.keep(uint16(gid), &room) //nolint:gosec // the loca table has at most 65,536 glyphs
	}
	head[51] = 1 // offsets have 32 bits
	d.replace("head", head)
	kept, offsets := o.tables()
	d.replace("glyf", kept)
	d.replace("loca", offsets)
	return nil
}

// replace adds a table that stands for one of the file.
func (d *directory) replace(tag string, data []byte) {
	d.tables[tag] = section{uint32(d.size) + uint32(len(d.added)), uint32(len(data))} //nolint:gosec // both are at most maxFile
	d.added = append(d.added, data...)
}

// resource is the font with its needed tables alone.
func (d *directory) resource() opentype.Resource {
	head := binary.BigEndian.AppendUint32(nil, d.flavor)
	head = binary.BigEndian.AppendUint16(head, uint16(len(d.tables))) //nolint:gosec // at most len(needed)
	head = append(head, make([]byte, 6)...)                           // for a binary search
	for tag, s := range d.tables {
		head = append(append(head, tag...), 0, 0, 0, 0) // no checksum
		head = binary.BigEndian.AppendUint32(head, s.offset)
		head = binary.BigEndian.AppendUint32(head, s.length)
	}
	return &resource{bytes.NewReader(head), d}
}

// resource reads the header from memory and the tables, which the reader takes by ReadAt, from the
// file.
type resource struct {
	*bytes.Reader
	d *directory
}

func (r *resource) ReadAt(p []byte, at int64) (int, error) {
	if at >= r.d.size {
		return bytes.NewReader(r.d.added).ReadAt(p, at-r.d.size)
	}
	return r.d.file.ReadAt(p, at)
}

// outlines are the glyf and loca tables of a font.
type outlines struct {
	data []byte
	loca []uint32
	kept map[uint16][]byte
}

// keep keeps a glyph and, if it is a composite one, its parts. A glyph that has more parts than
// room is kept without outline.
func (o *outlines) keep(gid uint16, room *int) {
	if *room--; *room < 0 || int(gid)+1 >= len(o.loca) {
		return
	}
	start, end := o.loca[gid], o.loca[gid+1]
	if start > end || int(end) > len(o.data) {
		return
	}
	parsed, _, err := tables.ParseGlyph(o.data[start:end])
	if err != nil {
		return
	}
	if parts, ok := parsed.Data.(tables.CompositeGlyph); ok {
		for _, part := range parts.Glyphs {
			o.keep(part.GlyphIndex, room)
		}
		if *room < 0 {
			return
		}
	}
	o.kept[gid] = o.data[start:end]
}

// tables returns a glyf and a loca table of the kept glyphs; all others are empty.
func (o *outlines) tables() (glyf, loca []byte) {
	for gid := range o.loca {
		loca = binary.BigEndian.AppendUint32(loca, uint32(len(glyf))) //nolint:gosec // at most maxFile
		if gid+1 < len(o.loca) {
			glyf = append(glyf, o.kept[uint16(gid)]...) //nolint:gosec // as above
		}
	}
	return glyf, loca
}

// glyph returns the glyph of a number; false if it is damaged or has nothing that can be drawn.
func glyph(f *font.Face, gid font.GID, pixels int) (g Glyph, ok bool) {
	em := float32(f.Upem())
	g.Advance = f.HorizontalAdvance(gid) / em
	outline, hasOutline := f.GlyphDataOutline(gid)
	if hasOutline && len(outline.Segments) > 0 {
		g.Outline, ok = scaled(outline.Segments, em)
		return g, ok && g.Advance >= 0 && g.Advance <= maxReach
	}
	if b, is := f.GlyphDataBitmap(gid); is && b.Format == font.PNG {
		g.Bitmap, ok = bitmap(b.Data, pixels)
		return g, ok
	}
	return g, hasOutline
}

// scaled returns an outline in ems with y growing downwards; false if it is too large.
func scaled(segments []opentype.Segment, em float32) ([]opentype.Segment, bool) {
	if len(segments) > maxSegments {
		return nil, false
	}
	for i := range segments {
		for j := range segments[i].Args {
			p := &segments[i].Args[j]
			p.X, p.Y = p.X/em, -p.Y/em
			// NaN as well
			if !(p.X > -maxReach && p.X < maxReach && p.Y > -maxReach && p.Y < maxReach) {
				return nil, false
			}
		}
	}
	return segments, true
}

// bitmap returns a picture with the given height; false if it is damaged or too large.
func bitmap(data []byte, height int) (image.Image, bool) {
	config, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || config.Width < 1 || config.Height < 1 || config.Width > maxBitmap ||
		config.Height > maxBitmap || config.Width > maxAspect*config.Height {
		return nil, false
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
	out := image.NewRGBA(image.Rect(0, 0, max(height*config.Width/config.Height, 1), height))
	draw.CatmullRom.Scale(out, out.Bounds(), img, img.Bounds(), draw.Src, nil)
	return out, true
}
