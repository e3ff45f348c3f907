package e2e

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/agenttest"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/longtest"
	"ccbot/internal/process"
	"ccbot/internal/processtest"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
	"ccbot/try/demoagent"
)

// binaries is the folder with the programs as programs.sh builds them: ccbot with failpoints, and
// for some runs with the race detector.
var binaries string

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == agenttest.ToyName {
		os.Exit(agenttest.Toy(os.Args[1:], os.Environ(), os.Stdin, os.Stdout))
	}
	if forms := os.Getenv(mcpEnv); forms != "" {
		if err := serveMCP(os.Stdin, os.Stdout, forms); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := findPrograms(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Parse()
	if !isSet("test.parallel") {
		_ = flag.Set("test.parallel", strconv.Itoa(min(6*runtime.GOMAXPROCS(0), worlds))) // it exists
	}
	os.Exit(m.Run())
}

// binariesEnv names the folder with the programs. `make test` sets it, and so does a test that runs
// itself in a child process.
const binariesEnv = "CCBOT_E2E_BINARIES"

// findPrograms finds the programs that the tests run, or builds them if nobody has said where they
// are, as with a plain `go test ./e2e`.
func findPrograms() error {
	if binaries = os.Getenv(binariesEnv); binaries != "" {
		return nil
	}
	dir, err := filepath.Abs("../bin/test")
	if err != nil {
		return err
	}
	if out, err := exec.Command("sh", "programs.sh", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("programs.sh: %w\n%s", err, out)
	}
	binaries, builtHere = dir, true
	return os.Setenv(binariesEnv, dir)
}

// builtHere is set if this process has built the programs.
var builtHere bool

// namePrograms tells go test which programs the result is of: it notes the variables that a test
// reads and the files that it looks at, from the first test on. It cannot know that programs that
// were built just now may be others the next time; but it repeats no result of a test that has read
// a file of this moment.
var namePrograms = sync.OnceValue(func() error {
	_ = os.Getenv(binariesEnv)
	for _, name := range []string{"ccbot", "ccbot-codex", "ccbot-hook", "ccbot-hub", "ccbot-try"} {
		_, _ = os.Stat(filepath.Join(binaries, name)) // the benchmark builds its own
	}
	if !builtHere {
		return nil
	}
	now := filepath.Join(binaries, "built-now")
	if err := os.WriteFile(now, nil, 0o600); err != nil {
		return err
	}
	_, err := os.ReadFile(now)
	return err
})

// worlds is the number of parallel tests. Tests mostly wait: six keep a processor busy.
const worlds = 32

func isSet(name string) (set bool) {
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// waitTimeout is how long nothing may happen in a storm of faults before its test fails. All other
// waits last until go test ends them, see waittest.
const waitTimeout = 2 * time.Minute

// world is a complete ccbot with its own Bot API, state folder, tmux server and agent.
type world struct {
	t      *testing.T // of what runs now
	whole  *testing.T // the whole test: started programs end with it
	dir    string     // project folder of the sessions
	state  string     // CCBOT_DIR
	claude string     // CLAUDE_CONFIG_DIR
	codex  string     // CODEX_HOME, if open starts Codex
	sent   string     // the demo agent's input, one JSON line each
	writes string     // verbs of ccbot and the files in CCBOT_DIR that they write
	socket string
	before string // shell commands run before the bot
	ccbot  string // the program; empty: the one in binaries
	api    *botapi.Server
	person *botapi.Person
	env    []string
	table  *process.Table
	bot    *botProcess
	chats  string // state folder of the chat, if it is on another machine

	children []process.Identity // of tools that an agent really runs
}

// botProcess is one run of ccbot.
type botProcess struct {
	cmd  *exec.Cmd
	log  *lockedBuffer
	done chan struct{}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// withCards is the setting that people have: each turn has a card.
const withCards = "SHOW_STEPS=card"

// endsAtOnce is for programs with the race detector, which else waits for a second at each end with
// exit code 0.
const endsAtOnce = "GORACE=atexit_sleep_ms=0"

// shortRuns has the tests of the whole that a short run runs too.
var shortRuns sync.Map

// inShortRun keeps a test in a short run. seam is the one place between ccbot and the world outside
// that no other of these tests goes through.
func inShortRun(t *testing.T, seam string) { shortRuns.Store(t.Name(), seam) }

func isInShortRun(test string) bool {
	_, is := shortRuns.Load(test)
	return is
}

// newWorld makes a world with the demo agent. env adds to the bot's
// environment. Turns have no card unless withCards is in env: most tests count
// messages, and refuse or hold the next one.
func newWorld(t *testing.T, env ...string) *world {
	t.Helper()
	return newWorldAt(t, botapi.Options{}, env...)
}

// newWorldAt is newWorld with a Bot API server of another kind.
func newWorldAt(t *testing.T, server botapi.Options, env ...string) *world {
	t.Helper()
	programtest.Require(t, "tmux")
	if test, _, _ := strings.Cut(t.Name(), "/"); !isInShortRun(test) {
		longtest.Mark(t, "runs the whole program, and a short run has one such test for each of its seams")
	}
	require.NoError(t, namePrograms())
	root := shortDir(t)
	w := &world{t: t, whole: t, dir: filepath.Join(root, "work"), state: filepath.Join(root, "state"),
		claude: filepath.Join(root, "config"), sent: filepath.Join(root, "sent.jsonl"), writes: filepath.Join(root, "writes"),
		socket: "ccbot-test-" + uuid.NewString()[:8], api: botapitest.Start(t, server)}
	w.person = w.api.PagePerson()
	require.NoError(t, os.MkdirAll(w.dir, 0o755))
	link := filepath.Join(root, demoagent.Name)
	require.NoError(t, os.Symlink(filepath.Join(binaries, "ccbot-try"), link))
	table, err := process.NewTable()
	require.NoError(t, err)
	w.table = table
	w.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "LANG=C.UTF-8", "TERM=xterm-256color",
		"TELEGRAM_BOT_TOKEN=" + w.api.Token(), fmt.Sprintf("ALLOWED_USERS=%d", w.person.ID()),
		"TELEGRAM_API_URL=" + w.api.URL(), "CCBOT_DIR=" + w.state, "CCBOT_TMUX_SOCKET=" + w.socket,
		"CLAUDE_COMMAND=" + link, "CLAUDE_CONFIG_DIR=" + w.claude, "DEMOAGENT_LOG=" + w.sent,
		"CCBOT_WRITES=" + w.writes, "CCBOT_WIRE=" + os.Getenv("CCBOT_WIRE"), "LOG_LEVEL=debug", "KILL_GRACE=5s", "SHOW_STEPS=off", endsAtOnce}, env...)
	processtest.EndAfterFailure(t, root)     // HOME of all, but for the real CLI
	processtest.EndAfterFailure(t, w.socket) // TMUX of what runs in a window names it
	t.Cleanup(w.close)
	return w
}

// shortDir is a temporary folder whose path leaves room for a socket's: the name
// of a test may be longer than that.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "e2e-")
	require.NoError(t, err)
	t.Cleanup(func() {
		// a hook of an agent that was killed may still write
		waittest.Until(t, func() bool { return os.RemoveAll(dir) == nil }, "%s can be removed", dir)
	})
	return dir
}

