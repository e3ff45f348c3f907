package bot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/fleet/wire"
	"ccbot/host"
	"ccbot/i18n"
)

// TestBrowserBeginsWithMachines: a person chooses the machine first, and then a folder there. A
// machine that does not answer is named, and has no button.
func TestBrowserBeginsWithMachines(t *testing.T) {
	w := inFolders(t, "here")
	w.MachineName = "attic"
	w.Again()
	other := chattest.NewWorld(t)
	other.Home = host.WithoutLinks(t.TempDir())
	other.AgentsHome = other.Home
	require.NoError(t, os.MkdirAll(filepath.Join(other.Home, "there"), 0o700))
	m, link := wire.Loopback(t.Context(), other.Machine)
	require.NoError(t, w.Fleet.Add("bbbb", "barn", m))
	w.MustHear(t, "/list") // barn has answered

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
