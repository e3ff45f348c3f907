package capture

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/go-text/typesetting/font"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"ccbot/internal/cellpicture"
	"ccbot/internal/longtest"
	"ccbot/internal/programtest"
	"ccbot/internal/waittest"
)

// Sizes of the terminal in cells, larger than each recorded screen.
const (
	terminalColumns = 170
	terminalRows    = 60
)

// TestReadMatchesXterm: in each cell of the recorded screens xterm shows the letter,
// the colours and the style that Read gives. Xterm draws with our fonts and colours, without half
// tones. It tells no text, so a letter with its style is known by its shape: one shape for each, in
// all screens, and no two with the same one.
func TestReadMatchesXterm(t *testing.T) {
	longtest.Mark(t, "needs Xvfb and xterm")
	x := startXterm(t)
	shapes, letters := make(map[string]string), make(map[string]string)
	screens := recorded(t)
	screens["styles"] = styles()
	number := 0
	for _, name := range slices.Sorted(maps.Keys(screens)) {
		screen := screens[name]
		number++
		x.show(screen, color.RGBA{255, uint8(number), 3, 255})
		rows := Read(strings.TrimSuffix(screen, "\n"))
		require.LessOrEqual(t, len(rows), terminalRows, name)
		wrong := 0
		for y := range terminalRows {
			for column, cell := range columnsOf(rows, y) {
				if problem := x.compare(cell, column, y, shapes, letters); problem != "" && wrong < 10 {
					wrong++
					t.Errorf("%s, line %d, column %d, %+v: %s", name, y+1, column+1, cell, problem)
				}
			}
		}
	}
	require.Greater(t, len(shapes), 90)
}

// styles is a screen with what the recorded ones do not have.
func styles() string {
	var b strings.Builder
	for n := range 16 {
		fmt.Fprintf(&b, "\x1b[38;5;%dmxX%d\x1b[0m \x1b[48;5;%dmxX\x1b[0m ", n, n%10, n)
	}
	for n := range 8 {
		fmt.Fprintf(&b, "\n\x1b[%dmA\x1b[%dmB\x1b[0;%dmC\x1b[%dmD\x1b[0m", 30+n, 90+n, 40+n, 100+n)
	}
	for _, n := range []int{1, 2, 3, 4, 7, 8, 9} {
		fmt.Fprintf(&b, "\n\x1b[%dmxX \x1b[31mxX\x1b[44mxX\x1b[0m", n)
	}
	b.WriteString("\n\x1b[38;2;200;100;50;48;2;10;60;20mxX\x1b[1;4mxX\x1b[22;24;39mxX\x1b[m xX e\u0301x ─│┌█▀▄⣿x\n")
	for n := 16; n < 256; n += 5 {
		fmt.Fprintf(&b, "\x1b[48;5;%dmx\x1b[38;5;%dmX", n, 271-n)
	}
	return b.String() + "\x1b[0m"
}

// columnsOf are the cells of a line by their columns, up to the terminal's width.
func columnsOf(rows [][]cellpicture.Cell, y int) map[int]cellpicture.Cell {
	all, column := make(map[int]cellpicture.Cell), 0
	if y < len(rows) {
		for _, c := range rows[y] {
			all[column] = c
			column++
			if c.Wide {
				column++
			}
		}
	}
	for ; column < terminalColumns; column++ {
		all[column] = cellpicture.Cell{Text: " ", Ink: Ink}
	}
	return all
}

// xterm is a terminal on an off-screen display.
type xterm struct {
	t      *testing.T
	frame  string // file of the screen
	in     *os.File
	font   *font.Face
	origin image.Point // of the first cell
	size   image.Point // of a cell
	pixels []byte
	stride int
}