// walkFiles calls visit for each file and folder below dir, and for dir. A file that goes meanwhile
// is no failure: a hook writes its files under another name first.
func walkFiles(t *testing.T, dir string, visit fs.WalkDirFunc) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err = visit(path, d, err); errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil
		}
		return err
	}))
}

// start runs ccbot until it says that it is ready.
func (w *world) start(env ...string) *botProcess {
	w.t.Helper()
	b := w.launch(env...)
	w.until("ccbot is ready, or has ended", func() bool { return b.ready() || b.over() })
	require.True(w.t, b.ready(), "ccbot has ended\n%s", b.log)
	return b
}

// launch runs ccbot and waits for nothing.
func (w *world) launch(env ...string) *botProcess { return w.run(nil, env...) }

// run runs a verb of ccbot, and waits for nothing.
func (w *world) run(args []string, env ...string) *botProcess {
	w.t.Helper()
	b := &botProcess{cmd: exec.Command(cmp.Or(w.ccbot, filepath.Join(binaries, "ccbot")), args...), log: &lockedBuffer{}, done: make(chan struct{})}
	if w.before != "" {
		b.cmd = exec.Command("sh", append([]string{"-c", w.before + ` && exec "$0" "$@"`, b.cmd.Path}, args...)...)
	}
	b.cmd.Env = append(slices.Clone(w.env), env...)
	b.cmd.Stdout, b.cmd.Stderr = b.log, b.log
	require.NoError(w.t, b.cmd.Start())
	go func() { _ = b.cmd.Wait(); close(b.done) }()
	w.bot = b
	return b
}

