package e2e

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/statefolder"
	"ccbot/host/received"
	"ccbot/internal/process"
	"ccbot/internal/processtest"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
)

// triesRemoval also runs the commands that it prints, apart from the last one: the programs are those
// of all tests.
func triesRemoval(o *operator, blocks []string) {
	require.Equal(o.t, []string{"ccbot uninstall"}, blocks)
	o.serve()
	o.open("api", o.dir)
	o.person.SendFile(o.chat(), "a.txt", "text/plain", []byte("a report"), "say read it")
	o.hear(0, "read it")
	agents := o.agents()
	require.Len(o.t, agents, 1)
	completions := filepath.Join(o.root, ".local/share/bash-completion/completions")
	require.NoError(o.t, os.MkdirAll(completions, 0o700))
	o.term.says("ccbot hooks install && ccbot completion bash > " + filepath.Join(completions, "ccbot"))
	rest, programs, found := strings.Cut(o.runs(blocks[0]), "Remove the programs:\n")
	require.True(o.t, found)
	assert.Contains(o.t, programs, "  rm "+filepath.Join(binaries, "ccbot-hook")+"\n")
	assert.NoFileExists(o.t, filepath.Join(o.root, ".config/systemd/user/ccbot.service"))
	assert.NoFileExists(o.t, filepath.Join(o.claude, "settings.json"))
	assert.Equal(o.t, agents, o.agents())

	var commands []string
	for line := range strings.Lines(rest) {
		if command, is := strings.CutPrefix(line, "  "); is {
			commands = append(commands, command)
		}
	}
	assert.Len(o.t, commands, 6, rest) // one session, two sessions of tmux, a folder, completions, the state
	o.runs(strings.Join(commands, ""))
	assert.Equal(o.t, process.Gone, o.table.Liveness(agents[0]))
	assert.NoDirExists(o.t, o.state)
	assert.NoDirExists(o.t, filepath.Join(o.dir, received.Folder))
	assert.NoFileExists(o.t, filepath.Join(completions, "ccbot"))
	assert.Empty(o.t, o.panes())
}

// released makes a release of the tests' programs in a folder.
func (o *operator) released() (dir, version string) {
	o.t.Helper()
	dir, version = o.whole.TempDir(), "v0.0.1"
	name := "ccbot-" + version + "-linux-" + runtime.GOARCH
	require.NoError(o.t, os.Mkdir(filepath.Join(dir, name), 0o700))
	for _, program := range []string{"ccbot", "ccbot-codex", "ccbot-hook", "ccbot-hub", "ccbot-try"} {
		require.NoError(o.t, os.Symlink(filepath.Join(binaries, program), filepath.Join(dir, name, program)))
	}
	sums, err := exec.Command("sh", "-c", `cd "$0" && sha256sum ccbot*`, filepath.Join(dir, name)).Output()
	require.NoError(o.t, err)
	require.NoError(o.t, os.WriteFile(filepath.Join(dir, name, "SHA256SUMS"), sums, 0o600))
	script, err := os.ReadFile("../tools/dist/install.sh")
	require.NoError(o.t, err)
	require.NoError(o.t, os.WriteFile(filepath.Join(dir, name, "install"), script, 0o700)) //nolint:gosec // it is run
	out, err := exec.Command("tar", "-C", dir, "-chzf", filepath.Join(dir, name+".tar.gz"), name).CombinedOutput()
	require.NoError(o.t, err, string(out))
	require.NoError(o.t, os.RemoveAll(filepath.Join(dir, name)))
	data, err := os.ReadFile(filepath.Join(dir, name+".tar.gz"))
	require.NoError(o.t, err)
	archives := fmt.Sprintf("%x  %s.tar.gz\n%064x  ccbot-%s-darwin-arm64.tar.gz\n", sha256.Sum256(data), name, 0, version)
	require.NoError(o.t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(archives), 0o600))
	return dir, version
}

func triesUpgrade(o *operator, blocks []string) {
	said := o.runs(blocks[0])
	assert.Contains(o.t, said, "ccbot v0.0.1 ")
	assert.Contains(o.t, said, "CHANGELOG.md")
}