func startXterm(t *testing.T) *xterm {
	t.Helper()
	programtest.Require(t, "Xvfb")
	programtest.Require(t, "xterm")
	dir := t.TempDir()
	packed, err := filepath.Glob("../cellpicture/fonts/*.ttf.gz")
	require.NoError(t, err)
	fonts := t.TempDir()
	for _, file := range packed {
		out := unpacked(t, file)
		require.NoError(t, os.WriteFile(filepath.Join(fonts, strings.TrimSuffix(filepath.Base(file), ".gz")), out, 0o600))
	}
	data, err := os.ReadFile(filepath.Join(fonts, "DejaVuSansMono.ttf"))
	require.NoError(t, err)
	mono, err := font.ParseTTF(bytes.NewReader(data))
	require.NoError(t, err)
	x := &xterm{t: t, frame: filepath.Join(dir, "Xvfb_screen0"), font: mono}
	// So wide that the pointer, which is in the middle, is outside the terminal, whose width is at most
	// half of that.
	display := x.run(dir, nil, "Xvfb", "-displayfd", "3", "-fbdir", dir, "-screen", "0", "4096x1700x24", "-nolisten", "tcp")
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	config := filepath.Join(dir, "fonts.conf")
	require.NoError(t, os.WriteFile(config, []byte(fontConfig(fonts, dir)), 0o600))
	args := []string{"-u8", "-b", "0", "-bw", "0", "+sb", "-geometry", fmt.Sprintf("%dx%d+0+0", terminalColumns, terminalRows),
		"-fa", "DejaVu Sans Mono", "-fs", "13", "-fg", hex(Ink), "-bg", hex(Paper), "-xrm", "*boldColors: false", "-xrm", "*scaleHeight: 1.2"}
	for i, c := range theme {
		args = append(args, "-xrm", fmt.Sprintf("*color%d: %s", i, hex(c)))
	}
	x.run(dir, []string{"DISPLAY=:" + display, "FONTCONFIG_FILE=" + config}, "xterm", append(args, "-e", "cat", pipe)...)
	x.in, err = os.OpenFile(pipe, os.O_RDWR, 0) // also for reading, so as not to wait for xterm
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, x.in.Close()) })
	x.measure()
	return x
}

// unpacked returns the content of a gzip file.
func unpacked(t *testing.T, file string) []byte {
	t.Helper()
	packed, err := os.Open(file)
	require.NoError(t, err)
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	require.NoError(t, err)
	data, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	return data
}

// run starts a program, which ends with the test, and returns its output to descriptor 3.
func (x *xterm) run(dir string, env []string, name string, args ...string) (said string) {
	x.t.Helper()
	read, write, err := os.Pipe()
	require.NoError(x.t, err)
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = append(env, "PATH="+os.Getenv("PATH"), "HOME="+dir, "LC_ALL=C.UTF-8"), dir
	cmd.ExtraFiles = []*os.File{write}
	require.NoError(x.t, cmd.Start())
	x.t.Cleanup(func() {
		assert.NoError(x.t, cmd.Process.Signal(syscall.SIGTERM))
		_ = cmd.Wait()
		assert.NoError(x.t, read.Close())
	})
	require.NoError(x.t, write.Close())
	if name == "Xvfb" {
		_, err = fmt.Fscanln(read, &said)
		require.NoError(x.t, err)
	}
	return said
}