// kill9 ends the bot as a crash would.
func (w *world) kill9() {
	w.t.Helper()
	require.NoError(w.t, w.bot.cmd.Process.Kill())
	<-w.bot.done
}

// stop ends the bot as a service manager would.
func (w *world) stop() {
	w.t.Helper()
	require.NoError(w.t, w.bot.cmd.Process.Signal(syscall.SIGTERM))
	w.until("ccbot has stopped", func() bool { return w.bot.over() })
	require.Equal(w.t, 0, w.bot.cmd.ProcessState.ExitCode(), "a clean stop exits with 0\n%s", w.bot.log)
}

func (b *botProcess) over() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// close ends everything that the world started, and checks that it is gone.
func (w *world) close() {
	if w.t.Failed() {
		for _, name := range w.windows() {
			screen, _ := exec.Command("tmux", "-L", w.socket, "capture-pane", "-p", "-t", "=ccbot:="+name).Output()
			w.t.Logf("the window %q:\n%s", name, strings.TrimSpace(string(screen)))
		}
		unsent, _ := filepath.Glob(filepath.Join(w.state, "outbox", "*.json"))
		for _, file := range unsent {
			content, _ := os.ReadFile(file)
			w.t.Logf("not sent: %s: %s", filepath.Base(file), clipped(string(content)))
		}
	}
	if w.bot != nil && !w.bot.over() {
		_ = w.bot.cmd.Process.Kill()
		<-w.bot.done
	}
	agents := w.cutPower()
	ctx := waittest.Context(w.t)
	for _, id := range agents {
		if err := w.table.Wait(ctx, id); err != nil {
			p, _ := w.table.Inspect(id.PID)
			_ = syscall.Kill(id.PID, syscall.SIGKILL)
			w.t.Errorf("process %d outlived its tmux server: %v: %c %q of %d", id.PID, err, p.State, p.Args, p.PPID)
		}
	}
	_ = os.Remove(fmt.Sprintf("/tmp/tmux-%d/%s", os.Getuid(), w.socket))
	if w.bot != nil && strings.Contains(w.bot.log.String(), "DATA RACE") {
		w.t.Errorf("data race in the bot:\n%s", w.bot.log)
	}
	if w.t.Failed() && w.bot != nil {
		calls := w.api.Calls()
		for _, c := range calls[max(0, len(calls)-20):] {
			w.t.Logf("call %s %s", c.Method, clipped(fmt.Sprint(c.Params)))
		}
		w.t.Logf("the bot's log:\n%s", lastKB(w.bot.log.String(), 24))
		for _, m := range w.api.Messages(w.chat()) {
			w.t.Logf("message %d bot=%t buttons=%d %q", m.ID, m.FromBot, len(m.Keyboard), clipped(m.Text))
		}
	}
	w.checkWriters()
	w.checkCalls()
}

func clipped(s string) string {
	if len(s) > 300 {
		return s[:300] + "…"
	}
	return s
}

func lastKB(s string, kb int) string { return s[max(0, len(s)-kb<<10):] }

