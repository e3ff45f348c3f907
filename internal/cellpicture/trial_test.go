//go:build trial

package cellpicture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/internal/systemfont"
)

// TestTrialOfFonts draws a screen with the fonts of each folder of CCBOT_TRIAL_FONTS, separated by colons, and without fonts, and
// writes the pictures into the folder CCBOT_TRIAL_PICTURES. As root: fonts count only if root owns them.
func TestTrialOfFonts(t *testing.T) {
	folders := strings.Fields(strings.ReplaceAll(os.Getenv("CCBOT_TRIAL_FONTS"), ":", " "))
	for _, folder := range append(folders, "/none") {
		var lines [][]Cell
		for _, text := range []string{
			"Chinese: 中文语言 繁體 测试，。「」！", "Korean: 한국어 테스트, \u1112\u1161\u11ab", "Japanese: ひらがな カタカナ",
			"Braille: ⠀⠁⠋⠙⠹⢿⣿", "Emoji: 😀🙂👍🚀🎉✅⚡👩\u200d💻🔥", "Box: ┌─┐ ⏺ ⎿ ※ Latin Жé",
		} {
			lines = append(lines, Line(text, Cell{}))
		}
		lines = append(lines, Line("中文 한국어 bold", Cell{Bold: true}), Line("中文 한국어 italic", Cell{Italic: true}))
		start := time.Now()
		d, err := Picture{Lines: lines, Ink: white, Paper: black, Fonts: systemfont.In(folder)}.Draw()
		require.NoError(t, err)
		took := time.Since(start)
		data, err := d.PNG()
		require.NoError(t, err)
		name := strings.Trim(strings.ReplaceAll(folder, "/", "-"), "-") + ".png"
		require.NoError(t, os.WriteFile(filepath.Join(os.Getenv("CCBOT_TRIAL_PICTURES"), name), data, 0o600))
		t.Logf("%s: %s, frames for %q", name, took.Round(time.Millisecond), string(d.Missing))
	}
}
