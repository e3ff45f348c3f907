//go:build pictures

package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/capture"
	"ccbot/internal/cellpicture"
	"ccbot/internal/programtest"
	"ccbot/internal/systemfont"
	"ccbot/try/botapi/pagetest"
	story "ccbot/try/demoagent/script"
	"ccbot/try/privatetmux"
)

// The animation: a terminal of these cells on the left, a phone of this size on the right, what happens below.
var (
	terminalCells = image.Pt(64, 24)
	terminalGrid  = cellpicture.Grid{Width: 10, Height: 21, Margin: 12}
	captionGrid   = cellpicture.Grid{Width: 11, Height: 24, Margin: 14}
	animated      = pagetest.Look{Width: 356, Height: int64(terminalGrid.Size(terminalCells.X, terminalCells.Y).Y), Scale: 1, Dark: true}
	captionInk    = color.RGBA{0xff, 0xff, 0xff, 0xff}
	captionPaper  = color.RGBA{0x24, 0x3b, 0x55, 0xff}
)

const (
	largestAnimation = 2 << 20
	shortest         = 12 * time.Second
	longest          = 20 * time.Second
	longestFrame     = 2 * time.Second // a picture in which nothing changes
	betweenFrames    = 150 * time.Millisecond
	centisecond      = 10 * time.Millisecond // the unit of a GIF
	paletteSize      = 256                   // of a GIF, with the transparent colour
)

// frame is what is seen from a time on.
type frame struct {
	at  time.Duration
	all *image.RGBA
}

// film records a story that plays in another process.
type film struct {
	t        *testing.T
	page     *pagetest.Page
	terminal func() string // the screen of a terminal that is attached to the story's tmux
	began    time.Time
	frames   []frame
	stills   []string // made so far

	mu             sync.Mutex // guards what follows
	headline, fact string     // the part that is played, and what the story has seen of it from outside
	said           strings.Builder
}

// TestPicturesOfStory makes the animation and the stills of `ccbot try --story`, and keeps what was said in them beside them, so that
// TestStory knows when they are stale.
func TestPicturesOfStory(t *testing.T) {
	pagetest.Browser(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "ccbot"), "try", "--story")
	home, err := os.MkdirTemp("", "ana") // a short one: it is in the pictures
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(home)) })
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	f := &film{t: t, began: time.Now()}
	url, socket := f.greeted(lines)
	f.page = pagetest.OpenURL(t, url, animated)
	f.terminal = attached(t, socket)
	played := make(chan struct{})
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		f.listen(lines, played)
	}()
	for f.plays(played) {
		f.look()
	}
	assert.Len(t, f.stills, 2)
	assert.Empty(t, f.page.Problems(), "console errors")
	f.write()
	<-heard
	require.NoError(t, cmd.Wait())
	require.NoError(t, os.WriteFile(storyWords, []byte(storySaid(f.said.String())), 0o644)) //nolint:gosec // for everybody to read
}

// greeted reads the addresses of the chat and of the tmux server.
func (f *film) greeted(lines *bufio.Scanner) (url, socket string) {
	for lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "in a browser:"); ok {
			url = strings.TrimSpace(after)
		}
		if m := regexp.MustCompile(`tmux -L (\S+) attach`).FindStringSubmatch(lines.Text()); m != nil {
			return url, m[1]
		}
	}
	f.t.Fatal("the trial has not said where it is")
	return "", ""
}

