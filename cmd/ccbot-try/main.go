package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	flag "github.com/spf13/pflag" // with two dashes, as ccbot's own flags
	"golang.org/x/sync/errgroup"

	"ccbot/bot/conversation"
	"ccbot/internal/address"
	"ccbot/try/botapi"
	"ccbot/try/demoagent"
	"ccbot/try/privatetmux"
)

func main() {
	if demoagent.Called(os.Args[0]) {
		os.Exit(demoagent.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout))
	}
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

const help = `Try ccbot in a browser: no Telegram account, no token and no Claude needed.

Usage:
  ccbot try [flags]

Examples:
  ccbot try
  ccbot try --agent claude
  ccbot try --topics group --bots 2

Flags:
`

// run is the program without the process: arguments and environment in, exit code out.
func run(args, environ []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	t := &trial{socket: "ccbot-try-" + uuid.NewString()[:8], out: stdout}
	flags := flag.NewFlagSet("ccbot try", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {} // an error has its own sentence
	usage := func() {
		flags.SetOutput(stdout)
		fmt.Fprint(stdout, help)
		flags.PrintDefaults()
	}
	flags.StringVar(&t.agent, "agent", "demo", "the agent: demo, or claude for the real one")
	flags.BoolVar(&t.keep, "keep", false, "keep the state folder and the windows after Ctrl-C")
	flags.BoolVar(&t.rich, "rich", false, "the Bot API has rich messages: tables, headings and lists in answers")
	flags.StringVar(&t.topics, "topics", "none", "a topic for each session: private, in a private chat, or group, in a group")
	flags.IntVar(&t.several, "bots", 1, "number of bots: 1, or 2 in one group, each on a separate machine")
	flags.IntVar(&t.machines, "machines", 1, "number of machines of the chat: 1 to 3, each with its own folder and tmux server")
	flags.BoolVar(&t.story, "story", false, "play a minute of a day, with a crash in it, check each step from outside, and end")
	flags.BoolVar(&t.fast, "fast", false, "with --story: without the pauses in which people read")
	flags.BoolVar(&t.privacy, "privacy", false, "enable the bots' privacy mode in the group, as for members that are not administrators")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		usage()
		return 0
	} else if err != nil {
		fmt.Fprintln(stderr, "ccbot try:", err)
		return 2
	}
	if wrong := t.usageError(flags.Args()); wrong != "" {
		fmt.Fprintln(stderr, "ccbot try:", wrong)
		return 2
	}
	t.makeBots()
	t.makeHosts()
	err := t.run(ctx, environ, stderr)
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "ccbot try:", err)
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) {
		return max(ended.ExitCode(), 1) // a signal has no exit code
	}
	return 1
}

// trial is one ccbot, or two, with a separate environment: Bot API, chat page, state folder, tmux
// server; and further machines of the first one.
type trial struct {
	agent    string
	keep     bool
	rich     bool
	topics   string
	several  int
	privacy  bool
	machines int
	story    bool
	fast     bool
	dir      string // all of its files
	socket   string // of its tmux server
	bots     []*bot // the first one's page is shown
	hosts    []*host
	out      io.Writer
}

// place is what one ccbot of a trial has for itself.
type place struct {
	*trial
	machine string // empty: the real one
	folder  string // of its files, in the trial's
	socket  string // of its tmux server
}

// bot is one ccbot of a trial.
type bot struct {
	place
	api     *botapi.Server
	running chan *os.Process // of its ccbot, for the story; each start sends one
}

// places are those of the whole trial.
func (t *trial) places() (all []place) {
	for _, b := range t.bots {
		all = append(all, b.place)
	}
	for _, h := range t.hosts {
		all = append(all, h.place)
	}
	return all
}

// forum is the group of a trial with --topics group.
const forum = -1_001_000_000_000

