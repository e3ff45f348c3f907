package received

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"ccbot/internal/clip"
	"ccbot/internal/glyph"
)

// maxName is the longest name of a file, in bytes.
const maxName = 80

// maxExtension is the longest extension, in bytes, that is kept when a name is shortened.
const maxExtension = 16

// nameless is the name of a file if nothing of its name is left.
const nameless = "file"

// safeName makes a harmless name out of a foreign one. It takes the last path element, removes
// invisible characters, and puts _ for blanks, for characters that a shell reads, and for the @
// that an agent takes for a mention of a file. Letters of every script stay readable. The result
// has at most maxName bytes and keeps its extension.
func safeName(name string) string {
	name = strings.ToValidUTF8(name, "")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(harmless, strings.TrimSpace(name))
	name = strings.TrimRight(strings.TrimLeft(name, ".-@~"), ".")
	name = strings.ReplaceAll(name, "@", "_")
	if name == "" {
		name = nameless
	}
	if name = numbered(name, 1); instructs(name) {
		name = nameless + "-" + name
	}
	return name
}

// harmless removes characters that have no visible shape, and replaces those that have a meaning
// for a shell.
func harmless(r rune) rune {
	switch {
	case unicode.IsSpace(r), strings.ContainsRune("$`\"'|&;<>*?!#:\u2800", r): // U+2800 looks blank
		return '_'
	case glyph.Unseen(r), unicode.Is(unicode.Co, r):
		return -1
	}
	return r
}

// instructs reports whether agents read a file of this name as instructions because of its place.
func instructs(name string) bool {
	return slices.Contains([]string{"claude.md", "claude.local.md", "agents.md", "agent.md", "gemini.md"}, strings.ToLower(name))
}

// numbered is the n-th of the names that a file may get: the first one is its own name.
func numbered(name string, n int) string {
	stem, ending := split(name)
	number := ""
	if n > 1 {
		number = fmt.Sprintf("-%d", n)
	}
	return strings.TrimRight(clip.Bytes(stem, maxName-len(number)-len(ending), ""), ".") + number + ending
}

// split separates a name from its extension, if it has one that programs recognise.
func split(name string) (stem, ending string) {
	ending = path.Ext(name)
	if len(ending) < 2 || len(ending) > maxExtension || len(ending) == len(name) {
		return name, ""
	}
	return strings.TrimSuffix(name, ending), ending
}