// fontConfig names our fonts only, without half tones, and makes the italic ones that we lean
// ourselves.
func fontConfig(fonts, dir string) string {
	var escaped strings.Builder
	_ = xml.EscapeText(&escaped, []byte(fonts))
	return `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>` + escaped.String() + `</dir><cachedir>` + dir + `</cachedir>
<match target="font"><edit name="antialias" mode="assign"><bool>false</bool></edit></match>
<match target="font"><test name="slant"><const>roman</const></test><test target="pattern" name="slant" compare="not_eq"><const>roman</const></test>
<edit name="matrix" mode="assign"><times><name>matrix</name><matrix><double>1</double><double>0.1</double><double>0</double><double>1</double></matrix></times></edit></match>
</fontconfig>`
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// show lets xterm show a screen, and waits for a last mark in a colour that nothing else has.
func (x *xterm) show(screen string, mark color.RGBA) {
	x.t.Helper()
	_, err := fmt.Fprintf(x.in, "\x1b[0m\x1b[?25l\x1b[H\x1b[2J\x1b[3J%s\x1b[0m\x1b[%d;%dH\x1b[48;2;%d;%d;%dm \x1b[0m",
		strings.TrimSuffix(screen, "\n"), terminalRows, terminalColumns+1, mark.R, mark.G, mark.B)
	require.NoError(x.t, err)
	waittest.Until(x.t, func() bool { return x.look() && x.bounds(mark) != image.Rectangle{} })
	x.look() // all of it was drawn before the mark
}

// measure finds the cells.
func (x *xterm) measure() {
	x.t.Helper()
	first, last := color.RGBA{250, 1, 2, 255}, color.RGBA{250, 1, 3, 255}
	x.show(fmt.Sprintf("\x1b[48;2;%d;%d;%dm ", first.R, first.G, first.B), last)
	at, end := x.bounds(first), x.bounds(last)
	x.origin, x.size = at.Min, at.Size()
	require.Equal(x.t, at.Min.Add(image.Pt(x.size.X*terminalColumns, x.size.Y*terminalRows)), end.Max)
}

// look reads the screen: an X window dump, whose header is in numbers of 32 bits.
func (x *xterm) look() bool {
	data, err := os.ReadFile(x.frame)
	require.NoError(x.t, err)
	number := func(i int) int { return int(binary.BigEndian.Uint32(data[4*i:])) }
	require.Equal(x.t, 32, number(11), "bits of a pixel")
	x.stride = number(12)
	x.pixels = data[number(0)+12*number(19):]
	return len(x.pixels) >= x.stride*number(5)
}

// line returns pixels of one line, four bytes each.
func (x *xterm) line(from image.Point, width int) []byte {
	return x.pixels[from.Y*x.stride+4*from.X:][:4*width]
}

// bounds returns the area that has a colour. It searches whole lines, because reading millions of
// single pixels takes seconds with the race detector.
func (x *xterm) bounds(c color.RGBA) (found image.Rectangle) {
	for y := range len(x.pixels) / x.stride {
		line := x.line(image.Pt(0, y), x.stride/4)
		for at := 0; ; {
			i := bytes.Index(line[at:], []byte{c.B, c.G, c.R})
			if i < 0 {
				break
			}
			if at += i; at%4 == 0 {
				found = found.Union(image.Rect(at/4, y, at/4+1, y+1))
			}
			at++
		}
	}
	return found
}

// compare describes how xterm's cell differs from the cell that was read.
func (x *xterm) compare(c cellpicture.Cell, column, row int, shapes, letters map[string]string) (problem string) {
	paper, ink := c.Paper, color.RGBA{}
	if paper == (color.RGBA{}) {
		paper = Paper
	}
	width := x.size.X
	if c.Wide {
		width *= 2
	}
	shape := make([]byte, 0, width*x.size.Y)
	blank := bytes.Repeat([]byte{paper.B, paper.G, paper.R, 0}, width-2)
	for y := 1; y < x.size.Y-1; y++ { // a letter may reach a little into the next cell
		line := x.line(x.origin.Add(image.Pt(column*x.size.X+1, row*x.size.Y+y)), width-2)
		if bytes.Equal(line, blank) {
			shape = append(shape, strings.Repeat(" ", width-2)...)
			continue
		}
		for ; len(line) > 0; line = line[4:] {
			switch p := (color.RGBA{line[2], line[1], line[0], 255}); {
			case p == paper:
				shape = append(shape, ' ')
			case ink == (color.RGBA{}) || p == ink:
				ink = p
				shape = append(shape, '#')
			default:
				return fmt.Sprintf("it has the colours %v and %v on %v", ink, p, paper)
			}
		}
	}
	if row == terminalRows-1 && column == terminalColumns-1 {
		return "" // the mark
	}
	if ink != (color.RGBA{}) && !inkOf(c, ink, paper) {
		return fmt.Sprintf("its ink is %v", ink)
	}
	r := []rune(c.Text)[0]
	_, hasGlyph := x.font.NominalGlyph(r)
	if !hasGlyph && r != ' ' {
		return "" // our font does not have it
	}
	if strings.TrimSpace(c.Text) == "" {
		c.Text, c.Bold, c.Italic = " ", false, false
	}
	letter := fmt.Sprintf("%s bold %t italic %t underline %t strike %t", norm.NFC.String(c.Text), c.Bold, c.Italic, c.Underline, c.Strike)
	if other, ok := shapes[letter]; ok && other != string(shape) {
		return "it has another shape than elsewhere"
	}
	shapes[letter] = string(shape)
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) { // not for a bold "_"
		return ""
	}
	if other, ok := letters[string(shape)]; ok && other != letter {
		return "it has the shape of " + other
	}
	letters[string(shape)] = letter
	return ""
}

// inkOf reports whether xterm's ink matches a cell's. Xterm takes a third from dim ink, and
// unreadable ink is replaced by ccbot.
func inkOf(c cellpicture.Cell, ink, paper color.RGBA) bool {
	if c.Ink == ink || c.Ink == readable(ink, paper) {
		return true
	}
	whole := func(v uint8) uint8 { return uint8(min(255, (int(v)*3+1)/2)) }
	dim := between(readable(color.RGBA{whole(ink.R), whole(ink.G), whole(ink.B), 255}, paper), paper)
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 2 }
	return near(dim.R, c.Ink.R) && near(dim.G, c.Ink.G) && near(dim.B, c.Ink.B)
}
