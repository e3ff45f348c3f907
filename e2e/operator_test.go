package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// operatorPage has a question, an answer and commands in each section and in each row of its first
// table.
const operatorPage = "../docs/operator.md"

// questions has the commands of the page by their question; each string is a block.
func questions(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(operatorPage)
	require.NoError(t, err)
	all := make(map[string][]string)
	parts := strings.Split(string(data), "\n## ")
	for _, m := range regexp.MustCompile("(?m)^\\| ([^|]*\\?) \\| `([^`]+)` \\|").FindAllStringSubmatch(parts[0], -1) {
		all[m[1]] = []string{m[2]}
	}
	for _, part := range parts[1:] {
		title, text, _ := strings.Cut(part, "\n")
		for _, m := range regexp.MustCompile("(?s)\n```\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
			all[title] = append(all[title], m[1])
		}
	}
	return all
}

// answers has the test of each question.
var answers = map[string]func(o *operator, blocks []string){
	"How is it removed?":                                           triesRemoval,
	"How is it upgraded, and how do I go back?":                    triesUpgrade,
	"Can two machines have one bot?":                               triesTwoMachines,
	"How do I add a person?":                                       triesPerson,
	"What do the hooks change?":                                    triesHooks,
	"What can an agent reach?":                                     triesReach,
	"Where is a release, and does it install without a network?":   triesInstall,
	"How do I move it to another machine?":                         triesAnotherMachine,
	"How do the bot and the agents use a proxy, in a service too?": triesProxy,
	"How do I move the state folder?":                              triesMove,
	"How do I use a new token, or a new bot?":                      triesNewBot,
	"What goes to Telegram?":                                       triesTelegram,
	"How much disk does it need?":                                  triesDisk,
	"Where are the logs, and what bounds them?":                    triesLogs,
	"How do I use another tmux server or socket?":                  triesSocket,
	"Does it run in a container or WSL?":                           triesContainer,
}

// TestOperatorPage runs the commands of each question.
func TestOperatorPage(t *testing.T) {
	t.Parallel()
	page := questions(t)
	for question := range answers {
		assert.Contains(t, page, question, "%s has this question", operatorPage)
	}
	for question, blocks := range page {
		try := answers[question]
		if !assert.NotNil(t, try, "a test runs the commands of %q", question) {
			continue
		}
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			try(newOperator(t), blocks)
		})
	}
}

// operator is a person whose bot is a service, in the folders that the page names.
type operator struct {
	*world
	term terminal
	root string // the home
}

// systemctl is a program in place of systemd's, for one unit. It starts the unit's program with the
// unit's environment, and returns when the bot is ready. While a zombie has other threads, the
// program still has its lock.
const systemctl = `#!/bin/sh
unit=$HOME/.config/systemd/user/ccbot.service
lives() { pid=$(cat $HOME/pid 2>/dev/null) && ! gone; }
gone() { status=$(cat /proc/$pid/status 2>/dev/null) || return 0; echo "$status" | grep -q '^State:.Z' && echo "$status" | grep -q '^Threads:.1$'; }
stop() { if lives; then kill -TERM $pid; while lives; do sleep 0.02; done; fi; }
ready() { cat $HOME/journal 2>/dev/null | grep -c -e msg=ready -e msg=telegram_unreachable; }
start() {
	lives && return
	before=$(ready)
	sed -n 's/^Environment="\(.*\)"$/\1/p' $unit > $HOME/environment
	setsid env -i HOME=$HOME LANG=C.UTF-8 GORACE=$GORACE CCBOT_WRITES=$CCBOT_WRITES \
		"$(sed -n 's/^Environment="\(PATH=.*\)"$/\1/p' $unit)" \
		"$(sed -n 's/^ExecStart="\(.*\)" run$/\1/p' $unit)" run >> $HOME/journal 2>&1 < /dev/null &
	echo $! > $HOME/pid
	while lives && [ "$(ready)" = "$before" ]; do sleep 0.02; done
}
case "$*" in
*daemon-reload* | *reset-failed*) ;;
*enable*) start ;;
*restart*) stop && start ;;
*stop* | *disable*) stop ;;
*reload*) lives && kill -HUP $pid ;;
*show*) if lives; then echo ActiveState=active; else echo ActiveState=inactive; fi; echo SubState=running; echo MainPID=$(cat $HOME/pid) ;;
esac
`

