package claudeflags

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Sessions returns the sessions that a command line writes: --resume X, --resume=X, -r X, -r=X, -rX
// (also after other letters, as in -pr X), --session-id X, --session-id=X, where X is a UUID of 36
// characters; spaces around X are ignored, as the CLI does. Nothing after "--" counts. With
// --fork-session the resumed session is only read, not written: then only --session-id counts. The
// ids may contradict each other.
func Sessions(argv []string) []uuid.UUID {
	var resumed, created []uuid.UUID
	forks := false
	for i := 1; i < len(argv) && argv[i] != "--"; {
		name, value, n := read(argv[i:])
		i += n
		id, isID := parseID(value)
		switch {
		case name == "--fork-session":
			forks = true
		case name == "--resume" && isID:
			resumed = append(resumed, id)
		case name == "--session-id" && isID:
			created = append(created, id)
		}
	}
	if forks {
		return created
	}
	return append(resumed, created...)
}

// own lists the options that only ccbot may set, because they decide which conversation an agent has and how ccbot takes part in it,
// and those with which the conversation runs outside of its window.
var own = []string{"--resume", "-r", "--continue", "-c", "--session-id", "--fork-session", "--settings", "--print", "-p",
	"--bg", "--background", "--cloud", "--desktop", "--from-pr", "--teleport", "--tmux"}

// Forbidden finds the first option that may not be configured. It returns only the name of the
// option, because the rest of the word may be private. The name alone may not even be the value of
// another option; a longer value may begin with such a name.
func Forbidden(words []string) (name string, found bool) {
	for i := 0; i < len(words); {
		option, _, n := read(words[i:])
		if name, isOwn := ownName(option, words[i]); isOwn {
			return name, true
		}
		end := min(i+n, len(words))
		if at := slices.IndexFunc(words[i+1:end], func(value string) bool { return slices.Contains(own, value) }); at >= 0 {
			return words[i+1+at], true
		}
		i = end
	}
	return "", false
}

// ownName returns the name of the option that word holds, and reports whether only ccbot may set
// that option. option is the name that read found in word. More letters may follow a short name.
func ownName(option, word string) (name string, isOwn bool) {
	if option != "" && !strings.HasPrefix(word, "--") {
		option = word[:2]
	}
	return option, slices.Contains(own, option)
}

// read reads the option at the beginning of words: its name (the long one for -r and -n), its
// value, and n, the number of words of the option with its value; n is larger than len(words) if a
// value is missing. Of several values it reads the first. An empty name means that the first word
// is not an option.
func read(words []string) (name, value string, n int) {
	var joined bool
	switch word := words[0]; {
	case !isOption(word):
		return "", "", 1
	case strings.HasPrefix(word, "--"):
		name, value, joined = strings.Cut(word, "=")
	default:
		name, value, joined = readLetters(word)
	}
	if joined || !takesValue(name) && !(name == "--resume" && len(words) > 1 && !isOption(words[1])) {
		return name, value, 1
	}
	if len(words) > 1 {
		value = words[1]
	}
	return name, value, 2
}

func isOption(word string) bool { return len(word) > 1 && word[0] == '-' }

// readLetters reads short options; a word may have several: after the flags -p and -c comes at most
// one option that takes a value, and the rest of the word is that value.
func readLetters(word string) (name, value string, joined bool) {
	letters := strings.TrimLeft(word[1:], "pc")
	switch {
	case strings.HasPrefix(letters, "r"):
		name = "--resume"
	case strings.HasPrefix(letters, "n"):
		name = "--name"
	default:
		return word, "", false
	}
	return name, strings.TrimPrefix(letters[1:], "="), len(letters) > 1
}

// takesValue reports whether an option always takes a value (2.1.197 and 2.1.328). The value of
// --resume may be missing: then a person chooses the session.
func takesValue(option string) bool {
	switch option {
	case "--agent", "--agents", "--append-system-prompt", "--append-system-prompt-file", "--autocompact", "--betas",
		"--debug-file", "--effort", "--environment", "--fallback-model", "--file", "--input-format", "--json-schema",
		"--max-budget-usd", "--max-turns", "--mcp-config", optModel, "--name", "--output-format", optMode,
		"--permission-prompt-tool", "--permission-prompts", "--plugin-dir", "--plugin-url",
		"--remote-control-session-name-prefix", "--session-id", "--setting-sources", "--settings", "--system-prompt",
		"--system-prompt-file", "--system-prompt-snapshot":
		return true
	}
	return slices.Contains(granted, option)
}

// parseID accepts the canonical form only: uuid.Parse alone would also accept braces, "urn:uuid:"
// and 32 bare digits, which the CLI takes for a title.
func parseID(s string) (uuid.UUID, bool) {
	s = strings.TrimSpace(s)
	if len(s) != 36 {
		return uuid.UUID{}, false
	}
	id, err := uuid.Parse(s)
	return id, err == nil && id != uuid.Nil
}
