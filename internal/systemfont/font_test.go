package systemfont

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testFont returns one of the fonts of package fonttest, which imports this one.
func testFont(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("fonttest", "fonts", name))
	require.NoError(t, err)
	return data
}

func readAll(data []byte, letters string) (map[rune]Glyph, error) {
	return Read(bytes.NewReader(data), int64(len(data)), []rune(letters), 32)
}

// TestOutlinesAreWhole compares them with those that the library reads from the whole font.
func TestOutlinesAreWhole(t *testing.T) {
	for name, letters := range map[string]string{"outlines.ttf": "中文语한국어é", "collection.ttc": "骨한"} {
		found, err := readAll(testFont(t, name), letters)
		require.NoError(t, err)
		assert.Len(t, found, len([]rune(letters)))
		faces, err := font.ParseTTC(bytes.NewReader(testFont(t, name)))
		require.NoError(t, err)
		whole := faces[min(face, len(faces)-1)]
		for _, r := range letters {
			gid, ok := whole.NominalGlyph(r)
			require.True(t, ok)
			outline, ok := whole.GlyphDataOutline(gid)
			require.True(t, ok)
			want, ok := scaled(outline.Segments, float32(whole.Upem()))
			require.True(t, ok)
			assert.Equal(t, want, found[r].Outline, "%c of %s", r, name)
			assert.InDelta(t, whole.HorizontalAdvance(gid)/float32(whole.Upem()), found[r].Advance, 1e-6)
		}
	}
}

// TestCollectionHasSimplifiedForms of characters that Chinese and Japanese write differently.
func TestCollectionHasSimplifiedForms(t *testing.T) {
	data := testFont(t, "collection.ttc")
	found, err := readAll(data, "骨")
	require.NoError(t, err)
	for n, same := range []bool{0: false, 1: false, 2: true} {
		one := bytes.Clone(data)
		binary.BigEndian.PutUint32(one[8:], 1) // a collection of this face alone
		copy(one[12:16], data[12+4*n:])
		alone, err := readAll(one, "骨")
		require.NoError(t, err)
		assert.Equal(t, same, assert.ObjectsAreEqual(alone, found), "face %d", n)
	}
}

// TestUnalignedTables: WenQuanYi's fonts have tables at odd offsets.
func TestUnalignedTables(t *testing.T) {
	data := testFont(t, "outlines.ttf")
	want, err := readAll(data, "中한")
	require.NoError(t, err)
	n := int(binary.BigEndian.Uint16(data[4:]))
	head := bytes.Clone(data[:12+16*n])
	for i := range n {
		at := head[12+16*i+8:]
		binary.BigEndian.PutUint32(at, binary.BigEndian.Uint32(at)+1)
	}
	found, err := readAll(append(append(head, 0), data[len(head):]...), "中한")
	require.NoError(t, err)
	assert.Len(t, found, 2)
	assert.Equal(t, want, found)
}

func TestEmojiHaveColours(t *testing.T) {
	found, err := readAll(testFont(t, "emoji.ttf"), "🙂🚀中")
	require.NoError(t, err)
	require.Len(t, found, 2)
	img := found['🙂'].Bitmap
	require.NotNil(t, img)
	assert.Equal(t, 32, img.Bounds().Dy())
	r, g, b, a := img.At(img.Bounds().Dx()/2, 6).RGBA()
	assert.Greater(t, r, b+0x4000, "yellow")
	assert.Greater(t, g, b+0x4000, "yellow")
	assert.Equal(t, uint32(0xFFFF), a)
}

func TestMissingCharacters(t *testing.T) {
	found, err := readAll(testFont(t, "outlines.ttf"), "骨\U000F1234\x00")
	require.NoError(t, err)
	assert.Empty(t, found)
}

// TestDamagedFonts have no glyphs, and end nothing.
func TestDamagedFonts(t *testing.T) {
	outlines, collection, emoji := testFont(t, "outlines.ttf"), testFont(t, "collection.ttc"), testFont(t, "emoji.ttf")
	set := func(data []byte, at int, value ...byte) []byte {
		data = bytes.Clone(data)
		copy(data[at:], value)
		return data
	}
	table := func(data []byte, tag string) int { return bytes.Index(data[:400], []byte(tag)) }
	for name, data := range map[string][]byte{
		"empty":                        nil,
		"text":                         []byte("no font at all, but a text"),
		"a header alone":               outlines[:12],
		"a cut list of tables":         outlines[:100],
		"a cut file":                   outlines[:len(outlines)/2],
		"a table beyond the end":       set(outlines, table(outlines, "cmap")+8, 0x7F, 0xFF, 0xFF, 0xFF),
		"a table of 4 GB":              set(outlines, table(outlines, "cmap")+12, 0xFF, 0xFF, 0xFF, 0xFF),
		"outlines beyond the end":      set(outlines, table(outlines, "glyf")+8, 0x7F, 0xFF, 0xFF, 0xFF),
		"65,535 tables":                set(outlines, 4, 0xFF, 0xFF),
		"no face":                      set(collection, 8, 0, 0, 0, 0),
		"4 billion faces":              set(collection, 8, 0xFF, 0xFF, 0xFF, 0xFF),
		"a face beyond the end":        set(collection, 12+4*face, 0xFF, 0xFF, 0xFF, 0xFF),
		"a collection in a collection": set(collection, 12+4*face, 0, 0, 0, 0),
		"a bitmap of 65,535 columns":   wide(emoji),
	} {
		found, _ := readAll(data, "中한骨🙂")
		for r, g := range found {
			assert.True(t, g.Empty(), "%s: %c", name, r)
		}
	}
	large := set(emoji, table(emoji, "CBDT")+12, 0xFF, 0xFF, 0xFF, 0xFF)
	d, err := readDirectory(bytes.NewReader(large), int64(len(large)))
	require.NoError(t, err)
	assert.NotContains(t, d.tables, "CBDT", "the reader would make room for 4 GB")
	large = append(set(outlines, table(outlines, "cmap")+12, 0, maxSmall>>16, 0, 1), make([]byte, maxSmall)...)
	d, err = readDirectory(bytes.NewReader(large), int64(len(large)))
	require.NoError(t, err)
	assert.NotContains(t, d.tables, "cmap", "a small table with more than 1 MB")
	_, err = Read(bytes.NewReader(outlines), maxFile+1, []rune("中"), 32)
	require.Error(t, err, "a large file")
}