// newOperator makes a world whose bot is not started yet. Its settings are in ccbot.env.
func newOperator(t *testing.T) *operator {
	t.Helper()
	w := newWorld(t)
	o := &operator{world: w, root: filepath.Dir(w.state)}
	w.state = filepath.Join(o.root, ".ccbot")
	tools := filepath.Join(o.root, "tools")
	require.NoError(t, os.Mkdir(tools, 0o700))
	for name, text := range map[string]string{"systemctl": systemctl, "loginctl": "#!/bin/sh\nexit 1\n", "launchctl": "#!/bin/sh\nexit 1\n",
		"journalctl": "#!/bin/sh\n[ \"$*\" = '--user -u ccbot -n 20' ] && exec tail -n 20 $HOME/journal\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(tools, name), []byte(text), 0o700)) //nolint:gosec // it is a program
	}
	kept := w.without("PATH", "HOME", "LANG", "TERM", "CCBOT_DIR", "GORACE", "CCBOT_WRITES")
	w.settings(w.env...)
	for i, kv := range kept {
		if path, found := strings.CutPrefix(kv, "PATH="); found {
			kept[i] = "PATH=" + tools + ":" + binaries + ":" + path
		}
	}
	w.env = slices.DeleteFunc(kept, func(kv string) bool { return strings.HasPrefix(kv, "CCBOT_DIR=") })
	o.whole.Cleanup(func() {
		if o.whole.Failed() {
			o.whole.Logf("the service's log:\n%s", lastKB(o.journal(), 24))
		}
	})
	o.term = w.newTerminal()
	o.term.enter(o.term.shell, "unset DEMOAGENT_LOG") // install would ask about it
	return o
}

// serve installs and starts the service.
func (o *operator) serve() {
	o.t.Helper()
	o.whole.Cleanup(func() { o.systemctl("stop") })
	o.term.says("ccbot service install")
	o.up()
}

func (o *operator) systemctl(verb string) {
	cmd := exec.Command(filepath.Join(o.root, "tools", "systemctl"), verb)
	cmd.Env = o.env
	_ = cmd.Run()
}

func (o *operator) journal() string {
	data, _ := os.ReadFile(filepath.Join(o.root, "journal"))
	return string(data)
}

// up waits until the bot accepts messages after its last start.
func (o *operator) up() {
	o.t.Helper()
	o.until("the service is up", func() bool {
		journal := o.journal()
		return strings.LastIndex(journal, "msg=ready") > strings.LastIndex(journal, "msg=stopped")
	})
}

// runs runs a block of the page, with other values for its examples.
func (o *operator) runs(block string, values ...string) string {
	o.t.Helper()
	return o.term.says(o.script(block, values...))
}

// script returns a shell line that runs a block and stops at its first failure.
func (o *operator) script(block string, values ...string) string {
	o.t.Helper()
	text := strings.NewReplacer(append(values, "11111111", itoa(int(o.person.ID())))...).Replace(block)
	path := filepath.Join(o.whole.TempDir(), "block.sh")
	require.NoError(o.t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	return "bash -e " + path
}

// setting replaces a line of ccbot.env.
func (o *operator) setting(name, value string) {
	o.t.Helper()
	path := filepath.Join(o.state, "ccbot.env")
	data, err := os.ReadFile(path)
	require.NoError(o.t, err)
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(data)), "\n"), func(l string) bool { return strings.HasPrefix(l, name+"=") })
	if value != "" {
		lines = append(lines, name+"="+value)
	}
	require.NoError(o.t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
}

// agentAtHome leaves the agent's folder where it is without a setting.
func (o *operator) agentAtHome() {
	o.claude = filepath.Join(o.root, ".claude")
	o.setting("CLAUDE_CONFIG_DIR", "")
}

// token writes the token that a person got from @BotFather.
func (o *operator) token() {
	o.t.Helper()
	require.NoError(o.t, os.WriteFile(filepath.Join(o.root, "token"), []byte(o.api.Token()+"\n"), 0o600))
}