// attached shows the windows of the story as a person's terminal does, which is a pane of a tmux server of its own.
func attached(t *testing.T, socket string) (screen func() string) {
	tmux, own := programtest.Require(t, "tmux"), "ccbot-pictures-"+uuid.NewString()[:8]
	run := func(args ...string) string {
		out, err := exec.Command(tmux, append([]string{"-L", own, "-f", os.DevNull}, args...)...).Output() //nolint:gosec // tmux
		require.NoError(t, err, args)
		return string(out)
	}
	t.Cleanup(func() { assert.NoError(t, privatetmux.End(context.Background(), own)) })
	run("new-session", "-d", "-x", fmt.Sprint(terminalCells.X), "-y", fmt.Sprint(terminalCells.Y),
		"while :; do TMUX= "+tmux+" -L "+socket+" set -g status-right '' ';' attach -t ccbot; clear; sleep 0.1; done 2>/dev/null", ";", "set", "status", "off")
	return func() string {
		_ = exec.Command(tmux, "-L", socket, "select-window", "-t", "=ccbot:=shop").Run() //nolint:gosec // tmux; there is none before and after
		return run("capture-pane", "-p", "-e")
	}
}

// listen keeps what the story says, and which part of it is played. It closes played after the last one.
func (f *film) listen(lines *bufio.Scanner, played chan struct{}) {
	for lines.Scan() {
		f.mu.Lock()
		f.said.WriteString(lines.Text() + "\n")
		switch text := strings.TrimSpace(lines.Text()); {
		case strings.HasPrefix(text, "you:") || strings.HasPrefix(text, "ccbot:") || !strings.HasPrefix(lines.Text(), "  "):
		case strings.HasPrefix(text, "Each step was seen"):
			close(played)
		case strings.HasPrefix(lines.Text(), "   "):
			f.fact = text
		default:
			f.headline, f.fact = text, ""
		}
		f.mu.Unlock()
	}
}

// plays says whether the story still plays, once the time for a frame has passed.
func (f *film) plays(played chan struct{}) bool {
	select {
	case <-played:
		return false
	case <-time.After(betweenFrames):
		return true
	}
}

// look takes a frame if something has changed.
func (f *film) look() {
	f.mu.Lock()
	headline, fact := f.headline, f.fact
	f.mu.Unlock()
	if headline == "" || pagetest.Value[bool](f.page, `document.body.innerText.includes("connecting…")`) {
		return
	}
	all := f.composed(headline, fact)
	if n := len(f.frames); n == 0 || !bytes.Equal(f.frames[n-1].all.Pix, all.Pix) {
		f.frames = append(f.frames, frame{time.Since(f.began), all})
	}
	f.still("phone", phone, story.StoryPurpose, "All 42 tests pass.")
	f.still("desktop", desktop, "All 42 tests pass.", "Stop")
}

// still makes a picture the first time that the chat says the one thing and not the other.
func (f *film) still(name string, look pagetest.Look, says, not string) {
	chat := pagetest.Value[string](f.page, "document.body.innerText")
	if slices.Contains(f.stills, name) || !strings.Contains(chat, says) || strings.Contains(chat, not) {
		return
	}
	f.stills = append(f.stills, name)
	f.page.Look(look)
	writePicture(f.t, f.page, name)
	f.page.Look(animated)
}

