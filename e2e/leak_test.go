package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/addresstest"
	"ccbot/internal/process"
	"ccbot/internal/waittest"
	"ccbot/try/botapi"
)

// outputs are everything that a run has put out somewhere: where, and what.
type outputs struct {
	w    *world
	logs []*botProcess
	all  map[string]string
}

func (w *world) outputs() *outputs { return &outputs{w: w, all: make(map[string]string)} }

func (o *outputs) note(where, what string) { o.all[where] += what + "\n" }

// start is a run of the bot whose log counts.
func (o *outputs) start(env ...string) *botProcess {
	o.w.t.Helper()
	b := o.w.launch(env...)
	o.logs = append(o.logs, b)
	o.w.until("ccbot is ready", func() bool {
		said := b.log.String()
		return strings.Contains(said, "msg=ready") || strings.Contains(said, `"msg":"ready"`)
	})
	return b
}

// ends is a run of the bot that ends by itself with this exit code.
func (o *outputs) ends(code int, env ...string) string {
	o.w.t.Helper()
	b := o.w.launch(env...)
	o.logs = append(o.logs, b)
	o.w.until("ccbot has ended", b.over)
	assert.Equal(o.w.t, code, b.cmd.ProcessState.ExitCode(), b.log)
	return b.log.String()
}

// verb runs a verb while the bot runs, through its socket if needed.
func (o *outputs) verb(args ...string) {
	o.w.t.Helper()
	cmd := exec.Command(filepath.Join(binaries, "ccbot"), args...)
	cmd.Env = o.w.env
	out, err := cmd.CombinedOutput()
	o.note("ccbot "+strings.Join(args, " "), string(out))
	if err != nil {
		o.note("ccbot "+strings.Join(args, " "), err.Error())
	}
}

// processes records the environment and the command line of every process that the bot or its tmux
// server started, but only the command line of the bot: its environment is the configuration.
func (o *outputs) processes() (seen int) {
	o.w.t.Helper()
	ours := map[int]bool{o.w.bot.cmd.Process.Pid: true}
	for _, id := range o.w.panes() {
		ours[id.PID] = true
	}
	snap, err := o.w.table.Snapshot(o.w.t.Context())
	require.NoError(o.w.t, err)
	var below []process.Process
	for pid := range ours {
		below = append(below, snap.Descendants(pid)...)
	}
	for _, p := range below {
		ours[p.PID] = true
	}
	for pid := range ours {
		proc := filepath.Join("/proc", itoa(pid))
		cmdline, _ := os.ReadFile(filepath.Join(proc, "cmdline"))
		o.note("command line of "+itoa(pid), string(cmdline))
		if pid == o.w.bot.cmd.Process.Pid {
			continue
		}
		if environ, err := os.ReadFile(filepath.Join(proc, "environ")); err == nil {
			o.note("environment of "+itoa(pid), string(environ))
			seen++
		}
	}
	return seen
}

// terminals notes what tmux shows and hands on.
func (o *outputs) terminals() {
	o.w.t.Helper()
	o.note("tmux environment", o.w.tmux("show-environment", "-g"))
	for _, name := range strings.Fields(o.w.tmux("list-sessions", "-F", "#{session_name}")) {
		o.note("environment of tmux session "+name, o.w.tmux("show-environment", "-t", "="+name))
	}
	for _, pane := range strings.Fields(o.w.tmux("list-panes", "-a", "-F", "#{pane_id}")) {
		o.note("screen of "+pane, o.w.tmux("capture-pane", "-p", "-S", "-", "-t", pane))
	}
	o.note("tmux buffers", o.w.tmux("list-buffers"))
	o.note("tmux options", o.w.tmux("show-options", "-g"))
}

// files notes all files below the world's folder: states, records, transcripts,
// launch settings, what agents have made.
func (o *outputs) files() {
	o.w.t.Helper()
	walkFiles(o.w.t, filepath.Dir(o.w.state), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "ccbot.env" {
			return err
		}
		data, err := os.ReadFile(path)
		o.note("file "+path, string(data))
		o.note("name of a file", path)
		return err
	})
}

// clean requires that nothing has the token, in whatever form.
func (o *outputs) clean() {
	o.w.t.Helper()
	for i, b := range o.logs {
		o.note(fmt.Sprintf("log of run %d", i), b.log.String())
	}
	for _, chat := range []int64{o.w.chat(), 666, -500} {
		for _, m := range o.w.api.Messages(chat) {
			o.note(fmt.Sprintf("chat %d", chat), fmt.Sprintf("%s %s %+v", m.Text, m.Caption, m.Keyboard))
		}
	}
	for _, c := range o.w.api.Calls() {
		o.note("calls of the Bot API", fmt.Sprint(c.Method, c.Params))
	}
	token := o.w.api.Token()
	_, half, _ := strings.Cut(token, ":")
	for _, form := range []string{half, url.QueryEscape(token), half[:len(half)-4], half[4:]} {
		for where, what := range o.all {
			if at := strings.Index(what, form); at >= 0 {
				assert.Fail(o.w.t, "the token leaks", "%s: …%s…", where, strings.ToValidUTF8(what[max(0, at-200):at], "?"))
			}
		}
	}
}

