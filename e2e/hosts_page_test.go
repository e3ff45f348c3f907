package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// hosts opens the page of machines.
func (w *world) hosts() *browser {
	w.t.Helper()
	asked := w.say("/hosts")
	b := &browser{w: w, by: w.person, chat: w.chat()}
	b.at(w.hear(asked, "Machines").ID)
	return b
}

// says returns the present text of the page.
func (b *browser) says() string {
	m, _ := b.w.api.Message(b.chat, b.page)
	return m.Text
}

// refreshes refreshes the page until its text matches a pattern. It waits longer after each tap,
// because the bot sends only the last of several edits.
func (b *browser) refreshes(pattern string) {
	b.w.t.Helper()
	wanted, pause := regexp.MustCompile(pattern), time.Duration(0)
	b.w.until("the page has "+pattern, func() bool {
		m, _ := b.w.api.Message(b.chat, b.page)
		if button, has := m.Find("Refresh"); has && !wanted.MatchString(m.Text) {
			_, err := b.by.Tap(b.chat, b.page, button.Data)
			if !errors.Is(err, botapi.ErrNoButton) { // the page was drawn again
				b.w.tapped(err)
			}
			pause += time.Second
			time.Sleep(pause)
		}
		return wanted.MatchString(m.Text)
	})
}

// joinsFromPage lets a machine join with the chat alone, and returns the used code.
func (w *world) joinsFromPage(there *world, name string) (code string) {
	w.t.Helper()
	b := w.hosts()
	b.taps("Add")
	b.at(w.hear(w.person.Reply(w.chat(), b.page, name), "Run this on "+name).ID)
	code = joinCode.FindStringSubmatch(b.says())[1]
	joining := there.run([]string{"join", code})
	b.shows(name + " wants to join")
	assert.NotContains(w.t, b.says(), code)
	w.until("the machine shows its fingerprint", func() bool { return fingerprint.MatchString(joining.log.String()) })
	assert.Equal(w.t, fingerprint.FindString(joining.log.String()), fingerprint.FindString(b.says()))
	assert.False(w.t, joining.over(), "it joins only after the tap")
	b.taps("They match: let it in")
	b.shows(name + " has joined")
	w.until("the machine has joined", joining.over)
	require.Zero(w.t, joining.cmd.ProcessState.ExitCode(), joining.log)
	return code
}

// TestP9_ChatAddsAndRemovesMachine adds a machine from the chat, works there, and takes its rights
// back, with no verb of ccbot on the chat's machine once the hub is named.
func TestP9_ChatAddsAndRemovesMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	there := w.newHost()
	hub, pin := w.newHub()
	w.newTerminal().says("ccbot host hub " + hub.address + " " + pin + " > " + hub.dir + "/trust.json")
	hub.start()
	code := w.joinsFromPage(there, "B")
	again := there.run([]string{"join", code}, "CCBOT_DIR="+there.state+"-second")
	w.until("the used code is refused", again.over)
	assert.Equal(t, 1, again.cmd.ProcessState.ExitCode(), again.log)

	there.startHost()
	b := w.hosts()
	b.refreshes(`B\nLast contact .*\nccbot .*, agents: 0,`)
	b = w.browses(w.person, w.chat())
	b.taps("B", "work", "Use this folder", "Start fresh")
	w.hear(b.page, "is ready")
	w.hear(w.say("say an answer of the other machine"), "an answer of the other machine")
	assert.Empty(t, w.windows())
	require.Len(t, there.windows(), 1)
	b = w.hosts()
	b.refreshes(`B\nLast contact .* ago\.\nccbot .*, agents: 1,`)

	stolen := there.state + "-stolen"
	w.until("the keys are copied", func() bool { // the machine removes what it has sent
		require.NoError(t, os.RemoveAll(stolen))
		err := os.CopyFS(filepath.Join(stolen, "fleet"), os.DirFS(filepath.Join(there.state, "fleet")))
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
		}
		return err == nil
	})
	require.NoError(t, filepath.WalkDir(stolen, func(path string, d fs.DirEntry, err error) error { // whatever the umask is
		mode := fs.FileMode(0o600)
		if err == nil && d.IsDir() {
			mode = 0o700
		}
		return errors.Join(err, os.Chmod(path, mode))
	}))
	b.taps("Remove B")
	b.shows("Remove B? Its sessions go on there")
	b.taps("Remove")
	b.shows("Machines")
	b.refreshes(`^Machines\n\n.*\nccbot .*$`)
	w.until("the machine has stopped", there.bot.over)
	assert.Equal(t, 2, there.bot.cmd.ProcessState.ExitCode())
	assert.Contains(t, there.bot.log.String(), "the chat has removed this machine")
	assert.Len(t, there.windows(), 1, "its sessions go on")
	again = there.run([]string{"host", "run"})
	w.until("a later start ends", again.over)
	assert.Equal(t, 2, again.cmd.ProcessState.ExitCode(), again.log)
	there.run([]string{"host", "run"}, "CCBOT_DIR="+stolen)
	w.until("the hub refuses a copy of the keys", func() bool {
		return strings.Contains(there.bot.log.String(), "the hub refuses this user")
	})
	assert.NotContains(t, there.bot.log.String(), "msg=hub_reached")
	there.kill9()
	w.hear(w.say("/new B:~"), "B")
	assert.Len(t, there.windows(), 1)
	assert.Equal(t, 1, w.count(w.chat(), "an answer of the other machine"))
	w.stop()
}
