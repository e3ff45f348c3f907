package doctor

import (
	"context"
	"path/filepath"

	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/systemfont"
)

// fonts looks for a font with Chinese characters if a chat is in Chinese.
func fonts(_ context.Context, w *World) []Finding {
	if w.wrong != nil {
		return []Finding{unseen("fonts", errNoSettings)}
	}
	chats, err := conversation.ReadSettings(filepath.Join(w.Dir, "chats"))
	if err != nil {
		return []Finding{unseen("fonts", err)}
	}
	words, chinese := i18n.Load(glyph.Name), w.Lang == "zh"
	for _, set := range chats {
		chinese = chinese || words.For(set.Language, set.Telegram, w.Lang).Lang() == "zh"
	}
	switch {
	case !chinese:
		return []Finding{skipped("fonts", "no chat is in Chinese")}
	case len(w.Fonts.Find([]rune("中"), 1)) == 0:
		return []Finding{found("font_missing", "sudo apt-get install "+systemfont.Chinese, "no font of this machine has Chinese characters: pictures of terminals show frames")}
	}
	return []Finding{good("fonts", "a font has Chinese characters")}
}