func triesInstall(o *operator, blocks []string) {
	dir, version := o.released()
	install := "install --no-setup"
	if os.Getuid() == 0 { // it refuses root, who may run the tests
		install += " --as-root"
	}
	o.runs("cd "+dir+"\n"+blocks[0], "VERSION", version, "linux-amd64", "linux-"+runtime.GOARCH, "install --no-setup", install)
	assert.Contains(o.t, o.term.says(filepath.Join(o.root, ".local/bin/ccbot")+" version"), version)
}

func triesTwoMachines(o *operator, blocks []string) {
	first := o.start()
	other := newWorld(o.t, "TELEGRAM_API_URL="+o.api.URL(), "TELEGRAM_BOT_TOKEN="+o.api.Token())
	second := other.start()
	rival := func(b *botProcess) bool { return strings.Contains(b.log.String(), "msg=polls_rival") }
	o.until("one of them knows of the other", func() bool { return rival(first) || rival(second) })
	term := o.term
	if rival(second) {
		term = other.newTerminal()
	}
	o.until("doctor knows of it", func() bool {
		_, said, _ := term.call(blocks[0]).end()
		return strings.Contains(said, "polls_rival")
	})
}

func triesPerson(o *operator, blocks []string) {
	o.serve()
	o.runs(blocks[0])
	o.until("the settings are read", func() bool { return strings.Contains(o.journal(), "msg=settings_reloaded") })
	added := o.api.Person(22222222, "Ann")
	added.Start()
	added.Send(added.ID(), "/list")
	o.hearIn(added.ID(), noSessions)
}

func triesHooks(o *operator, blocks []string) {
	o.term.says("ccbot hooks install")
	assert.Contains(o.t, o.runs(blocks[0]), "SessionStart: installed\nUserPromptSubmit: installed\n")
	data, err := os.ReadFile(filepath.Join(o.claude, "settings.json"))
	require.NoError(o.t, err)
	assert.Equal(o.t, 2, strings.Count(string(data), "ccbot-hook"))
}

func triesReach(o *operator, blocks []string) {
	said := o.runs(blocks[0])
	assert.Contains(o.t, said, "CCBOT_ROOTS")
	assert.Regexp(o.t, `CCBOT_PERMISSION_MODE +\w+ +ask`, said)
}

// triesAnotherMachine has the same Telegram and the sessions' folder on both machines, and nothing
// else: what differs between the two in ccbot.env is corrected before setup, as the page asks.
func triesAnotherMachine(o *operator, blocks []string) {
	o.agentAtHome()
	o.serve()
	o.open("api", o.dir)
	o.hear(o.say("say remember this"), "remember this")
	claude := o.claudeIDOf("api")
	o.runs(blocks[0])

	n := newOperator(o.t)
	n.api, n.person, n.dir = o.api, o.person, o.dir
	n.agentAtHome()
	settings, err := os.ReadFile(filepath.Join(n.state, "ccbot.env"))
	require.NoError(o.t, err)
	own, err := statefolder.ParseSettings(string(settings))
	require.NoError(o.t, err)
	archive, err := os.ReadFile(filepath.Join(o.root, "ccbot.tar.gz"))
	require.NoError(o.t, err)
	require.NoError(o.t, os.WriteFile(filepath.Join(n.root, "ccbot.tar.gz"), archive, 0o600))
	n.whole.Cleanup(func() { n.systemctl("stop") })
	unpack, setup, found := strings.Cut(blocks[1], "\n")
	require.True(o.t, found)
	n.runs(unpack)
	for _, name := range []string{"CCBOT_TMUX_SOCKET", "CLAUDE_COMMAND", "DEMOAGENT_LOG"} {
		n.setting(name, own[name])
	}
	n.runs(setup)
	n.hear(n.say("say once more"), "once more")
	assert.Equal(o.t, claude, n.claudeIDOf("api"))
	assert.Contains(o.t, n.transcript(claude), "remember this")
	assert.Contains(o.t, n.transcript(claude), "once more")

	n.term.says("ccbot archive api --yes")
	other := n.whole.TempDir()
	n.say("/resume api " + other)
	n.until("it is back in another folder", func() bool { return n.record("api").Dir == other && n.record("api").State == session.Running })
	n.hear(n.say("say elsewhere"), "elsewhere")
	assert.Equal(o.t, claude, n.claudeIDOf("api"))
	assert.Contains(o.t, n.transcript(claude), "elsewhere")
}

