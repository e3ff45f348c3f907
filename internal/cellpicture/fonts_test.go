//go:build pictures

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

// TestPicturesOfFonts draws a screen for each machine of CCBOT_TRIAL_FONTS, and without fonts, and
// writes the pictures into the folder CCBOT_TRIAL_PICTURES: `make font-pictures` runs it. A machine
// is a list of folders with commas; colons separate machines. Fonts count only if root owns them.
func TestPicturesOfFonts(t *testing.T) {
	folders := filepath.SplitList(os.Getenv("CCBOT_TRIAL_FONTS"))
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
		d, err := Picture{Lines: lines, Ink: white, Paper: black, Fonts: systemfont.In(strings.Split(folder, ",")...)}.Draw()
		require.NoError(t, err)
		took := time.Since(start)
		data, err := d.PNG()
		require.NoError(t, err)
		name := strings.Trim(strings.NewReplacer("/", "-", ",", "+").Replace(folder), "-") + ".png"
		require.NoError(t, os.WriteFile(filepath.Join(os.Getenv("CCBOT_TRIAL_PICTURES"), name), data, 0o600))
		t.Logf("%s: %s, frames for %q", name, took.Round(time.Millisecond), string(d.Missing))
	}
}
