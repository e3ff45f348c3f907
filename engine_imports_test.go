package ccbot_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// enginePackage connects the parts that run sessions, in the bot and in `ccbot host run`.
const enginePackage = "cmd/ccbot/engine"

// chatImports are the packages through which the engine still depends on types and constants of the
// chat, with what it must find elsewhere. An unused one fails the test.
var chatImports = map[string]string{
	"cmd/ccbot/config":  "the names of choices, which belong to the settings",
	"cmd/ccbot/offline": "the sentences for a terminal, which the engine does not use",
	"cmd/ccbot/socket":  "the limits of a file",
}

// TestEngineImportsNoChat fails if the engine imports a package of the chat, also indirectly: then
// sessions would depend on a chat that may be on another machine.
func TestEngineImportsNoChat(t *testing.T) {
	imports := make(map[string][]string)
	for _, s := range sources(t) {
		if !s.test {
			imports[s.pkg] = append(imports[s.pkg], s.imports...)
		}
	}
	through, seen := make(map[string]bool), map[string]bool{enginePackage: true}
	for queue := []string{enginePackage}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, to := range imports[from] {
			switch {
			case isChat(to) && chatImports[from] != "":
				through[from] = true
			case isChat(to):
				assert.Fail(t, "the engine depends on the chat", "%s imports %s", from, to)
			case !seen[to]:
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	assert.Greater(t, len(seen), 50)
	assert.Equal(t, slices.Sorted(maps.Keys(chatImports)), slices.Sorted(maps.Keys(through)), "take the others off the list")
}

func isChat(pkg string) bool { return pkg == "bot" || strings.HasPrefix(pkg, "bot/") }