// composed is the terminal, the phone and the caption in one picture.
func (f *film) composed(headline, fact string) *image.RGBA {
	terminal := f.drawn(cellpicture.Picture{Lines: capture.Read(f.terminal()), Ink: capture.Ink, Paper: capture.Paper,
		Grid: terminalGrid, Columns: terminalCells.X, Fonts: systemfont.System()})
	shot := pagetest.Call(f.page, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
	chat, err := png.Decode(bytes.NewReader(shot.Data))
	require.NoError(f.t, err)
	caption := f.drawn(cellpicture.Picture{Lines: [][]cellpicture.Cell{cellpicture.Line(headline, cellpicture.Cell{Bold: true}), cellpicture.Line(fact, cellpicture.Cell{})},
		Ink: captionInk, Paper: captionPaper, Grid: captionGrid})

	left := image.Rectangle{Max: terminalGrid.Size(terminalCells.X, terminalCells.Y)}
	right := image.Rect(left.Max.X, 0, left.Max.X+int(animated.Width), left.Max.Y)
	all := image.NewRGBA(image.Rect(0, 0, right.Max.X, left.Max.Y+caption.Bounds().Dy()))
	draw.Draw(all, all.Bounds(), image.NewUniform(captionPaper), image.Point{}, draw.Src)
	draw.Draw(all, left, image.NewUniform(capture.Paper), image.Point{}, draw.Src)
	draw.Draw(all, left, terminal, image.Point{}, draw.Src)
	draw.Draw(all, right, chat, image.Point{}, draw.Src)
	draw.Draw(all, caption.Bounds().Add(image.Pt(0, left.Max.Y)), caption, image.Point{}, draw.Src)
	return all
}

func (f *film) drawn(p cellpicture.Picture) *image.RGBA {
	drawn, err := p.Draw()
	require.NoError(f.t, err)
	return drawn.Image
}

// write makes the GIF. A frame has only what differs from the one before, the rest of it is transparent.
func (f *film) write() {
	require.NotEmpty(f.t, f.frames)
	colours, index := palette(f.frames)
	g := gif.GIF{}
	before := image.NewRGBA(image.Rectangle{})
	var all time.Duration
	for i, delay := range delays(f.frames, time.Since(f.began)) {
		now := f.frames[i].all
		p := image.NewPaletted(now.Bounds(), colours)
		for o := 0; o < len(now.Pix); o += 4 {
			if i == 0 || !bytes.Equal(now.Pix[o:o+4], before.Pix[o:o+4]) {
				p.Pix[o/4] = index(now.Pix[o : o+4])
			}
		}
		g.Image, g.Delay, g.Disposal = append(g.Image, p), append(g.Delay, int(delay/centisecond)), append(g.Disposal, gif.DisposalNone)
		before = now
		all += delay
	}
	var data bytes.Buffer
	require.NoError(f.t, gif.EncodeAll(&data, &g))
	f.t.Logf("%d frames, %d bytes, %s", len(g.Image), data.Len(), all)
	assert.LessOrEqual(f.t, data.Len(), largestAnimation)
	assert.True(f.t, shortest <= all && all <= longest, all)
	require.NoError(f.t, os.WriteFile(filepath.Join(pictures, "story.gif"), data.Bytes(), 0o644)) //nolint:gosec // for everybody to read
}

// delays are how long each frame is seen: as long as it was there, but not longer than longestFrame, and all of them
// a little quicker if that is too long.
func delays(frames []frame, end time.Duration) (all []time.Duration) {
	var sum time.Duration
	for i, f := range frames {
		until := end
		if i+1 < len(frames) {
			until = frames[i+1].at
		}
		all = append(all, min(until-f.at, longestFrame))
		sum += all[i]
	}
	if sum > longest {
		for i := range all {
			all[i] = time.Duration(float64(all[i]) * float64(longest-time.Second) / float64(sum))
		}
	}
	return all
}

// palette is the colours that most pixels have, after a transparent one. Each other colour gets the nearest.
func palette(frames []frame) (colours color.Palette, index func(pixel []byte) uint8) {
	count := map[[3]byte]int{}
	for _, f := range frames {
		for o := 0; o < len(f.all.Pix); o += 4 {
			count[[3]byte(f.all.Pix[o:o+3])]++
		}
	}
	often := slices.SortedFunc(maps.Keys(count), func(a, b [3]byte) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), bytes.Compare(a[:], b[:]))
	})
	colours = color.Palette{color.RGBA{}}
	for _, c := range often[:min(len(often), paletteSize-1)] {
		colours = append(colours, color.RGBA{c[0], c[1], c[2], 0xff})
	}
	known := map[[3]byte]uint8{}
	return colours, func(pixel []byte) uint8 {
		c := [3]byte(pixel[:3])
		if _, is := known[c]; !is {
			known[c] = uint8(1 + colours[1:].Index(color.RGBA{c[0], c[1], c[2], 0xff})) //nolint:gosec // fewer than paletteSize
		}
		return known[c]
	}
}