// wide is a font of emoji whose bitmaps say that they have 65,535 columns.
func wide(data []byte) []byte {
	data = bytes.Clone(data)
	for rest := data; ; {
		at := bytes.Index(rest, []byte("IHDR"))
		if at < 0 {
			return data
		}
		rest = rest[at:]
		binary.BigEndian.PutUint32(rest[4:], 65_535)
		binary.BigEndian.PutUint32(rest[17:], crc32.ChecksumIEEE(rest[:17]))
		rest = rest[17:]
	}
}

// panics is a file in whose parser a mistake is.
type panics struct{ *bytes.Reader }

func (panics) ReadAt([]byte, int64) (int, error) { panic("index out of range") }

func TestPanicIsAnError(t *testing.T) {
	found, err := Read(panics{}, 1000, []rune("中"), 32)
	require.ErrorContains(t, err, "panic: index out of range")
	assert.Empty(t, found)
}

func TestBitmapLimits(t *testing.T) {
	for size, want := range map[image.Point]bool{{136, 128}: true, {maxBitmap, maxBitmap}: true, {maxBitmap + 1, maxBitmap}: false, {64, 32}: true, {65, 32}: false, {8, maxBitmap + 1}: false} {
		var data bytes.Buffer
		require.NoError(t, png.Encode(&data, image.NewGray(image.Rectangle{Max: size})))
		img, ok := bitmap(data.Bytes(), 32)
		assert.Equal(t, want, ok, size)
		if ok {
			assert.Equal(t, image.Pt(32*size.X/size.Y, 32), img.Bounds().Size())
		}
	}
	_, ok := bitmap([]byte("no picture"), 32)
	assert.False(t, ok)
}

func TestOutlineLimits(t *testing.T) {
	point := func(x, y float32) []opentype.Segment {
		return []opentype.Segment{{Args: [3]opentype.SegmentPoint{{X: x, Y: y}}}}
	}
	for name, segments := range map[string][]opentype.Segment{
		"far to the right": point(17_000, 0), "far up": point(0, 17_000), "far down": point(0, -17_000),
		"no number": point(float32(math.NaN()), 0), "many segments": make([]opentype.Segment, maxSegments+1),
	} {
		_, ok := scaled(segments, 1000)
		assert.False(t, ok, name)
	}
	segments, ok := scaled(point(500, 250), 1000)
	assert.True(t, ok)
	assert.Equal(t, point(.5, -.25), segments)
}

// TestCompositeLimits: parts that contain each other, or that multiply, are not unpacked.
func TestCompositeLimits(t *testing.T) {
	composite := func(parts ...uint16) []byte {
		data := []byte{0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0}
		for i, part := range parts {
			more := uint16(0)
			if i+1 < len(parts) {
				more = 0x20
			}
			data = binary.BigEndian.AppendUint16(data, more)
			data = append(binary.BigEndian.AppendUint16(data, part), 0, 0)
		}
		return data
	}
	kept := func(glyphs ...[]byte) map[uint16][]byte {
		o := outlines{kept: make(map[uint16][]byte), loca: []uint32{0}}
		for _, g := range glyphs {
			o.data = append(o.data, g...)
			o.loca = append(o.loca, uint32(len(o.data)))
		}
		room := maxParts
		o.keep(0, &room)
		return o.kept
	}
	simple := []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	assert.Len(t, kept(composite(1, 2), simple, simple), 3)
	assert.NotContains(t, kept(composite(0, 0)), uint16(0), "itself")
	levels := [][]byte{}
	for n := range uint16(20) {
		levels = append(levels, composite(n+1, n+1, n+1, n+1))
	}
	assert.NotContains(t, kept(append(levels, simple)...), uint16(0), "4 to the power of 20 parts")
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"outlines.ttf", "collection.ttc", "emoji.ttf"} {
		f.Add(testFont(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		found, _ := readAll(data, "中文语한국어é骨🙂🚀")
		for r, g := range found {
			assert.LessOrEqual(t, len(g.Outline), maxSegments, string(r))
			for _, s := range g.Outline {
				for _, p := range s.Args {
					assert.Less(t, max(p.X, -p.X, p.Y, -p.Y), float32(maxReach), string(r))
				}
			}
			if g.Bitmap != nil {
				assert.Less(t, g.Bitmap.Bounds().Dx(), 32*maxBitmap+1)
				assert.Equal(t, image.Point{}, g.Bitmap.Bounds().Min)
			}
		}
	})
}
