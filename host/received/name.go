package received

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"ccbot/internal/clip"
)

// maxName is the longest name of a file, in bytes.
const maxName = 80

// maxExtension is the longest ending that survives the shortening of a name, in bytes.
const maxExtension = 16

// nameless is what a file is called of whose name nothing is left.
const nameless = "file"

// safeName makes a harmless name of one that somebody else has chosen: its last element without
// what cannot be seen, with _ for blanks, for what a shell reads and for the @ that an agent takes
// for a mention of a file, readable in every script. It has at most maxName bytes and keeps its
// ending.
func safeName(name string) string {
	name = strings.ToValidUTF8(name, "")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(harmless, strings.TrimSpace(name))
	name = strings.TrimRight(strings.TrimLeft(name, ".-@~"), ".")
	name = strings.ReplaceAll(name, "@", "_")
	if name == "" {
		name = nameless
	}
	if instructs(name) {
		name = nameless + "-" + name
	}
	return numbered(name, 1)
}

// harmless drops what has no shape of its own and replaces what means something to a shell.
func harmless(r rune) rune {
	switch {
	case unicode.IsSpace(r), strings.ContainsRune("$`\"'|&;<>*?!#:\u2800", r): // the last one looks like a blank
		return '_'
	case !unicode.IsGraphic(r), unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return -1
	}
	return r
}

// instructs says whether agents read a file of this name as instructions, unasked, because of where it lies.
func instructs(name string) bool {
	switch strings.ToLower(name) {
	case "claude.md", "claude.local.md", "agents.md", "agent.md", "gemini.md":
		return true
	}
	return false
}

// numbered is the n-th name of those that a file may have: the first is its own.
func numbered(name string, n int) string {
	stem, ending := split(name)
	number := ""
	if n > 1 {
		number = fmt.Sprintf("-%d", n)
	}
	return strings.TrimRight(clip.Bytes(stem, maxName-len(number)-len(ending), ""), ".") + number + ending
}

// split takes a name's ending off, if it is one that programs go by.
func split(name string) (stem, ending string) {
	ending = path.Ext(name)
	if len(ending) < 2 || len(ending) > maxExtension || len(ending) == len(name) {
		return name, ""
	}
	return strings.TrimSuffix(name, ending), ending
}