// makeBots makes what the ccbots of the trial take for Telegram.
func (t *trial) makeBots() {
	options := botapi.Options{BotName: "ccbot", Topics: t.topics == "private", Rich: t.rich, Privacy: t.privacy}
	if t.topics == "group" {
		options.Forum = forum
	}
	if t.story {
		options.BotName = "my agents"
	}
	if t.several == 1 {
		t.bots = []*bot{{place: place{trial: t, socket: t.socket}, api: botapi.New(options), running: make(chan *os.Process, 1)}}
		return
	}
	for _, machine := range []string{"laptop", "desktop"} {
		options.BotName, options.BotUsername = machine, machine+"_bot"
		b := &bot{place: place{trial: t, machine: machine, folder: machine, socket: t.socket + "-" + machine}, api: botapi.New(options)}
		t.bots = append(t.bots, b)
		options.Forum, options.Beside = 0, t.bots[0].api
	}
}

// usageError returns the mistake in the usage, or "".
func (t *trial) usageError(args []string) string {
	_, missing := exec.LookPath("claude")
	switch {
	case len(args) > 0:
		return fmt.Sprintf("unknown argument %q; see ccbot try --help", args[0])
	case t.agent != "demo" && t.agent != "claude":
		return fmt.Sprintf("--agent is demo or claude, not %q", t.agent)
	case t.topics != "none" && t.topics != "private" && t.topics != "group":
		return fmt.Sprintf("--topics is none, private or group, not %q", t.topics)
	case t.several != 1 && t.several != 2:
		return fmt.Sprintf("--bots is 1 or 2, not %d", t.several)
	case t.several == 2 && t.topics != "group":
		return "--bots 2 needs --topics group"
	case t.machines < 1 || t.machines > len(hostNames)+1:
		return fmt.Sprintf("--machines is 1 to %d, not %d", len(hostNames)+1, t.machines)
	case t.machines > 1 && t.several > 1:
		return "--machines needs --bots 1"
	case t.fast && !t.story:
		return "--fast needs --story"
	case t.story && (t.agent != "demo" || t.topics != "none" || t.several > 1 || t.machines > 1 || t.keep):
		return "--story takes no other flag than --fast"
	case t.agent == "claude" && missing != nil:
		return "claude is not on PATH; without --agent claude the demo agent plays"
	}
	return ""
}

// run runs the ccbot until ctx ends, and leaves nothing of it.
func (t *trial) run(ctx context.Context, environ []string, stderr io.Writer) (err error) {
	if t.dir, err = os.MkdirTemp("", "ccbot-try-"); err != nil {
		return err
	}
	g, each := errgroup.WithContext(ctx)
	f := &fleet{trial: t, environ: environ, stderr: stderr}
	for _, b := range t.bots {
		if err == nil {
			err = b.start(each, g, environ, stderr)
		}
	}
	if err == nil {
		g.Go(func() error { return t.ready(each, g, f) })
	} else {
		g.Go(func() error { return err })
	}
	if err = g.Wait(); errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, t.clean(context.WithoutCancel(ctx)))
}

// start makes the bot's folders, and runs the bot and its Bot API until ctx ends.
func (b *bot) start(ctx context.Context, g *errgroup.Group, environ []string, stderr io.Writer) error {
	if err := os.MkdirAll(b.path("state"), 0o700); err != nil {
		return err
	}
	if err := b.settings(); err != nil {
		return err
	}
	l, err := b.api.Listen()
	if err != nil {
		return err
	}
	served, stop := context.WithCancel(context.WithoutCancel(ctx)) // until the ccbot has ended
	g.Go(func() error { return b.api.Run(served, l) })
	g.Go(func() error { defer stop(); return b.run(ctx, environ, stderr) })
	return nil
}

// path is a path in the place's folder.
func (p place) path(name string) string { return filepath.Join(p.dir, p.folder, name) }

