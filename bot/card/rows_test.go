package card

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/outbox"
)

func TestRowsWrapLongLabels(t *testing.T) {
	for _, tt := range []struct{ name, row, want string }{
		{"one, however long", strings.Repeat("x", 60), strings.Repeat("x", 60)},
		{"two that fit", "Разрешить|На всю сессию", "Разрешить|На всю сессию"},
		{"two of 17", "12345678901234567|b", "12345678901234567|b"},
		{"one of two is too long", "a|123456789012345678", "a\n123456789012345678"},
		{"wide letters", "允许|拒绝并说明原因以及其它", "允许\n拒绝并说明原因以及其它"},
		{"three, two in a row", "Вручную|Принимать правки|План", "Вручную|Принимать правки\nПлан"},
		{"keys", "Tab|⇧Tab|Space|Enter", "Tab|⇧Tab|Space|Enter"},
		{"figures", "1|2|3|4|5|6|7|8", "1|2|3|4|5|6|7|8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var row []outbox.Button
			for text := range strings.SplitSeq(tt.row, "|") {
				row = append(row, outbox.Button{Text: text})
			}
			var got []string
			for _, row := range wrapped(row) {
				var words []string
				for _, b := range row {
					words = append(words, b.Text)
				}
				got = append(got, strings.Join(words, "|"))
			}
			assert.Equal(t, tt.want, strings.Join(got, "\n"))
		})
	}
}

// Telegram refuses a message with a blank button, such as a folder with a blank name.
func TestButtonIsNeverBlank(t *testing.T) {
	c := record{Content: Content{Options: [][]Option{{{Text: " ", Value: "x"}, {Text: "a ", Value: "y"}}}}}
	assert.Equal(t, "·", c.message().Buttons[0][0].Text)
	assert.Equal(t, "a ", c.message().Buttons[0][1].Text)
}
