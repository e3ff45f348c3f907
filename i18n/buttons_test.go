package i18n

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
)

// ownRow are the buttons with a separate row, by language.
var ownRow = map[string][]Key{
	"en": {ButtonTakeBack, ButtonForkInstead, ButtonDenyWith, ButtonAnswerWith, ButtonUseCopy, ButtonLeaveView, ButtonInterruptSend},
	"ru": {ButtonUseAsPrompt, ButtonNewWorktree, ButtonRemoveWorktree, ButtonNextQuestion, ButtonEndIdle, ButtonDropAll, ButtonUseCopy,
		ButtonLeaveView, ButtonResumeAndSend, ButtonShowAndSend, ButtonInterruptSend},
	"zh": {ButtonLeaveView},
	"de": {ButtonLeaveView, ButtonResumeAndSend},
}

// TestButtonsFitTwoInRow: a row of two has 17 columns for each of its buttons. A wider one is in
// ownRow, and does not become shorter unnoticed.
func TestButtonsFitTwoInRow(t *testing.T) {
	for _, lang := range released {
		var wide []Key
		for key, f := range catalogue(t, lang) {
			if strings.HasPrefix(key, "button_") && !strings.Contains(f["other"], "{{") && ansi.StringWidth(f["other"]) > 17 {
				wide = append(wide, Key(key))
			}
		}
		assert.ElementsMatch(t, ownRow[lang], wide, lang)
	}
}
