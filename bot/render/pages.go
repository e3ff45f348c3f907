package render

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// Limits of a rich message (core.telegram.org/bots/api#inputrichmessage). They are applied to the
// Markdown, which is never shorter than the text, and to every block that may count as one.
const (
	richLimit  = 32768
	richMargin = 512 // for a count that is too low
	richBlocks = 500
	// richBlocksUsed leaves some for a heading, and for other blocks that Telegram may count.
	richBlocksUsed = 440
	// richDepth is the maximum depth of nested blocks, out of 16 levels that also include
	// formatting.
	richDepth   = 10
	richColumns = 20
)

// frame is something that is open while others are written: an item of a list, a quotation, a block
// of code, a table. When a page ends, it is closed, and it is opened again on the next one.
type frame struct {
	first, rest string // before its first line, and before the others
	again       string // before its first line on a later page, if that is something else
	open, shut  string // lines around the content
	gap         int    // line ends between those and the content
	blocks      int    // the number of blocks it counts for
	depth       int
	opened      bool
	shown       bool // on this page or on one before
}

// pages writes Markdown and begins a new page where the next thing would not fit.
type pages struct {
	parts  []Part
	limit  int // characters of this page
	out    strings.Builder
	chars  int
	blocks int
	writes int // how often something was written
	gap    int // line ends before the next line
	stack  []*frame
}

func newPages(room int) *pages {
	return &pages{limit: max(richLimit-richMargin-room, richLimit/2)}
}

// push opens a frame, or returns false if it would be too deep.
func (p *pages) push(f frame) bool {
	depth := f.depth
	for _, o := range p.stack {
		depth += o.depth
	}
	if depth > richDepth {
		return false
	}
	p.stack = append(p.stack, &f)
	return true
}

// pop closes the last frame. A frame with separate lines is written even if nothing was in it.
func (p *pages) pop() {
	last := len(p.stack) - 1
	f := p.stack[last]
	if !f.shown && (f.open != "" || f.first != f.rest) {
		p.makeRoom(0, 0)
		p.apart(2) // the mark of an item alone, below text, would be the line under a heading
		p.enter()
		if !f.opened {
			p.put(nil, last+1)
		}
	}
	p.stack = p.stack[:last]
	p.shut(f)
}

func (p *pages) shut(f *frame) {
	if f.shut != "" && f.opened {
		p.apart(f.gap)
		p.put([]string{f.shut}, len(p.stack))
		p.apart(f.gap)
	}
}

// apart makes sure that n line ends come before the next line.
func (p *pages) apart(n int) { p.gap = max(p.gap, n) }

// capacity returns how many characters one thing may have: the room of a page with only the open
// frames.
func (p *pages) capacity() int {
	room := richLimit/2 - 64
	for _, f := range p.stack {
		room -= 2*p.cost([]string{f.open}) + 2*p.cost([]string{f.shut})
	}
	return max(room, 256)
}

// cost returns how many characters lines need here, at most.
func (p *pages) cost(lines []string) int {
	before := 4 // line ends, and the blanks of a break
	for _, f := range p.stack {
		before += max(len(f.first), len(f.rest))
	}
	n := 2 * before // the empty line in between
	for _, l := range lines {
		n += utf8.RuneCountInString(l) + before
	}
	return n
}

// write puts one thing on the page: lines that stay together.
func (p *pages) write(lines []string, blocks int) {
	p.makeRoom(p.cost(lines), blocks)
	p.enter()
	p.put(lines, len(p.stack))
	p.blocks += blocks
}

// makeRoom begins a new page if this one has no room for chars, blocks, and the frames that must be
// opened before and closed after them.
func (p *pages) makeRoom(chars, blocks int) {
	if p.chars == 0 {
		return
	}
	chars += p.chars
	blocks += p.blocks
	for _, f := range p.stack {
		chars += p.cost([]string{f.shut})
		if !f.opened {
			chars += p.cost([]string{f.open})
			blocks += f.blocks
		}
	}
	if chars > p.limit || blocks > richBlocksUsed {
		p.turn()
	}
}

// enter writes the beginnings of the frames.
func (p *pages) enter() {
	for i, f := range p.stack {
		if f.opened {
			continue
		}
		p.blocks += f.blocks
		if f.open != "" {
			p.put(strings.Split(f.open, "\n"), i)
			f.opened, f.shown = true, true
			p.apart(f.gap)
		}
	}
}

// put writes lines inside the first n frames.
func (p *pages) put(lines []string, n int) {
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, l := range lines {
		if p.chars > 0 {
			p.raw("\n")
			if i == 0 && p.gap > 1 {
				p.raw(strings.TrimRight(p.before(n, true), " ") + "\n")
			}
		}
		if l = p.before(n, false) + l; strings.TrimSpace(l) == "" {
			l = ""
		}
		p.raw(strings.TrimRight(l, " "))
		if strings.HasSuffix(l, "  ") { // two blanks at the end of a line break it
			p.raw("  ")
		}
	}
	p.gap = 1
	p.writes++
}

// before returns the beginning of a line in the first n frames; of an empty line only the open ones
// count.
func (p *pages) before(n int, empty bool) string {
	var b strings.Builder
	for _, f := range p.stack[:n] {
		switch {
		case f.opened:
			b.WriteString(f.rest)
		case !empty:
			b.WriteString(f.first)
			f.opened, f.shown = true, true
		}
	}
	return b.String()
}

func (p *pages) raw(s string) {
	p.out.WriteString(s)
	p.chars += utf8.RuneCountInString(s)
}

// turn ends the page.
func (p *pages) turn() {
	stack := p.stack
	for len(p.stack) > 0 {
		f := p.stack[len(p.stack)-1]
		p.stack = p.stack[:len(p.stack)-1]
		p.shut(f)
	}
	p.stack = stack
	for _, f := range p.stack {
		f.opened = false
		f.first = cmp.Or(f.again, f.first)
	}
	if p.chars > 0 {
		p.parts = append(p.parts, Part{Rich: p.out.String()})
	}
	p.out.Reset()
	p.chars, p.blocks, p.gap, p.limit = 0, 0, 0, richLimit-richMargin
}

// attach puts a file between this page and the next.
func (p *pages) attach(f Part) {
	p.turn()
	p.parts = append(p.parts, f)
}

// finish is all that was written.
func (p *pages) finish() []Part {
	for len(p.stack) > 0 {
		p.pop()
	}
	p.turn()
	return p.parts
}