// manager starts a service manager's socket; told returns the messages it got.
func (w *world) manager() (path string, told func() string) {
	w.t.Helper()
	path = filepath.Join(shortDir(w.t), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(w.t, err)
	var all lockedBuffer
	var reading sync.WaitGroup
	reading.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(&all, "%s\n", buf[:n])
		}
	})
	w.whole.Cleanup(func() { _ = conn.Close(); reading.Wait() })
	return path, all.String
}

// TestP9_WholeRunLeaksNoSecret leads a bot through a day: a session, prompts, a
// permission, files, a Bot API that fails in every way and says the token in its
// errors, an archive, strangers, a crash, a token that is revoked. Then it greps
// all that any of it has put out for the token.
func TestP9_WholeRunLeaksNoSecret(t *testing.T) {
	t.Parallel()
	addr := addresstest.Free(t)
	w := newWorld(t, "METRICS_ADDR="+addr)
	o := w.outputs()
	socket, told := w.manager()
	o.start("NOTIFY_SOCKET="+socket, "WATCHDOG_USEC=400000")
	w.until("the manager knows", func() bool { return strings.Contains(told(), "READY=1") && strings.Contains(told(), "WATCHDOG=1") })
	o.aSession()
	o.strangers()
	o.faults()
	o.verb("list", "--all", "--json")
	o.verb("why", "work")
	o.verb("status", "work", "--json")
	o.verb("recover", "--dry-run", "--json")
	o.verb("recover")
	o.verb("send", "/etc/hostname")
	o.note("metrics", get(t, "http://"+addr+"/metrics"))

	w.hear(w.say("/kill work"), "End work")
	w.tap(w.hear(0, "End work"), "Kill")
	w.hear(0, "work is archived")
	o.crash()
	o.start("LOG_FORMAT=json")
	o.revoked()
	o.onlyInTheFile()
	o.note("what the manager was told", told())
	o.files()
	o.clean()
}

// aSession makes a session produce every kind of output.
func (o *outputs) aSession() {
	w := o.w
	w.t.Helper()
	w.open("work", w.dir)
	w.hear(w.say("say hello"), "hello")
	id := w.say("bash touch a-marker")
	asked := w.hear(id, "wants to run a command")
	if seen := o.processes(); runtime.GOOS == "linux" {
		assert.Greater(w.t, seen, 3, "the hook waits, too")
	}
	w.tap(asked, "Allow")
	w.becomes(asked, "Allowed in the chat", true)
	require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, "report.txt"), []byte("all is well"), 0o600))
	w.drained()
	w.say("!env >all-variables; ccbot send report.txt")
	w.find("the file is in the chat", func(m botapi.Message) bool { return m.Document != nil && m.Document.FileName == "report.txt" })
	vars, err := os.ReadFile(filepath.Join(w.dir, "all-variables"))
	require.NoError(w.t, err)
	for _, absent := range []string{"TELEGRAM_BOT_TOKEN", "ALLOWED_USERS", "NOTIFY_SOCKET", "WATCHDOG_"} {
		assert.NotContains(w.t, string(vars), absent, "the agent's own environment")
	}
	o.processes()
	o.terminals()
}

// strangers write and tap without permission: the bot stays silent and stores nothing.
func (o *outputs) strangers() {
	w := o.w
	w.t.Helper()
	w.api.Group(-500, "not listed", false)
	w.person.Send(-500, "/list from a group that nobody listed")
	stranger := w.api.Person(666, "Mallory")
	stranger.Send(666, "/new evil /tmp")
	stranger.SendFile(666, "evil.txt", "text/plain", []byte("x"), "evil")
	_, err := w.api.Inject(fmt.Appendf(nil, `{"callback_query":{"id":"1","from":{"id":666,"is_bot":false,"first_name":"M"},"chat_instance":"1",`+
		`"data":"kill:x","message":{"message_id":1,"date":1,"chat":{"id":666,"type":"private"}}}}`))
	require.NoError(w.t, err)
	w.hear(w.say("/list"), "work")
	for _, chat := range []int64{-500, 666} {
		for _, m := range w.api.Messages(chat) {
			assert.False(w.t, m.FromBot, "the bot said %q", m.Text)
		}
	}
	for _, c := range w.api.Calls() {
		assert.False(w.t, c.Params["chat_id"] == "666" || c.Params["chat_id"] == "-500" || c.Params["callback_query_id"] == "1" || c.Method == "getFile", c.Method)
	}
}