func triesProxy(o *operator, blocks []string) {
	var mu sync.Mutex
	asked := make(map[string]int)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Method+" "+r.Host]++
		mu.Unlock()
		http.Error(w, "no way out", http.StatusForbidden)
	}))
	o.t.Cleanup(proxy.Close)
	o.serve()
	address := strings.TrimPrefix(proxy.URL, "http://")
	lines := strings.Split(blocks[0], "\n")
	o.runs(strings.Join(lines[:2], "\n"), "127.0.0.1:3128", address)
	o.up()
	o.open("api", o.dir)
	o.hear(o.say("!echo proxy is $HTTPS_PROXY"), "proxy is "+proxy.URL)

	o.setting("TELEGRAM_API_URL", "") // a stand-in on this machine needs no proxy
	o.term.says("ccbot service restart")
	telegram := func() int {
		mu.Lock()
		defer mu.Unlock()
		return asked["CONNECT api.telegram.org:443"]
	}
	o.until("the service asks the proxy for Telegram", func() bool { return telegram() > 0 })
	o.systemctl("stop")
	before := telegram()
	_, said, _ := o.term.call(o.script(lines[2])).end()
	assert.Contains(o.t, said, "telegram_unreachable")
	assert.Greater(o.t, telegram(), before, "doctor asks the proxy")
}

func triesMove(o *operator, blocks []string) {
	o.serve()
	o.term.says("ccbot hooks install")
	o.open("api", o.dir)
	o.hear(o.say("say before"), "before")
	agents := o.agents()
	require.NoError(o.t, os.Mkdir(filepath.Join(o.root, "data"), 0o700))
	o.runs(blocks[0], "/data/", filepath.Join(o.root, "data")+"/")
	o.up()
	to, err := os.Readlink(o.state)
	require.NoError(o.t, err)
	assert.Equal(o.t, filepath.Join(o.root, "data/ccbot"), to)
	o.hear(o.say("say after"), "after")
	assert.Equal(o.t, agents, o.agents())
	assert.Equal(o.t, []string{"say before", "say after"}, o.received())
	assert.Contains(o.t, o.term.says("ccbot hooks status"), "SessionStart: installed")
}

func triesNewBot(o *operator, blocks []string) {
	stop, setup, found := strings.Cut(blocks[0], "\n")
	require.True(o.t, found)
	right := o.api.Token()
	o.setting("TELEGRAM_BOT_TOKEN", right[:len(right)-4]+"0000")
	o.term.says("ccbot service install || true") // Telegram refuses the token
	o.whole.Cleanup(func() { o.systemctl("stop") })
	o.token()
	o.runs(blocks[0])
	o.up()
	o.open("api", o.dir)
	o.hear(o.say("say to the first bot"), "to the first bot")
	agents := o.agents()
	o.drained()

	second := botapitest.Start(o.t, botapi.Options{Token: "987654321:" + right[strings.IndexByte(right, ':')+1:]})
	o.runs(stop + "\n" + blocks[1])
	o.api, o.person = second, second.PagePerson()
	o.setting("TELEGRAM_API_URL", second.URL())
	o.token()
	o.person.Start()
	o.runs(setup)
	o.up()
	o.hear(o.say("/list"), "api")
	o.tap(o.offered(o.say("say to the second bot"), "Send to api"), "Send to api")
	o.hear(0, "to the second bot")
	assert.Equal(o.t, agents, o.agents())
	assert.Equal(o.t, []string{"say to the first bot", "say to the second bot"}, o.received())
}

