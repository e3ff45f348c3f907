// Ccbot-try is what `ccbot try` runs: a ccbot that people try in a browser, with a stand-in of Telegram, the demo agent for
// Claude Code (called claude, it is that agent), a tmux server and a folder of its own.
//
// It promises that the ccbot is the one that lies beside it, that a person's own settings of ccbot play no part, and that
// nothing is left after Ctrl-C, unless --keep says so. It exits as the ccbot does, with 2 after wrong usage.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
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
	flags.StringVar(&t.agent, "agent", "demo", "who answers: demo, or claude for the real one")
	flags.BoolVar(&t.keep, "keep", false, "keep the state folder and the windows after Ctrl-C")
	flags.BoolVar(&t.rich, "rich", false, "the Bot API has rich messages: tables, headings and lists in answers")
	flags.StringVar(&t.topics, "topics", "none", "a topic for each session: private, in a private chat, or group, in a group")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		usage()
		return 0
	} else if err != nil {
		fmt.Fprintln(stderr, "ccbot try:", err)
		return 2
	}
	if wrong := t.wrong(flags.Args()); wrong != "" {
		fmt.Fprintln(stderr, "ccbot try:", wrong)
		return 2
	}
	options := botapi.Options{BotName: "ccbot", Topics: t.topics == "private", Rich: t.rich}
	if t.topics == "group" {
		options.Forum = forum
	}
	t.api = botapi.New(options)
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

// trial is a ccbot with everything of its own: Bot API, chat page, state folder, tmux server.
type trial struct {
	agent  string
	keep   bool
	rich   bool
	topics string
	dir    string // all of its files
	socket string // of its tmux server
	api    *botapi.Server
	out    io.Writer
}

// forum is the group of a trial with --topics group.
const forum = -1_001_000_000_000

// wrong says what is wrong with the usage, "" if nothing is.
func (t *trial) wrong(args []string) string {
	_, missing := exec.LookPath("claude")
	switch {
	case len(args) > 0:
		return fmt.Sprintf("unknown argument %q; see ccbot try --help", args[0])
	case t.agent != "demo" && t.agent != "claude":
		return fmt.Sprintf("--agent is demo or claude, not %q", t.agent)
	case t.topics != "none" && t.topics != "private" && t.topics != "group":
		return fmt.Sprintf("--topics is none, private or group, not %q", t.topics)
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
	if t.agent == "demo" {
		err = t.demoFolder()
	}
	var l net.Listener
	if err == nil {
		l, err = t.api.Listen()
	}
	if err == nil {
		served, stop := context.WithCancel(context.WithoutCancel(ctx)) // until the ccbot has ended
		g, ctx := errgroup.WithContext(ctx)
		g.Go(func() error { return t.api.Run(served, l) })
		g.Go(func() error { defer stop(); return t.bot(ctx, environ, stderr) })
		g.Go(func() error { t.greet(ctx); return nil })
		if err = g.Wait(); errors.Is(err, context.Canceled) {
			err = nil
		}
	}
	return errors.Join(err, t.clean(context.WithoutCancel(ctx)))
}

// demoFolder makes the folder in which the private chat starts sessions, so that a first text is one tap from its answer.
func (t *trial) demoFolder() error {
	demo, state := filepath.Join(t.dir, "demo"), filepath.Join(t.dir, "state")
	for _, dir := range []string{demo, state} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	text := "# Demo\n\nA folder to try things in. It goes when the trial ends.\n"
	if err := os.WriteFile(filepath.Join(demo, "README.md"), []byte(text), 0o600); err != nil {
		return err
	}
	chats, err := conversation.Open(filepath.Join(state, "chats"), filepath.Join(state, "quarantine"), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return chats.Set(t.api.PagePerson().ID(), func(s *conversation.Settings) { s.Dir = demo })
}

// bot runs the ccbot that lies beside this program.
func (t *trial) bot(ctx context.Context, environ []string, stderr io.Writer) error {
	me, err := os.Executable()
	if err != nil {
		return err
	}
	if me, err = filepath.EvalSymlinks(me); err != nil {
		return err
	}
	link, err := demoagent.Link(t.dir)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(me), "ccbot"), "run")
	cmd.Env = t.environ(environ, link)
	cmd.Stdout, cmd.Stderr = t.out, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // or Ctrl-C tells it too, and a second signal ends it at once
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("ccbot: %w", err)
	}
	return context.Canceled // the ccbot was asked to stop, and the trial ends with it
}