// settings writes what the chats have chosen before the first start. Of two bots the first one is
// picked, so that a first text has an answer.
func (b *bot) settings() error {
	chats, err := conversation.Open(b.path("state/chats"), b.path("state/quarantine"), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if b.several > 1 {
		if err := chats.ResetBots(forum, true); err != nil {
			return err
		}
		first := conversation.Pick{Mine: b == b.bots[0]}
		if err := chats.NotePick(address.Conversation{ChatID: forum}, first); err != nil {
			return err
		}
	}
	if b.agent != "demo" {
		return nil
	}
	return b.demoFolder(chats)
}

// demoFolder makes the folder in which the private chat starts sessions, so that a first text is
// one tap from its answer.
func (b *bot) demoFolder(chats *conversation.Store) error {
	demo, err := b.makeDemo()
	if err != nil {
		return err
	}
	return chats.Set(b.api.PagePerson().ID(), func(s *conversation.Settings) { s.Dir = demo })
}

// makeDemo makes a folder to try things in.
func (p place) makeDemo() (path string, err error) {
	path = p.path("demo")
	if p.story {
		path = p.path("shop")
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		return "", err
	}
	text := "# Demo\n\nA folder to try things in. It goes when the trial ends.\n"
	return path, os.WriteFile(filepath.Join(path, "README.md"), []byte(text), 0o600)
}

// run runs the bot.
func (b *bot) run(ctx context.Context, environ []string, stderr io.Writer) error {
	cmd, err := b.command(ctx, b.environ(environ), "run")
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = b.out, stderr
	if err = cmd.Start(); err == nil {
		select {
		case b.running <- cmd.Process:
		default: // nobody has asked
		}
		err = cmd.Wait()
	}
	if b.story && isKilled(err) {
		return b.run(ctx, environ, stderr) // as a service would
	}
	if err != nil {
		return fmt.Errorf("ccbot: %w", err)
	}
	return context.Canceled // the ccbot stopped as requested, and the trial ends with it
}

// crash kills a ccbot of the trial, for the story.
func crash(ccbot *os.Process) error { return ccbot.Kill() }

func isKilled(err error) bool {
	ended := (*exec.ExitError)(nil)
	if !errors.As(err, &ended) {
		return false
	}
	status, is := ended.Sys().(syscall.WaitStatus)
	return is && status.Signal() == syscall.SIGKILL
}

// program returns the path of a program in the folder of this one.
func program(name string) (string, error) {
	me, err := os.Executable()
	if err == nil {
		me, err = filepath.EvalSymlinks(me)
	}
	return filepath.Join(filepath.Dir(me), name), err
}

// command returns a command of ccbot in the place, which the end of ctx asks to end.
func (p place) command(ctx context.Context, environ []string, args ...string) (*exec.Cmd, error) {
	ccbot, err := program("ccbot")
	if err != nil {
		return nil, err
	}
	if p.agent == "demo" {
		link, err := demoagent.Link(filepath.Join(p.dir, p.folder))
		if err != nil {
			return nil, err
		}
		environ = append(environ, "CLAUDE_COMMAND="+link)
	}
	cmd := exec.CommandContext(ctx, ccbot, args...)
	cmd.Env = environ
	endsWith(cmd)
	return cmd, nil
}

// endsWith makes the end of a command's context ask it to end, even if it is stopped.
func endsWith(cmd *exec.Cmd) {
	// or Ctrl-C tells it too, and a second signal ends it at once
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		return errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Process.Signal(syscall.SIGCONT))
	}
}

// settings are the beginnings of the names of ccbot's settings. A person's own are not the trial's,
// but for inherited.
var (
	settings = []string{"TELEGRAM_", "ALLOWED_", "CCBOT_", "SHOW_", "TMUX_SESSION_NAME", "CLAUDE_COMMAND", "CLAUDE_FLAGS", "CLAUDE_CONFIG_DIR", "CODEX_",
		"KILL_", "IDLE_", "QUESTION_", "AGENT_ENV_", "ARCHIVE_", "LOOP_", "STALE_", "RESUME_", "ORPHAN_", "VOICE_", "INBOX_", "LOG_", "METRICS_"}
	inherited = []string{"LOG_LEVEL", "LOG_FORMAT", "CCBOT_LANG", "CCBOT_FAILPOINT", "CCBOT_FAILFILE"}
)