func triesTelegram(o *operator, blocks []string) {
	assert.Contains(o.t, o.runs(blocks[0]), o.api.URL())
}

// calls are the methods of the Bot API that the page lists.
var calls = sync.OnceValue(func() map[string]bool {
	data, _ := os.ReadFile(operatorPage)
	_, section, _ := strings.Cut(string(data), "\n## What goes to Telegram?\n")
	section, _, _ = strings.Cut(section, "\n## ")
	all := make(map[string]bool)
	for _, m := range regexp.MustCompile("(?m)^\\| (`[^|]+) \\|").FindAllStringSubmatch(section, -1) {
		for _, method := range quoted(m[1]) {
			all[method] = true
		}
	}
	return all
})

// checkCalls requires that the page lists each call that the world's Telegram got.
func (w *world) checkCalls() {
	assert.NotEmpty(w.whole, calls())
	for _, call := range w.api.Calls() {
		if method, _, file := strings.Cut(call.Method, "/"); !file && !calls()[method] {
			assert.Fail(w.whole, "a call that is not listed", "%s does not list %s", operatorPage, call.Method)
		}
	}
}

func triesDisk(o *operator, blocks []string) {
	require.NoError(o.t, os.MkdirAll(filepath.Join(o.root, ".claude/projects"), 0o700))
	assert.Contains(o.t, o.runs(blocks[0]), filepath.Join(o.root, ".ccbot"))
}

func triesLogs(o *operator, blocks []string) {
	o.serve()
	assert.Contains(o.t, o.runs(blocks[0]), "msg=ready")
}

func triesSocket(o *operator, blocks []string) {
	o.serve()
	old, name := o.socket, o.socket+"-2"
	processtest.EndAfterFailure(o.t, name)
	o.whole.Cleanup(func() {
		_ = exec.Command("tmux", "-L", old, "kill-server").Run()
		_ = os.Remove(fmt.Sprintf("/tmp/tmux-%d/%s", os.Getuid(), old))
	})
	lines := strings.Split(blocks[0], "\n")
	o.runs(strings.Join(lines[:2], "\n"), "=work", "="+name)
	o.socket = name
	o.up()
	o.open("api", o.dir)
	o.term.enter(o.term.shell, "unset TMUX; "+strings.ReplaceAll(lines[2], "-L work", "-L "+name))
	o.until("the terminal shows it", func() bool { return strings.Contains(o.tmux("list-clients", "-F", "#{client_control_mode}"), "0") })
}

// triesContainer ends the container, with all of its processes, and starts another one. A kernel
// that gives this user no container, as in a chroot, leaves nothing to try, as the page explains.
func triesContainer(o *operator, blocks []string) {
	unshare := programtest.Require(o.t, "unshare")
	if out, err := exec.Command(unshare, "--user", "--map-current-user", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		o.t.Logf("this kernel makes no container for this user: %s", out)
		return
	}
	container := func() *botProcess {
		words := strings.Fields(blocks[0])
		require.Equal(o.t, []string{"ccbot", "run"}, words[len(words)-2:])
		o.ccbot = filepath.Join(o.whole.TempDir(), "container")
		program := "#!/bin/sh\nexec " + strings.Join(words[:len(words)-2], " ") + " " + filepath.Join(binaries, "ccbot") + " run\n"
		require.NoError(o.t, os.WriteFile(o.ccbot, []byte(program), 0o700)) //nolint:gosec // it is a program
		return o.start()
	}
	container()
	o.open("api", o.dir)
	o.hear(o.say("say in the first container"), "in the first container")
	claude := o.claudeIDOf("api")
	o.until("the turn is over", func() bool { return strings.Contains(o.transcript(claude), "turn_duration") })
	last := o.lastID()
	o.kill9()
	container()
	o.tap(o.hear(last, "1 session ended together with tmux: api"), "Resume")
	o.hear(last, "api is ready")
	o.hear(o.say("say in the second container"), "in the second container")
	assert.Equal(o.t, claude, o.claudeIDOf("api"))
	assert.Contains(o.t, o.transcript(claude), "in the first container")
	o.kill9()
}
