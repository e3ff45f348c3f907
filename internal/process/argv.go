package process

import (
	"slices"
	"strings"

	"github.com/google/uuid"
)

// SessionArg reads which session a command line writes: --resume X, --resume=X, -r X, -r=X, -rX (also behind other
// letters, as in -pr X), --session-id X, --session-id=X, where X is a UUID of 36 characters; spaces around it are passed
// over, as the CLI does. The elements are compared one by one, so text inside another argument is never taken for an
// option, and nothing after "--" counts. With --fork-session the resumed id is only read from: then --session-id alone
// counts. Two different ids contradict each other and give false.
func SessionArg(args []string) (id uuid.UUID, ok bool) {
	ids := sessionArgs(args)
	if len(ids) != 1 {
		return uuid.UUID{}, false
	}
	return ids[0], true
}

// sessionArgs gives all different ids that the line writes. It walks the elements as the CLI's own parser does: an option
// that requires a value takes the next element whatever it looks like, also "--" or "--resume".
func sessionArgs(args []string) []uuid.UUID {
	var resumed, created []uuid.UUID
	forks := false
	for i := 1; i < len(args) && args[i] != "--"; i++ {
		option, value, joined := splitOption(args[i])
		if !joined && i+1 < len(args) && takesNext(option, args[i+1]) {
			i++
			value = args[i]
		}
		switch option {
		case "--resume":
			resumed = addID(resumed, value)
		case "--session-id":
			created = addID(created, value)
		case "--fork-session":
			forks = true
		}
	}
	if forks {
		return created
	}
	for _, id := range created {
		resumed = addDifferent(resumed, id)
	}
	return resumed
}

// Option reads the option that a part of a command line begins with: its name, the long one where SessionArg knows it,
// and how many elements it is with its value; more than there are if that is missing. Of several values only the first
// counts. Without a name the element is no option.
func Option(args []string) (name string, n int) {
	if len(args) == 0 || len(args[0]) < 2 || args[0][0] != '-' {
		return "", 1
	}
	name, _, joined := splitOption(args[0])
	switch {
	case name == "":
		return args[0], 1
	case joined:
		return name, 1
	case requiresValue(name), len(args) > 1 && takesNext(name, args[1]):
		return name, 2
	}
	return name, 1
}

// splitOption gives the long name of the option in one element, with the value that is joined to it; no name for any
// other element.
func splitOption(arg string) (name, value string, joined bool) {
	switch {
	case strings.HasPrefix(arg, "--"):
		return strings.Cut(arg, "=")
	case strings.HasPrefix(arg, "-"):
		return splitLetters(arg[1:])
	default:
		return "", "", false
	}
}

// splitLetters reads short options, several of which may stand together: behind the flags -p and -c comes at most one
// that takes a value, and what follows in the same element is that value.
func splitLetters(letters string) (name, value string, joined bool) {
	letters = strings.TrimLeft(letters, "pc")
	if letters == "" {
		return "", "", false
	}
	switch letters[0] {
	case 'r':
		name = "--resume"
	case 'n':
		name = "--name"
	default:
		return "", "", false
	}
	value = strings.TrimPrefix(letters[1:], "=")
	return name, value, len(letters) > 1
}

// takesNext says whether an option takes the next element as its value. The value of --resume may be left out (a person
// picks the session then), so the next element is its value only if it is no option.
func takesNext(option, next string) bool {
	if option == "--resume" {
		return len(next) < 2 || next[0] != '-'
	}
	return requiresValue(option)
}

// requiresValue knows the CLI's options that take a value always (2.1.197 and 2.1.328).
func requiresValue(option string) bool {
	switch option {
	case "--add-dir", "--agent", "--agents", "--allowed-tools", "--allowedTools", "--append-system-prompt",
		"--append-system-prompt-file", "--autocompact", "--betas", "--debug-file", "--disallowed-tools", "--disallowedTools",
		"--effort", "--environment", "--fallback-model", "--file", "--input-format", "--json-schema", "--max-budget-usd",
		"--max-turns", "--mcp-config", "--model", "--name", "--output-format", "--permission-mode",
		"--permission-prompt-tool", "--permission-prompts", "--plugin-dir", "--plugin-url",
		"--remote-control-session-name-prefix", "--session-id", "--setting-sources", "--settings", "--system-prompt",
		"--system-prompt-file", "--system-prompt-snapshot", "--tools":
		return true
	}
	return false
}

func addID(ids []uuid.UUID, value string) []uuid.UUID {
	id, ok := parseID(value)
	if !ok {
		return ids
	}
	return addDifferent(ids, id)
}

func addDifferent(ids []uuid.UUID, id uuid.UUID) []uuid.UUID {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

// parseID takes the canonical form only: uuid.Parse alone would also accept braces, "urn:uuid:" and 32 bare digits, which
// the CLI takes for a title.
func parseID(s string) (uuid.UUID, bool) {
	s = strings.TrimSpace(s)
	if len(s) != 36 {
		return uuid.UUID{}, false
	}
	id, err := uuid.Parse(s)
	return id, err == nil && id != uuid.Nil
}