// settings are the beginnings of the names of ccbot's settings. A person's own are not the trial's, but for inherited.
var (
	settings = []string{"TELEGRAM_", "ALLOWED_", "CCBOT_", "SHOW_", "TMUX_SESSION_NAME", "CLAUDE_COMMAND", "CLAUDE_FLAGS", "CLAUDE_CONFIG_DIR",
		"KILL_", "IDLE_", "QUESTION_", "AGENT_ENV_", "ARCHIVE_", "STALE_", "RESUME_", "ORPHAN_", "VOICE_", "INBOX_", "LOG_", "METRICS_"}
	inherited = []string{"LOG_LEVEL", "LOG_FORMAT", "CCBOT_LANG", "CCBOT_FAILPOINT", "CCBOT_FAILFILE"}
)

// environ is the environment of the trial's ccbot; agent is the demo agent's command.
func (t *trial) environ(environ []string, agent string) []string {
	own := []string{"TELEGRAM_BOT_TOKEN=" + t.api.Token(), "TELEGRAM_API_URL=" + t.api.URL(), fmt.Sprint("ALLOWED_USERS=", t.api.PagePerson().ID()),
		"CCBOT_DIR=" + filepath.Join(t.dir, "state"), "CCBOT_TMUX_SOCKET=" + t.socket,
		"VOICE_COMMAND=grep -aoh 'say hello[a-z ]*'", "VOICE_CONFIRM=on"} // the words of the page's recording stand in its comment
	if t.topics == "group" {
		own = append(own, fmt.Sprint("ALLOWED_CHATS=", forum))
	}
	inherited := inherited
	if t.agent == "demo" {
		own = append(own, "CLAUDE_COMMAND="+agent, "CLAUDE_CONFIG_DIR="+filepath.Join(t.dir, "claude-config"))
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

// greet says where the chat is once the ccbot has come up.
func (t *trial) greet(ctx context.Context) {
	if _, err := t.api.WaitCall(ctx, func(botapi.Call) bool { return true }); err != nil {
		return // it never did
	}
	var text strings.Builder // written at once, because ccbot writes to the same terminal
	fmt.Fprintf(&text, "\n  Open this in a browser:  %s\n\n", t.api.PageURL())
	if _, err := exec.LookPath("claude"); err == nil && t.agent == "demo" {
		text.WriteString("  A demo agent plays Claude Code. For your own:  ccbot try --agent claude\n")
	}
	ends := "Ctrl-C ends it and removes everything."
	if t.keep {
		ends = "Ctrl-C ends it."
	}
	fmt.Fprintf(&text, "  In a terminal:  tmux -L %s attach\n  %s\n\n", t.socket, ends)
	fmt.Fprint(t.out, text.String())
}

// cleanPatience is how long the trial's windows may take to end.
const cleanPatience = 15 * time.Second

// clean ends the private tmux server and removes the folder.
func (t *trial) clean(ctx context.Context) error {
	if t.keep {
		fmt.Fprintf(t.out, "\n  Kept: %s, and the windows: tmux -L %s attach\n", t.dir, t.socket)
		fmt.Fprintf(t.out, "  To remove both:  tmux -L %s kill-server; sleep 1; rm -rf %s\n", t.socket, t.dir)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cleanPatience)
	defer cancel()
	if err := privatetmux.End(ctx, t.socket); err != nil {
		return err
	}
	if err := os.RemoveAll(t.dir); err != nil {
		return err
	}
	fmt.Fprintln(t.out, "\n  Ended; nothing is left.")
	return nil
}
