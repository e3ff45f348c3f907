package bot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/fleet/wire"
	"ccbot/host"
	"ccbot/i18n"
)

// besideBarn names the chat's own machine attic, and adds another one, barn, with a folder. It
// returns after barn has answered.
func besideBarn(t *testing.T, w *browsing, dir string) *wire.Loop {
	t.Helper()
	w.MachineName = "attic"
	w.Again()
	other := chattest.NewWorld(t)
	other.Home = host.WithoutLinks(t.TempDir())
	other.AgentsHome = other.Home
	require.NoError(t, os.MkdirAll(filepath.Join(other.Home, dir), 0o700))
	m, link := wire.Loopback(t.Context(), other.Machine)
	require.NoError(t, w.Fleet.Add("bbbb", "barn", m))
	w.MustHear(t, "/list")
	return link
}

// TestBrowserBeginsWithMachines: a person chooses the machine first, and then a folder there. A
// machine that does not answer is named, and has no button.
func TestBrowserBeginsWithMachines(t *testing.T) {
	w := inFolders(t, "here")
	link := besideBarn(t, w, "there")

	w.open()
	assert.NotContains(t, w.buttons(), w.say(i18n.ButtonBrowse))
	assert.Contains(t, w.buttons(), "attic")
	w.press("barn")
	assert.Contains(t, w.text(), "barn:~")
	assert.NotContains(t, w.buttons(), "here")
	w.press("there", w.say(i18n.ButtonUseThis))
	assert.True(t, w.chose("barn:~/there"), w.text())

	link.Set(wire.Faults{Unreachable: true})
	w.Fleet.Note("bbbb", true, w.Now())
	w.open()
	assert.NotContains(t, w.buttons(), "barn")
	assert.Contains(t, w.text(), "barn has not answered")
	w.press("attic")
	assert.Contains(t, w.buttons(), "here")
}

// TestP6_BrowserSearchesAllMachines: a search finds folders of each machine, and names a machine
// that does not answer it, which hides nothing of the others.
func TestP6_BrowserSearchesAllMachines(t *testing.T) {
	w := inFolders(t, "api-here", "web")
	link := besideBarn(t, w, "api-there")

	w.open()
	w.reply("api")
	assert.Contains(t, w.text(), w.say(i18n.NewFiltered, i18n.Args{"Sought": "api", "Count": 2}))
	assert.Contains(t, w.text(), "below ~, barn:~")
	assert.Equal(t, []string{"~/api-here", "barn:~/api-there"}, w.buttons()[:2])
	w.press("barn:~/api-there")
	assert.True(t, w.chose("barn:~/api-there"), w.text())

	link.Set(wire.Faults{Unreachable: true})
	w.open()
	w.reply("api")
	assert.Equal(t, "~/api-here", w.buttons()[0])
	assert.NotContains(t, w.buttons(), "barn:~/api-there")
	assert.Contains(t, w.text(), "barn does not answer.")
	w.Fleet.Note("bbbb", true, w.Now())
	w.open()
	w.reply("api")
	assert.Equal(t, 1, strings.Count(w.text(), "barn has not answered"), w.text())
}
