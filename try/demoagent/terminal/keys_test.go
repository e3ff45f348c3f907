package terminal

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestDecoder(t *testing.T) {
	tests := []struct {
		name, bytes string
		want        []Input
	}{
		{"text and Enter", "héy\r", []Input{{Text, "héy"}, {Key: Enter}}},
		{"line feed", "a\nb", []Input{{Text, "a"}, {Key: Newline}, {Text, "b"}}},
		{"paste", "\x1b[200~a\rb\tc\x1b[201~\r", []Input{{Paste, "a\nb    c"}, {Key: Enter}}},
		{"a paste cannot be ended from inside without harm", "\x1b[200~ab\x1b[201~ cd\x1b[201~",
			[]Input{{Paste, "ab"}, {Text, " cd"}, {Key: Other}}},
		{"control characters in a paste", "\x1b[200~a\x00\x07b\x1b[201~", []Input{{Paste, "ab"}}},
		{"keys", "\x1b[A\x1b[B\x15\x03\x7f\t", []Input{{Key: Up}, {Key: Down}, {Key: KillLine}, {Key: Interrupt}, {Key: Backspace}, {Key: Tab}}},
		{"two escapes", "\x1b\x1b", []Input{{Key: Escape}, {Key: Escape}}},
		{"escape then letter later", "\x1b", []Input{{Key: Escape}}},
		{"invalid UTF-8", "a\xffb", []Input{{Text, "a\uFFFDb"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d Decoder
			got := d.Feed([]byte(tt.bytes))
			assert.Equal(t, tt.want, append(got, d.Flush()...))
		})
	}
}

// However a read cuts the bytes, the same arrives.
func TestDecoderAcceptsCutBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé⏸\n ]{0,40}`).Draw(t, "text")
		stream := "x" + string(pasteStart) + text + string(pasteEnd) + "é\r"
		var d Decoder
		var got []Input
		for rest := []byte(stream); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			got = append(got, d.Feed(rest[:n])...)
			rest = rest[n:]
		}
		assert.Equal(t, []Input{{Text, "x"}, {Paste, text}, {Text, "é"}, {Key: Enter}}, got)
	})
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("\x1b[200~a\x1b[201~\x1b[A\x1b"))
	f.Add([]byte("\xe2\x8f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Decoder
		for _, in := range append(d.Feed(data), d.Flush()...) {
			assert.True(t, utf8.ValidString(in.Text))
		}
	})
}
