package doctor

import (
	"context"
	"path/filepath"
	"slices"
	"unicode"

	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/internal/cellpicture"
	"ccbot/internal/glyph"
	"ccbot/internal/systemfont"
)

// fonts looks for fonts with the letters of the chats' languages.
func fonts(_ context.Context, w *World) []Finding {
	if w.wrong != nil {
		return []Finding{unseen("fonts", errNoSettings)}
	}
	chats, err := conversation.ReadSettings(filepath.Join(w.Dir, "chats"))
	if err != nil {
		return []Finding{unseen("fonts", err)}
	}
	words := i18n.Load(glyph.Name)
	names := []string{words.For(w.Lang).Say(i18n.LanguageName)}
	for _, set := range chats {
		names = append(names, words.For(set.Language, set.Telegram, w.Lang).Say(i18n.LanguageName))
	}
	return []Finding{lettersOf(w.Fonts, names)}
}

// lettersOf looks for a font with the first letter of each language's name. Latin, Greek and
// Cyrillic letters are built in.
func lettersOf(fonts cellpicture.Fonts, names []string) Finding {
	needed := false
	for _, name := range names {
		letters := []rune(name)
		first := slices.IndexFunc(letters, func(r rune) bool {
			return !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common)
		})
		if first < 0 {
			continue
		}
		needed = true
		if letter := letters[first]; len(fonts.Find([]rune{letter}, 1)) == 0 {
			return found("font_missing", "sudo apt-get install "+systemfont.Package(letter), "no font of this machine has letters of %s: pictures of terminals show frames", name)
		}
	}
	if !needed {
		return skipped("fonts", "the letters of the chats' languages are built in")
	}
	return good("fonts", "fonts have letters of the chats' languages")
}
