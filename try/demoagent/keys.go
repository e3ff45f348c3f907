package demoagent

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// key is the meaning of one press, one run of letters, or one paste.
type key int

const (
	keyText key = iota // input.text was typed
	keyPaste
	keyEnter
	keyNewline // LF: a line break in the box
	keyEscape
	keyInterrupt // C-c
	keySuspend   // C-z
	keyKillLine  // C-u
	keyBackspace
	keyUp
	keyDown
	keyLeft
	keyRight
	keyTab
	keyMode   // Shift+Tab
	keyModels // Alt+P
	keyOther
)

type input struct {
	key  key
	text string // for keyText and keyPaste
}

// decoder turns bytes of a terminal into inputs. Its reads may cut sequences anywhere.
type decoder struct {
	rest    []byte
	pasting bool
	pasted  []byte
}

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// feed returns the complete inputs.
func (d *decoder) feed(data []byte) []input {
	d.rest = append(d.rest, data...)
	var inputs []input
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

// waiting reports whether the bytes end with an ESC: it is the Escape key if nothing follows in
// time.
func (d *decoder) waiting() bool { return !d.pasting && len(d.rest) > 0 && d.rest[0] == 0x1b }

// flush is called when nothing followed a waiting ESC.
func (d *decoder) flush() []input {
	if !d.waiting() {
		return nil
	}
	rest := d.rest[1:]
	d.rest = nil
	return append([]input{{key: keyEscape}}, d.feed(rest)...)
}

// next takes one input off the front and tells its length; 0 means that bytes are missing.
func (d *decoder) next() (*input, int) {
	if d.pasting {
		return d.nextPasted()
	}
	switch b := d.rest[0]; {
	case b == 0x1b:
		return d.nextEscape()
	case b < 0x20 || b == 0x7f:
		return &input{key: controlKey(b)}, 1
	default:
		return d.nextText()
	}
}

func (d *decoder) nextPasted() (*input, int) {
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
	return &input{key: keyPaste, text: text}, end + len(pasteEnd)
}

func (d *decoder) nextEscape() (*input, int) {
	switch {
	case bytes.HasPrefix(d.rest, pasteStart):
		d.pasting = true
		return nil, len(pasteStart)
	case len(d.rest) == 1:
		return nil, 0
	case d.rest[1] == 0x1b:
		return &input{key: keyEscape}, 1
	case d.rest[1] == 'p':
		return &input{key: keyModels}, 2
	case d.rest[1] != '[' && d.rest[1] != 'O':
		return &input{key: keyOther}, 2 // a letter with Alt
	}
	for i := 2; i < len(d.rest); i++ {
		if b := d.rest[i]; b >= 0x40 && b <= 0x7e {
			return &input{key: sequenceKey(string(d.rest[2 : i+1]))}, i + 1
		}
	}
	return nil, 0
}

func sequenceKey(s string) key {
	switch s {
	case "A":
		return keyUp
	case "B":
		return keyDown
	case "C":
		return keyRight
	case "D":
		return keyLeft
	case "Z":
		return keyMode
	}
	return keyOther // among them a paste end without a start
}

func controlKey(b byte) key {
	switch b {
	case '\r':
		return keyEnter
	case '\n':
		return keyNewline
	case 0x03:
		return keyInterrupt
	case 0x15:
		return keyKillLine
	case 0x1a:
		return keySuspend
	case 0x08, 0x7f:
		return keyBackspace
	case '\t':
		return keyTab
	}
	return keyOther
}

// nextText takes a run of plain characters; a character cut in two waits for its rest.
func (d *decoder) nextText() (*input, int) {
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
	return &input{key: keyText, text: strings.ToValidUTF8(string(d.rest[:n]), "\uFFFD")}, n
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