// faults has the Bot API fail in every way there is, also with the token in what it
// says, as a proxy might.
func (o *outputs) faults() {
	w := o.w
	w.t.Helper()
	says := func(method string) botapi.Fault {
		return botapi.Fault{Method: method, Kind: botapi.FaultStatus, Status: 500, Description: "no page for /bot" + w.api.Token() + "/" + method}
	}
	fails := func(method string, kind botapi.FaultKind) botapi.Fault {
		return botapi.Fault{Method: method, Kind: kind}
	}
	for _, f := range []botapi.Fault{
		says("sendMessage"), fails("sendMessage", botapi.FaultTruncated), fails("sendMessage", botapi.FaultHTML502),
		says("getUpdates"), fails("getUpdates", botapi.FaultResetBefore), fails("getUpdates", botapi.FaultHTML502),
		{Method: "getUpdates", Kind: botapi.FaultConflict, Description: "Conflict: " + url.QueryEscape(w.api.Token())},
		says("setMessageReaction"), fails("editMessageText", botapi.FaultResetAfter),
	} {
		w.api.Fault(f)
	}
	id := w.say("say after the faults")
	w.until("it is answered", func() bool { return w.heardAfter(id, "after the faults") })
	for _, method := range []string{"sendMessage", "getUpdates"} {
		assert.Contains(w.t, w.bot.log.String(), "no page for /bot[redacted]/"+method, "what was said had the token in it")
	}
}

// crash ends the bot as a watchdog does: it prints the stacks of its goroutines.
func (o *outputs) crash() {
	w := o.w
	w.t.Helper()
	limits, err := os.ReadFile(filepath.Join("/proc", itoa(w.bot.cmd.Process.Pid), "limits"))
	if err == nil {
		assert.Regexp(w.t, `Max core file size +0 +0 `, string(limits))
	}
	require.NoError(w.t, w.bot.cmd.Process.Signal(syscall.SIGABRT))
	w.until("ccbot has ended", w.bot.over)
	assert.Contains(w.t, w.bot.log.String(), "goroutine ")
	status, ok := w.bot.cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(w.t, ok)
	assert.Equal(w.t, syscall.SIGABRT, status.Signal(), "an exit code could be one after which it is not started again")
	assert.False(w.t, status.CoreDump(), "core files are off")
}

// revoked takes the token away while the bot runs, and before it starts.
func (o *outputs) revoked() {
	w := o.w
	w.t.Helper()
	for _, method := range []string{"getUpdates", "getMe"} {
		defer w.api.Fault(botapi.Fault{Method: method, Kind: botapi.FaultUnauthorized, Times: -1,
			Description: "Unauthorized: " + w.api.Token()})()
	}
	w.say("wake the poll")
	w.until("the bot asks who it is", func() bool { return strings.Contains(w.bot.log.String(), "bot_token_refused") })
	w.stop()
	assert.Contains(w.t, o.ends(2), "telegram does not know TELEGRAM_BOT_TOKEN: ask @BotFather for the present one")
}

// onlyInTheFile runs with the token in ccbot.env: not even the bot's own environment
// has it then.
func (o *outputs) onlyInTheFile() {
	w := o.w
	w.t.Helper()
	var name, value string
	w.env = slices.DeleteFunc(slices.Clone(w.env), func(kv string) bool {
		n, v, _ := strings.Cut(kv, "=")
		if n == "TELEGRAM_BOT_TOKEN" {
			name, value = n, v
		}
		return n == "TELEGRAM_BOT_TOKEN"
	})
	require.NoError(w.t, os.WriteFile(filepath.Join(w.state, "ccbot.env"), fmt.Appendf(nil, "%s=%s\n", name, value), 0o600))
	o.start()
	w.open("again", w.dir)
	w.hear(w.say("say from the file"), "from the file")
	o.processes()
	environ, err := os.ReadFile(filepath.Join("/proc", itoa(w.bot.cmd.Process.Pid), "environ"))
	if err == nil { // root's: not readable
		o.note("environment of the bot", string(environ))
	}
	o.terminals()
	w.stop()
}

// get reads a page.
func get(t *testing.T, address string) string {
	t.Helper()
	ask, err := http.NewRequestWithContext(waittest.Context(t), http.MethodGet, address, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(ask)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(data)
}

// TestP9_OldTapNeedsRepeat: a callback query has no date. A tap that waited an hour without a bot
// is reported, not done; a second tap is done.
func TestP9_OldTapNeedsRepeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	asked := w.hear(w.say("/kill work"), "End work")
	w.drained()
	w.stop()
	w.lastAlive(time.Hour)
	button, ok := asked.Find("Kill")
	require.True(t, ok)
	var tap sync.WaitGroup
	tap.Go(func() { _, _ = w.person.Tap(w.chat(), asked.ID, button.Data) }) // the start may take longer than a tap waits
	w.until("the tap waits", func() bool { return w.api.Pending() > 0 })
	w.start()
	w.until("the tap is answered", func() bool {
		return slices.ContainsFunc(w.api.Calls(), func(c botapi.Call) bool {
			return strings.EqualFold(c.Method, "answerCallbackQuery") && strings.Contains(c.Params["text"], "Tap again")
		})
	})
	tap.Wait()
	w.hear(w.say("say still there"), "still there")
	w.tap(asked, "Kill")
	w.hear(0, "work is archived")
	w.stop()
}