// environ is the environment of the bot.
func (b *bot) environ(environ []string) []string {
	own := []string{"TELEGRAM_BOT_TOKEN=" + b.api.Token(), "TELEGRAM_API_URL=" + b.api.URL(), fmt.Sprint("ALLOWED_USERS=", b.api.PagePerson().ID()),
		// its comment has the words
		"VOICE_COMMAND=grep -aoh 'say hello[a-z ]*'", "VOICE_CONFIRM=on"}
	if b.story { // its agent ignores a hang-up and TERM, and soon gets KILL; the story reads English texts
		own = append(own, "CCBOT_LANG=en", "AGENT_ENV_DEMOAGENT_IGNORE_SIGNALS=1", "AGENT_ENV_DEMOAGENT_OUTLIVES=8", "KILL_GRACE=2s")
	}
	if b.topics == "group" {
		own = append(own, fmt.Sprint("ALLOWED_CHATS=", forum))
	}
	if b.machine != "" {
		own = append(own, "CCBOT_MACHINE="+b.machine)
	}
	return append(b.place.environ(environ), own...)
}

// environ is the environment of a ccbot in the place.
func (p place) environ(environ []string) []string {
	own := []string{"CCBOT_DIR=" + p.path("state"), "CCBOT_TMUX_SOCKET=" + p.socket, "CODEX_HOME=" + p.path("codex")}
	inherited := inherited
	if p.agent == "demo" {
		own = append(own, "CLAUDE_CONFIG_DIR="+p.path("claude-config"))
	} else {
		inherited = append(slices.Clone(inherited), "CLAUDE_CONFIG_DIR")
	}
	all := []string{"LOG_LEVEL=warn"} // the last one of a name counts
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		setting := slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(name, s) })
		if !setting || slices.Contains(inherited, name) {
			all = append(all, kv)
		}
	}
	return append(all, own...)
}

// ready lets the further machines join once the first ccbot has come up, and prints the address of
// its chat.
func (t *trial) ready(ctx context.Context, g *errgroup.Group, f *fleet) error {
	if _, err := t.bots[0].api.WaitCall(ctx, func(botapi.Call) bool { return true }); err != nil {
		return nil // it never did
	}
	if err := f.start(ctx, g); err != nil {
		return err
	}
	t.greet()
	if t.story {
		return t.tell(ctx)
	}
	return nil
}

// greet prints the address of the chat.
func (t *trial) greet() {
	api := t.bots[0].api
	var text strings.Builder // written at once, because ccbot writes to the same terminal
	fmt.Fprintf(&text, "\n  Open this in a browser:  %s\n\n", api.PageURL())
	if _, err := exec.LookPath("claude"); err == nil && t.agent == "demo" {
		text.WriteString("  A demo agent plays Claude Code. For your own:  ccbot try --agent claude\n")
	}
	ends := "Ctrl-C ends it and removes everything."
	if t.keep {
		ends = "Ctrl-C ends it."
	}
	for n, b := range t.bots {
		if n > 0 {
			fmt.Fprintf(&text, "  The private chat of @%s:  %s\n", b.api.Bot().Username, b.api.PageURL())
		}
		fmt.Fprintf(&text, "  In a terminal:  tmux -L %s attach\n", b.socket)
	}
	for _, h := range t.hosts {
		fmt.Fprintf(&text, "  The machine %s: /new %s:~/demo in the chat; it goes away with kill -STOP %d, and comes back with kill -CONT %[3]d\n",
			h.machine, h.machine, h.pid)
	}
	fmt.Fprintf(&text, "  %s\n\n", ends)
	fmt.Fprint(t.out, text.String())
}

// cleanTimeout is how long the trial's windows may take to end.
const cleanTimeout = 15 * time.Second

// clean ends the private tmux server and removes the folder.
func (t *trial) clean(ctx context.Context) error {
	if t.keep {
		for _, b := range t.places() {
			fmt.Fprintf(t.out, "\n  Kept: %s, and the windows: tmux -L %s attach\n", filepath.Join(t.dir, b.folder), b.socket)
			fmt.Fprintf(t.out, "  To remove both:  tmux -L %s kill-server; sleep 1; rm -rf %s\n", b.socket, filepath.Join(t.dir, b.folder))
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cleanTimeout)
	defer cancel()
	for _, b := range t.places() {
		if err := privatetmux.End(ctx, b.socket); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(t.dir); err != nil {
		return err
	}
	fmt.Fprintln(t.out, "\n  Ended; nothing is left.")
	return nil
}
