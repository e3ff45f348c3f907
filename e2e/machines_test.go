package e2e

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/host/received"
	"ccbot/try/botapi"
)

// withMachine makes a hub, and another machine that joins the bot's chat under a name.
func (w *world) withMachine(name string, env ...string) (there *world, hub *hubProcess) {
	w.t.Helper()
	there = w.newHost()
	there.env = append(there.env, env...)
	term := w.newTerminal()
	hub, pin := w.newHub()
	term.says("ccbot host hub " + hub.address + " " + pin + " > " + hub.dir + "/trust.json")
	hub.start()
	w.joinsChat(term, there, name)
	there.startHost()
	return there, hub
}

// newHost makes a machine without a chat of its own.
func (w *world) newHost() *world {
	w.t.Helper()
	zone := slices.DeleteFunc(slices.Clone(w.env), func(v string) bool { return !strings.HasPrefix(v, "TZ=") })
	there := newWorld(w.t, zone...)
	there.env = slices.DeleteFunc(there.env, func(v string) bool {
		return strings.HasPrefix(v, "TELEGRAM_") || strings.HasPrefix(v, "ALLOWED_")
	})
	return there
}

// joinsChat lets a machine join the bot's chat under a name.
func (w *world) joinsChat(term terminal, there *world, name string) {
	w.t.Helper()
	file := there.state + "-compared"
	here, code := term.offer(name, file, "y")
	joining := there.run([]string{"join", code})
	w.until("both show a fingerprint", func() bool {
		return len(fingerprint.FindAllString(here.file()+joining.log.String(), -1)) == 2
	})
	require.NoError(w.t, os.WriteFile(file, nil, 0o600))
	w.until("the machine has joined", joining.over)
	exit, _, errs := here.end()
	require.Zero(w.t, exit, errs)
}

// reached waits until the bot reaches a machine.
func (w *world) reached(name string) {
	w.t.Helper()
	w.until("the machine is reached", func() bool { return w.presentIs(name) })
}

func (w *world) presentIs(name string) bool {
	return regexp.MustCompile(`(?m)^` + name + `  [a-z0-9]{8}  present;`).MatchString(w.newTerminal().says("ccbot host list"))
}

// TestP8_BotWithAnotherMachine runs a session on another machine from the chat, and ends the
// machine, the hub and the bot in between.
func TestP8_BotWithAnotherMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	there, hub := w.withMachine("B")
	w.reached("B")
	ready := w.hear(w.say("/new api B:"+there.dir), "api is ready")
	assert.Contains(t, ready.Text, "B:")
	assert.Equal(t, []string{"api"}, there.windows())
	assert.Empty(t, w.windows())

	there.typeInTerminal("api", "bash touch a-marker")
	asked := w.hear(ready.ID, "B:api wants to run a command")
	there.kill9()
	w.tap(w.becomes(asked, "B has not answered since", false), "Allow")
	w.becomes(asked, "not delivered yet", false)
	w.hear(asked.ID, "1 session ran there: B:api.")
	there.startHost()
	w.hear(asked.ID, "B answers again after")
	w.becomes(asked, "Allowed in the chat", true)
	assert.Equal(t, 1, w.heard("touch a-marker\n"), "one message for one request")

	require.NoError(t, os.WriteFile(filepath.Join(there.dir, "report.txt"), []byte("all is well"), 0o600))
	w.say("!ccbot send report.txt --caption 'the report' > sent.txt; ccbot send none.txt 2> missing.txt")
	sent := w.find("the file is in the chat", func(m botapi.Message) bool { return m.Document != nil && m.Document.FileName == "report.txt" })
	assert.Equal(t, "the report", sent.Caption)
	said := func(file, want string) {
		w.until("the agent knows it", func() bool {
			data, err := os.ReadFile(filepath.Join(there.dir, file))
			return err == nil && strings.Contains(string(data), want)
		})
	}
	said("sent.txt", "report.txt is in the chat")
	said("missing.txt", "there is no such file")

	there.kill9()
	w.until("the machine is missed", func() bool { return !w.presentIs("B") })
	w.hear(w.say("/list"), "B:api · state unknown")
	assert.Equal(t, []string{"api"}, there.windows())
	there.startHost()
	w.reached("B")

	hub.kill()
	require.NoError(t, os.RemoveAll(filepath.Join(hub.dir, "store")))
	hub.start()
	w.kill9()
	w.start()
	w.reached("B")
	w.until("the chat knows its sessions", func() bool { // a moment after the machine is present
		asked := w.say("/list")
		list := w.find("the list", func(m botapi.Message) bool { return m.FromBot && m.ID > asked })
		return strings.Contains(list.Text, "B:api") && !strings.Contains(list.Text, "unknown")
	})
	receipt := w.end("B:api")
	assert.Contains(t, receipt.Text, "B")
	assert.Empty(t, there.windows())
	assert.Contains(t, w.newTerminal().says("ccbot host remove B"), "B was removed")
	w.until("the machine has stopped", there.bot.over)
	assert.Equal(t, 2, there.bot.cmd.ProcessState.ExitCode())
	assert.Contains(t, there.bot.log.String(), "the chat has removed this machine")
	w.stop()
}

// TestP4_FilesOnAnotherMachineAge: a file from the chat is removed on another machine after its
// time, once the chat has answered that no prompt needs it.
func TestP4_FilesOnAnotherMachineAge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	there, _ := w.withMachine("B", "INBOX_TTL=10s")
	w.reached("B")
	w.hear(w.say("/new api B:"+there.dir), "api is ready")
	sent := w.person.SendFile(w.chat(), "report.txt", "text/plain", []byte("a report"), "say read it")
	file := filepath.Join(there.dir, received.Folder, "report.txt")
	w.until("the file is there", func() bool { _, err := os.Stat(file); return err == nil })
	w.hear(sent, "read it")
	w.end("B:api")
	w.until("the file is removed", func() bool {
		_, err := os.Stat(file)
		return errors.Is(err, fs.ErrNotExist)
	})
	w.stop()
}
