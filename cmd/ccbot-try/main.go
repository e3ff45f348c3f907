// Ccbot-try implements `ccbot try`: a ccbot that people try in a browser, with a stand-in of
// Telegram, the demo agent for Claude Code (called claude, it is that agent), and a separate tmux
// server and folder.
//
// It promises that it runs the ccbot in its own folder, that a person's settings of ccbot play no
// part, and that nothing is left after Ctrl-C without --keep. It exits as the ccbot does, with 2
// after wrong usage.
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
// server.
type trial struct {
	agent   string
	keep    bool
	rich    bool
	topics  string
	several int
	privacy bool
	dir     string // all of its files
	socket  string // of its tmux server
	bots    []*bot // the first one's page is shown
	out     io.Writer
}

// bot is one ccbot of a trial.
type bot struct {
	*trial
	api     *botapi.Server
	machine string // empty: the real one
	folder  string // of its files, in the trial's
	socket  string // of its tmux server
}

// forum is the group of a trial with --topics group.
const forum = -1_001_000_000_000

// makeBots makes what the ccbots of the trial take for Telegram.
func (t *trial) makeBots() {
	options := botapi.Options{BotName: "ccbot", Topics: t.topics == "private", Rich: t.rich, Privacy: t.privacy}
	if t.topics == "group" {
		options.Forum = forum
	}
	if t.several == 1 {
		t.bots = []*bot{{trial: t, api: botapi.New(options), socket: t.socket}}
		return
	}
	for _, machine := range []string{"laptop", "desktop"} {
		options.BotName, options.BotUsername = machine, machine+"_bot"
		b := &bot{trial: t, api: botapi.New(options), machine: machine, folder: machine, socket: t.socket + "-" + machine}
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
	for _, b := range t.bots {
		if err == nil {
			err = b.start(each, g, environ, stderr)
		}
	}
	if err == nil {
		g.Go(func() error { t.greet(each); return nil })
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

// path is a path in the bot's folder.
func (b *bot) path(name string) string { return filepath.Join(b.dir, b.folder, name) }

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
	demo := b.path("demo")
	if err := os.Mkdir(demo, 0o700); err != nil {
		return err
	}
	text := "# Demo\n\nA folder to try things in. It goes when the trial ends.\n"
	if err := os.WriteFile(filepath.Join(demo, "README.md"), []byte(text), 0o600); err != nil {
		return err
	}
	return chats.Set(b.api.PagePerson().ID(), func(s *conversation.Settings) { s.Dir = demo })
}

// run runs the ccbot in the folder of this program.
func (b *bot) run(ctx context.Context, environ []string, stderr io.Writer) error {
	me, err := os.Executable()
	if err != nil {
		return err
	}
	if me, err = filepath.EvalSymlinks(me); err != nil {
		return err
	}
	link, err := demoagent.Link(filepath.Join(b.dir, b.folder))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(me), "ccbot"), "run")
	cmd.Env = b.environ(environ, link)
	cmd.Stdout, cmd.Stderr = b.out, stderr
	// or Ctrl-C tells it too, and a second signal ends it at once
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ccbot: %w", err)
	}
	return context.Canceled // the ccbot stopped as requested, and the trial ends with it
}

// settings are the beginnings of the names of ccbot's settings. A person's own are not the trial's,
// but for inherited.
var (
	settings = []string{"TELEGRAM_", "ALLOWED_", "CCBOT_", "SHOW_", "TMUX_SESSION_NAME", "CLAUDE_COMMAND", "CLAUDE_FLAGS", "CLAUDE_CONFIG_DIR", "CODEX_",
		"KILL_", "IDLE_", "QUESTION_", "AGENT_ENV_", "ARCHIVE_", "LOOP_", "STALE_", "RESUME_", "ORPHAN_", "VOICE_", "INBOX_", "LOG_", "METRICS_"}
	inherited = []string{"LOG_LEVEL", "LOG_FORMAT", "CCBOT_LANG", "CCBOT_FAILPOINT", "CCBOT_FAILFILE"}
)

// environ is the environment of the trial's ccbot; agent is the demo agent's command.
func (b *bot) environ(environ []string, agent string) []string {
	own := []string{"TELEGRAM_BOT_TOKEN=" + b.api.Token(), "TELEGRAM_API_URL=" + b.api.URL(), fmt.Sprint("ALLOWED_USERS=", b.api.PagePerson().ID()),
		"CCBOT_DIR=" + b.path("state"), "CCBOT_TMUX_SOCKET=" + b.socket, "CODEX_HOME=" + b.path("codex"),
		// its comment has the words
		"VOICE_COMMAND=grep -aoh 'say hello[a-z ]*'", "VOICE_CONFIRM=on"}
	if b.topics == "group" {
		own = append(own, fmt.Sprint("ALLOWED_CHATS=", forum))
	}
	if b.machine != "" {
		own = append(own, "CCBOT_MACHINE="+b.machine)
	}
	inherited := inherited
	if b.agent == "demo" {
		own = append(own, "CLAUDE_COMMAND="+agent, "CLAUDE_CONFIG_DIR="+b.path("claude-config"))
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

// greet prints the address of the chat once the ccbot has come up.
func (t *trial) greet(ctx context.Context) {
	api := t.bots[0].api
	if _, err := api.WaitCall(ctx, func(botapi.Call) bool { return true }); err != nil {
		return // it never did
	}
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
	fmt.Fprintf(&text, "  %s\n\n", ends)
	fmt.Fprint(t.out, text.String())
}

// cleanTimeout is how long the trial's windows may take to end.
const cleanTimeout = 15 * time.Second

// clean ends the private tmux server and removes the folder.
func (t *trial) clean(ctx context.Context) error {
	if t.keep {
		for _, b := range t.bots {
			fmt.Fprintf(t.out, "\n  Kept: %s, and the windows: tmux -L %s attach\n", filepath.Join(t.dir, b.folder), b.socket)
			fmt.Fprintf(t.out, "  To remove both:  tmux -L %s kill-server; sleep 1; rm -rf %s\n", b.socket, filepath.Join(t.dir, b.folder))
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cleanTimeout)
	defer cancel()
	for _, b := range t.bots {
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
