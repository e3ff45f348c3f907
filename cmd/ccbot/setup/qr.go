package setup

import (
	"strings"

	"rsc.io/qr"
)

const (
	quietZone = 4 // blank modules around the code, which cameras need
	// Black on white, regardless of the terminal's colours: few cameras read the inverse.
	blackOnWhite = "\x1b[30;107m"
	plainAgain   = "\x1b[0m"
)

// draw returns a link as a QR code for a terminal: a character stands for two modules, one above
// the other. It returns "" if a line has too few characters for it; 0 means an unknown width.
func draw(link string, line int) (string, error) {
	code, err := qr.Encode(link, qr.L)
	if err != nil || line > 0 && line < code.Size+2*quietZone {
		return "", err
	}
	var b strings.Builder
	for y := -quietZone; y < code.Size+quietZone; y += 2 {
		b.WriteString(blackOnWhite)
		for x := -quietZone; x < code.Size+quietZone; x++ {
			switch above, below := code.Black(x, y), code.Black(x, y+1); {
			case above && below:
				b.WriteRune('█')
			case above:
				b.WriteRune('▀')
			case below:
				b.WriteRune('▄')
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString(plainAgain + "\n")
	}
	return b.String(), nil
}