// panes are the tmux server, which comes first, and the processes in the world's windows.
func (w *world) panes() []process.Identity {
	out, err := exec.Command("tmux", "-L", w.socket, "list-panes", "-a", "-F", "#{pid} #{pane_pid}").Output()
	if err != nil {
		return nil
	}
	var all []process.Identity
	for _, word := range strings.Fields(string(out)) {
		var pid int
		if _, err := fmt.Sscan(word, &pid); err != nil {
			continue
		}
		if id, err := w.table.Identify(pid); err == nil && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// powerOff ends the tmux server with all that runs in it, as a power cut would.
func (w *world) powerOff() {
	w.t.Helper()
	for _, id := range w.cutPower() {
		p, _ := w.table.Inspect(id.PID)
		w.until(fmt.Sprintf("process %d is gone: %q", id.PID, p.Args), func() bool { return !w.alive(id) })
	}
}

// cutPower ends the tmux server, and all that runs in it loses its terminal. It does not use
// kill-server: with that tmux 3.3a waits for ever for the control client of a bot that was killed
// before it had read all.
func (w *world) cutPower() (gone []process.Identity) {
	gone = w.panes()
	if len(gone) > 0 {
		_ = syscall.Kill(gone[0].PID, syscall.SIGKILL)
	}
	return gone
}

// tmux runs a command on the world's server and returns what it prints.
func (w *world) tmux(args ...string) string {
	w.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", w.socket}, args...)...).CombinedOutput()
	require.NoError(w.t, err, "tmux %s: %s", strings.Join(args, " "), out)
	return strings.TrimRight(string(out), "\n")
}

// until waits for what must happen.
func (w *world) until(what string, ok func() bool) {
	w.t.Helper()
	waittest.Until(w.t, ok, "%s", what)
}

func (w *world) chat() int64 { return w.person.ID() }

// say sends a message as the person.
func (w *world) say(text string) int { return w.person.Send(w.chat(), text) }

// hear waits for a message of the bot after message id that contains text.
func (w *world) hear(after int, text string) botapi.Message {
	w.t.Helper()
	var found botapi.Message
	w.until(fmt.Sprintf("the bot says %q", text), func() bool {
		for _, m := range w.api.Messages(w.chat()) {
			if m.FromBot && m.ID > after && strings.Contains(m.Text, text) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// tap taps the button with that word under a message, again if the message was drawn again in
// between, or brought below.
func (w *world) tap(m botapi.Message, label string) {
	w.t.Helper()
	b, ok := m.Find(label)
	if !ok {
		if now, below := w.below(m, label); below {
			m = now
			b, ok = m.Find(label)
		}
	}
	require.True(w.t, ok, "message %q has no button %q", m.Text, label)
	answer, err := w.person.Tap(m.Chat.ID, m.ID, b.Data)
	if errors.Is(err, botapi.ErrNoButton) || isStale(answer) {
		if now, drawn := w.drawnAgain(m, label, b.Data); drawn {
			w.tap(now, label)
			return
		}
		w.t.Logf("a stale tap on %q of message %d was given up", label, m.ID)
	}
	w.tapped(err)
}

// tapped requires that a tap reached the bot. On a busy machine the answer may take longer than a
// person's app waits for it; what the tap does is awaited anyway.
func (w *world) tapped(err error) {
	w.t.Helper()
	if errors.Is(err, botapi.ErrNoAnswer) {
		w.t.Log(err)
		return
	}
	require.NoError(w.t, err)
}

// drawTimeout is the timeout of the edit that follows a tap on an outdated button. A copy that a
// kill has left is not drawn again.
const drawTimeout = 30 * time.Second

// drawnAgain waits until a button of a message has other data, or stands in the message in which the request
// was brought below, and returns that message. It returns false if neither comes.
func (w *world) drawnAgain(old botapi.Message, label, data string) (m botapi.Message, drawn bool) {
	for end := time.Now().Add(drawTimeout); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		m, _ = w.api.Message(old.Chat.ID, old.ID)
		if b, there := m.Find(label); there && b.Data != data {
			return m, true
		} else if !there {
			if m, drawn = w.below(old, label); drawn {
				return m, true
			}
		}
	}
	return m, false
}

// below returns the message in which a request was brought below a text that came later.
func (w *world) below(old botapi.Message, label string) (m botapi.Message, found bool) {
	for _, one := range w.api.Messages(old.Chat.ID) {
		if _, there := one.Find(label); there && one.FromBot && one.ID > old.ID && strings.HasPrefix(one.Text, titleOf(old)) {
			m, found = one, true
		}
	}
	return m, found
}

// staleAnswers are the answers to a tap on an outdated button, and continuations the texts of a
// request that was brought below, in all languages.
var (
	staleAnswers  = inAllLanguages(i18n.StaleButton)
	continuations = inAllLanguages(i18n.QuestionBelow)
)

func inAllLanguages(key i18n.Key) func() []string {
	return sync.OnceValue(func() (all []string) {
		catalog := i18n.Load(glyph.Name)
		for _, lang := range i18n.Languages() {
			all = append(all, catalog.For(lang).Say(key))
		}
		return all
	})
}

func isStale(a botapi.Answer) bool { return slices.Contains(staleAnswers(), a.Text) }

// follow returns a message as it is now, also if it was brought below.
func (w *world) follow(m botapi.Message) botapi.Message {
	now := w.present(m.ID)
	if !slices.Contains(continuations(), now.Text) {
		return now
	}
	for _, one := range w.api.Messages(m.Chat.ID) {
		if one.FromBot && one.ID > m.ID && strings.HasPrefix(one.Text, titleOf(m)) {
			now = one
		}
	}
	return now
}

// titleOf is the first line of a message, without the page of a question, which may have been turned since.
func titleOf(m botapi.Message) string {
	title, _, _ := strings.Cut(m.Text, "\n")
	title, _, _ = strings.Cut(title, " (")
	return title
}

// present returns a message as it is now.
func (w *world) present(id int) (m botapi.Message) {
	for _, one := range w.api.Messages(w.chat()) {
		if one.ID == id {
			m = one
		}
	}
	return m
}

// why waits until the history of a session contains text.
func (w *world) why(name, text string) {
	w.t.Helper()
	said := w.hear(w.say("/why "+name), name)
	w.tap(said, "Details")
	w.hear(said.ID-1, text)
}

// heard returns the number of the bot's messages that contain text.
func (w *world) heard(text string) int {
	n := 0
	for _, m := range w.api.Messages(w.chat()) {
		if m.FromBot && strings.Contains(m.Text, text) {
			n++
		}
	}
	return n
}

// open starts a session in dir and waits until it is ready.
func (w *world) open(name, dir string) {
	w.t.Helper()
	line := "/new " + name + " " + dir
	if w.codex != "" {
		line += " --agent codex"
	}
	w.hear(w.say(line), name+" is ready")
}

// windows are the names of the windows of ccbot's tmux session, without its
// sleeping one.
func (w *world) windows() []string {
	out, err := exec.Command("tmux", "-L", w.socket, "list-windows", "-t", "=ccbot:", "-F", "#{window_name}").Output()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), func(n string) bool { return n == "__main__" || n == "" })
}

func itoa(n int) string { return strconv.Itoa(n) }

// agentPath is the agent's command.
func (w *world) agentPath() string {
	for _, kv := range slices.Backward(w.env) { // the last one counts
		if path, ok := strings.CutPrefix(kv, "CLAUDE_COMMAND="); ok {
			return path
		}
	}
	w.t.Fatal("CLAUDE_COMMAND is not set")
	return ""
}

// records are the session records on disk.
func (w *world) records() []session.Record {
	w.t.Helper()
	store, err := session.OpenReadOnly(filepath.Join(w.state, "sessions"), time.Now, slog.New(slog.DiscardHandler), []string{agent.Default, "codex"})
	require.NoError(w.t, err)
	all := store.List()
	for i := range all {
		if r, err := store.Whole(all[i].ID); err == nil { // the bot may just have removed it
			all[i] = r
		}
	}
	return all
}

// store returns the store of a stopped bot.

func (w *world) store() *session.Store {
	w.t.Helper()
	store, err := session.Open(filepath.Join(w.state, "sessions"), w.t.TempDir(), time.Now, slog.New(slog.DiscardHandler), []string{agent.Default, "codex"})
	require.NoError(w.t, err)
	return store
}

// claudeID is the Claude session id of the world's only session.
func (w *world) claudeID() string {
	w.t.Helper()
	records := w.records()
	require.Len(w.t, records, 1)
	return records[0].AgentSessionID.String()
}
