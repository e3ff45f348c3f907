package botapi

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of Telegram, in UTF-16 units.
const (
	maxText    = 4096
	maxCaption = 1024
)

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// prepare does to a bot's text what Telegram does before it is sent: check, clean, trim, detect
// links and commands.
func prepare(text string, entities []Entity) (string, []Entity, *apiError) {
	if !utf8.ValidString(text) {
		return "", nil, badRequest("strings must be encoded in UTF-8")
	}
	entities, refusal := checkEntities(text, entities)
	if refusal != nil {
		return "", nil, refusal
	}
	text, entities = clean(text, entities)
	text, entities = trim(text, entities)
	return text, merge(entities, detect(text)), nil
}

// clean replaces control characters (a tab too) by spaces and drops \r and bidirectional overrides;
// entities move along. Source: clean_input_string in tdlib's misc.cpp.
func clean(text string, entities []Entity) (string, []Entity) {
	var out strings.Builder
	moved := []int{} // by old UTF-16 offset, the new one
	at := 0
	for _, r := range text {
		width := utf16.RuneLen(r)
		for range width {
			moved = append(moved, at)
		}
		switch {
		case r == '\r' || r >= 0x2028 && r <= 0x202e || r == 0x0333 || r == 0x033f || r == 0x030a:
			continue
		case r < ' ' && r != '\n':
			r = ' '
		}
		out.WriteRune(r)
		at += width
	}
	moved = append(moved, at)
	return out.String(), shift(entities, func(offset int) int { return moved[offset] })
}

// trim cuts blanks and newlines at the end, and at the start up to the first entity.
func trim(text string, entities []Entity) (string, []Entity) {
	text = strings.TrimRight(text, " \n")
	end := units(text)
	entities = shift(entities, func(offset int) int { return min(offset, end) })
	limit := end
	if len(entities) > 0 {
		limit = entities[0].Offset
	}
	start := 0
	for start < len(text) && start < limit && (text[start] == ' ' || text[start] == '\n') {
		start++
	}
	return text[start:], shift(entities, func(offset int) int { return offset - start })
}

// shift moves both ends of every entity; those that become empty are dropped.
func shift(entities []Entity, move func(int) int) []Entity {
	var out []Entity
	for _, e := range entities {
		end := move(e.Offset + e.Length)
		e.Offset = move(e.Offset)
		if e.Length = end - e.Offset; e.Length > 0 {
			out = append(out, e)
		}
	}
	return out
}

// blank says that a text has nothing to see.
func blank(text string) bool {
	for _, r := range text {
		invisible := unicode.IsSpace(r) || r >= 0x200b && r <= 0x200f || r >= 0x2060 && r <= 0x2064 || r == 0xfeff || r == 0x3164
		if !invisible {
			return false
		}
	}
	return true
}

var (
	commandPattern = regexp.MustCompile(`(?:^|\s)(/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?)(?:$|[^A-Za-z0-9_/])`)
	urlPattern     = regexp.MustCompile(`https?://[^\s<>"']*[^\s<>"'.,:;!?()\[\]{}]`)
	mentionPattern = regexp.MustCompile(`(?:^|[^A-Za-z0-9_/@])(@[A-Za-z][A-Za-z0-9_]{3,31})`)
)

// detect finds the commands, links and mentions that Telegram marks on its own.
func detect(text string) []Entity {
	var found []Entity
	for from := 0; from < len(text); { // by hand: two commands may share the blank between them
		m := commandPattern.FindStringSubmatchIndex(text[from:])
		if m == nil {
			break
		}
		found = append(found, mark(text, "bot_command", from+m[2], from+m[3]))
		from += m[3]
	}
	for _, m := range urlPattern.FindAllStringIndex(text, -1) {
		found = append(found, mark(text, "url", m[0], m[1]))
	}
	for _, m := range mentionPattern.FindAllStringSubmatchIndex(text, -1) {
		found = append(found, mark(text, "mention", m[2], m[3]))
	}
	var out []Entity
	for _, e := range order(found) {
		if len(out) == 0 || out[len(out)-1].Offset+out[len(out)-1].Length <= e.Offset {
			out = append(out, e)
		}
	}
	return out
}

func mark(text, kind string, from, to int) Entity {
	return Entity{Type: entityType(kind), Offset: units(text[:from]), Length: units(text[from:to])}
}

// merge adds what was detected where no link, code or quoted thing stands already.
func merge(own, detected []Entity) []Entity {
	out := slices.Clone(own)
	for _, d := range detected {
		taken := slices.ContainsFunc(own, func(e Entity) bool { return overlap(e, d) && (!styles(e) || crosses(e, d)) })
		if !taken {
			out = append(out, d)
		}
	}
	return order(out)
}

func order(entities []Entity) []Entity {
	slices.SortStableFunc(entities, func(a, b Entity) int {
		if a.Offset != b.Offset {
			return a.Offset - b.Offset
		}
		return b.Length - a.Length
	})
	return entities
}

// cutForApp splits a long text as the apps do, at a line's end if possible.
func cutForApp(text string) []string {
	text, _ = clean(text, nil)
	text, _ = trim(text, nil)
	var parts []string
	for units(text) > maxText {
		head := string(utf16.Decode(utf16.Encode([]rune(text))[:maxText]))
		head = strings.TrimRight(head, "\uFFFD") // half of a surrogate pair
		if nl := strings.LastIndexByte(head, '\n'); nl > len(head)/2 {
			head = head[:nl]
		}
		parts = append(parts, head)
		text, _ = trim(text[len(head):], nil)
	}
	if !blank(text) {
		parts = append(parts, text)
	}
	return parts
}
