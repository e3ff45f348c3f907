package botapi

import (
	"encoding/json"
	"slices"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
)

// maxEntities is the number of entities that Telegram keeps in a message; it drops the rest
// silently.
const maxEntities = 100

func entityType(kind string) models.MessageEntityType { return models.MessageEntityType(kind) }

// entities reads a field; an unreadable one is refused, where Telegram would ignore it.
func (p params) entities(name string) ([]Entity, *apiError) {
	if !p.has(name) {
		return nil, nil
	}
	var list []Entity
	if err := json.Unmarshal([]byte(p.str(name)), &list); err != nil {
		return nil, badRequest("can't parse entities: %v", err)
	}
	return list, nil
}

// checkEntities drops what Telegram ignores and refuses what it refuses. Source: MessageEntity.cpp
// of tdlib.
func checkEntities(text string, entities []Entity) ([]Entity, *apiError) {
	boundary, end := boundaries(text)
	var kept []Entity
	for _, e := range entities {
		switch {
		case e.Offset < 0 || e.Offset > 1_000_000:
			return nil, badRequest("receive an entity with incorrect offset %d", e.Offset)
		case e.Length < 0 || e.Length > 1_000_000:
			return nil, badRequest("receive an entity with incorrect length %d", e.Length)
		case e.Length == 0 || !settable(e):
			continue
		case e.Offset >= end:
			return nil, badRequest("entity begins after the end of the text at UTF-16 offset %d", e.Offset)
		case e.Offset+e.Length > end:
			return nil, badRequest("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, e.Offset+e.Length)
		case !boundary[e.Offset]:
			return nil, badRequest("entity begins in a middle of a UTF-16 symbol at UTF-16 offset %d", e.Offset)
		case !boundary[e.Offset+e.Length]:
			return nil, badRequest("entity beginning at UTF-16 offset %d ends in a middle of a UTF-16 symbol at UTF-16 offset %d", e.Offset, e.Offset+e.Length)
		}
		kept = append(kept, e)
	}
	kept = order(kept)
	if refusal := checkNesting(kept); refusal != nil {
		return nil, refusal
	}
	return kept[:min(len(kept), maxEntities)], nil
}

// boundaries reports for every UTF-16 offset whether a character starts (or the text ends) there.
func boundaries(text string) (starts []bool, end int) {
	for _, r := range text {
		starts = append(starts, true)
		if utf16.RuneLen(r) == 2 {
			starts = append(starts, false)
		}
	}
	return append(starts, true), len(starts)
}

// checkNesting holds the rules of https://core.telegram.org/bots/api#messageentity: pre and code
// overlap no entity (but may be in a quote), quotes do not nest.
func checkNesting(entities []Entity) *apiError {
	for i, a := range entities {
		for _, b := range entities[i+1:] {
			if !overlap(a, b) {
				continue
			}
			switch {
			case quotes(a) && quotes(b):
				return badRequest("can't parse entities: blockquotes at UTF-16 offsets %d and %d overlap", a.Offset, b.Offset)
			case (verbatim(a) || verbatim(b)) && (crosses(a, b) || !quotes(a) && !quotes(b) || verbatim(a) && quotes(b) && a.Length > b.Length):
				return badRequest("can't parse entities: %s at UTF-16 offset %d overlaps %s at %d", a.Type, a.Offset, b.Type, b.Offset)
			}
		}
	}
	return nil
}

func overlap(a, b Entity) bool { return a.Offset < b.Offset+b.Length && b.Offset < a.Offset+a.Length }

// crosses says that two overlapping entities do not contain one another.
func crosses(a, b Entity) bool {
	contains := func(x, y Entity) bool { return x.Offset <= y.Offset && y.Offset+y.Length <= x.Offset+x.Length }
	return !contains(a, b) && !contains(b, a)
}

func verbatim(e Entity) bool { return e.Type == "pre" || e.Type == "code" }

func quotes(e Entity) bool { return e.Type == "blockquote" || e.Type == "expandable_blockquote" }

// styles reports whether an entity only changes the style, so that it may contain others.
func styles(e Entity) bool {
	return slices.Contains([]models.MessageEntityType{"bold", "italic", "underline", "strikethrough", "spoiler"}, e.Type) || quotes(e)
}

// settable reports whether a bot can set the entity; the others are always detected.
func settable(e Entity) bool {
	switch e.Type {
	case "text_link":
		return e.URL != ""
	case "text_mention":
		return e.User != nil
	case "pre", "code", "custom_emoji", "date_time":
		return true
	}
	return styles(e)
}
