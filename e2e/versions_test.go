//go:build versions

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// earlier is the folder with the programs of another version: `make test-versions` builds them.
var earlier = os.Getenv("CCBOT_EARLIER")

// TestMixedVersions runs the chat, another machine and the hub in different versions: a session, its
// prompts, answers, requests and pages work with each mix.
func TestMixedVersions(t *testing.T) {
	for name, tt := range map[string]struct{ chat, machine, hub bool }{ // which of them are the other version
		"an earlier machine":           {machine: true},
		"an earlier chat":              {chat: true},
		"an earlier hub":               {hub: true},
		"an earlier chat and its hub":  {chat: true, hub: true},
		"an earlier machine and a hub": {machine: true, hub: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := func(name string, other bool) string {
				if other {
					return filepath.Join(earlier, name)
				}
				return filepath.Join(binaries, name)
			}
			w := newWorld(t)
			w.ccbot = program("ccbot", tt.chat)
			w.start()
			there := w.newHost()
			there.ccbot = program("ccbot", tt.machine)
			hub, pin := w.newHub()
			hub.program = program("ccbot-hub", tt.hub)
			term := w.newTerminal()
			term.says(w.ccbot + " host hub " + hub.address + " " + pin + " > " + hub.dir + "/trust.json")
			hub.start()
			w.joinsFromPage(there, "B")
			there.startHost()
			w.reached("B")

			ready := w.hear(w.say("/new api B:"+there.dir), "api is ready")
			w.hear(w.say("say an answer of the other machine"), "an answer of the other machine")
			there.typeInTerminal("api", "bash touch a-marker")
			asked := w.hear(ready.ID, "B:api wants to run a command")
			w.tap(asked, "Allow")
			w.becomes(asked, "Allowed in the chat", true)
			w.hear(asked.ID, "(pretended: touch a-marker)")
			w.hear(w.say("/list"), "B:api")
			w.hear(w.say("/hosts"), "agents: 1")
			w.hear(w.say("/why B:api"), "B:api: running")
			w.hear(w.say("/history"), "an answer of the other machine")
			w.hear(w.say("/usage"), "Usage")
			w.hear(w.say("/settings"), "Settings")
			w.say("/screenshot")
			b := w.browses(w.person, w.chat())
			b.taps("B", "work", "Use this folder", "Start fresh")
			w.hear(b.page, "is ready")
			there.kill9()
			w.hear(w.say("/list"), "B:api · state unknown")
			there.startHost()
			w.reached("B")
			w.hear(w.say("say it is back"), "it is back")
			w.end("B:api")
			require.Len(t, there.windows(), 1)
			w.stop()
		})
	}
}
