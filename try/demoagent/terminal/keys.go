package terminal

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Key is the meaning of one press, one run of letters, or one paste.
type Key int

const (
	Text Key = iota // input.Text was typed
	Paste
	Enter
	Newline // LF: a line break in the box
	Escape
	Interrupt // C-c
	Suspend   // C-z
	KillLine  // C-u
	Backspace
	Up
	Down
	Left
	Right
	Tab
	Mode   // Shift+Tab
	Models // Alt+P
	Other
)

// Input is one key or text.
type Input struct {
	Key  Key
	Text string // for Text and Paste
}

// Decoder turns bytes of a terminal into inputs. Its reads may cut sequences anywhere.
type Decoder struct {
	rest    []byte
	pasting bool
	pasted  []byte
}

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// Feed returns the complete inputs.
func (d *Decoder) Feed(data []byte) []Input {
	d.rest = append(d.rest, data...)
	var inputs []Input
	for len(d.rest) > 0 {
		in, n := d.next()
		if n == 0 {
			break
		}
		d.rest = d.rest[n:]
		if in != nil {
			inputs = append(inputs, *in)
		}
	}
	return inputs
}

// Waiting reports whether the bytes end with an ESC: it is the Escape key if nothing follows in
// time.
func (d *Decoder) Waiting() bool { return !d.pasting && len(d.rest) > 0 && d.rest[0] == 0x1b }

// Flush is called when nothing followed a waiting ESC.
func (d *Decoder) Flush() []Input {
	if !d.Waiting() {
		return nil
	}
	rest := d.rest[1:]
	d.rest = nil
	return append([]Input{{Key: Escape}}, d.Feed(rest)...)
}

// next takes one input off the front and tells its length; 0 means that bytes are missing.
func (d *Decoder) next() (*Input, int) {
	if d.pasting {
		return d.nextPasted()
	}
	switch b := d.rest[0]; {
	case b == 0x1b:
		return d.nextEscape()
	case b < 0x20 || b == 0x7f:
		return &Input{Key: controlKey(b)}, 1
	default:
		return d.nextText()
	}
}

func (d *Decoder) nextPasted() (*Input, int) {
	end := bytes.Index(d.rest, pasteEnd)
	if end < 0 {
		// A tail that may be the beginning of the end mark stays.
		keep := min(len(pasteEnd)-1, len(d.rest))
		n := len(d.rest) - keep
		d.pasted = append(d.pasted, d.rest[:n]...)
		return nil, n
	}
	text := cleanPaste(string(append(d.pasted, d.rest[:end]...)))
	d.pasting, d.pasted = false, nil
	return &Input{Key: Paste, Text: text}, end + len(pasteEnd)
}

func (d *Decoder) nextEscape() (*Input, int) {
	switch {
	case bytes.HasPrefix(d.rest, pasteStart):
		d.pasting = true
		return nil, len(pasteStart)
	case len(d.rest) == 1:
		return nil, 0
	case d.rest[1] == 0x1b:
		return &Input{Key: Escape}, 1
	case d.rest[1] == 'p':
		return &Input{Key: Models}, 2
	case d.rest[1] != '[' && d.rest[1] != 'O':
		return &Input{Key: Other}, 2 // a letter with Alt
	}
	for i := 2; i < len(d.rest); i++ {
		if b := d.rest[i]; b >= 0x40 && b <= 0x7e {
			return &Input{Key: sequenceKey(string(d.rest[2 : i+1]))}, i + 1
		}
	}
	return nil, 0
}

func sequenceKey(s string) Key {
	switch s {
	case "A":
		return Up
	case "B":
		return Down
	case "C":
		return Right
	case "D":
		return Left
	case "Z":
		return Mode
	}
	return Other // among them a paste end without a start
}

func controlKey(b byte) Key {
	switch b {
	case '\r':
		return Enter
	case '\n':
		return Newline
	case 0x03:
		return Interrupt
	case 0x15:
		return KillLine
	case 0x1a:
		return Suspend
	case 0x08, 0x7f:
		return Backspace
	case '\t':
		return Tab
	}
	return Other
}

// nextText takes a run of plain characters; a character cut in two waits for its rest.
func (d *Decoder) nextText() (*Input, int) {
	n := 0
	for n < len(d.rest) && d.rest[n] >= 0x20 && d.rest[n] != 0x7f {
		if !utf8.FullRune(d.rest[n:]) {
			break
		}
		_, size := utf8.DecodeRune(d.rest[n:])
		n += size
	}
	if n == 0 {
		return nil, 0
	}
	return &Input{Key: Text, Text: strings.ToValidUTF8(string(d.rest[:n]), "\uFFFD")}, n
}

// cleanPaste does to pasted text what the CLI does: one kind of line break, four spaces for a tab,
// no other control characters.
func cleanPaste(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\t", "    ").Replace(s)
	return strings.Map(func(r rune) rune {
		if r != '\n' && (r < 0x20 || r == 0x7f) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
