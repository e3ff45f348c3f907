package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	tgbot "github.com/go-telegram/bot"

	"ccbot/bot/conversation"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/i18n"
	"ccbot/internal/token"
)

// Flags are the answers that were given before the questions.
type Flags struct {
	TokenFile string    // "-": Input
	Input     io.Reader // standard input
	Allow     []int64
	Folder    string
	Hooks     *bool // nil: no answer
	Service   *bool
	Yes       bool // without a flag no question is asked: settings stay, and offers are accepted
}

// Setup is one run.
type Setup struct {
	config.Config // the present configuration

	Chats *conversation.Store
	Words *i18n.Catalog
	Hooks func() error
	// Service makes ccbot run in the background, now and at each login.
	Service func(ctx context.Context) error

	Flags    Flags
	Terminal Terminal

	chosen string // the name of the bot
}

// Run does everything but the service. The error includes failures after ccbot.env was written.
func (s *Setup) Run(ctx context.Context) error {
	b, err := s.chooseBot(ctx)
	if err != nil {
		return err
	}
	s.chosen = b.name
	people, err := s.choosePeople(ctx, b)
	if err != nil {
		return b.token.CleanError(err)
	}
	dir, err := s.chooseFolder(ctx, people[0])
	if err != nil {
		return err
	}
	if err := s.save(b, people, dir); err != nil {
		return b.token.CleanError(err)
	}
	instead := offline.InsteadOfClaude(s.Config)
	if instead != "" && s.Flags.Hooks == nil {
		s.Flags.Hooks = new(bool)
	}
	hooks, err := s.offer(ctx, s.Flags.Hooks, "Install hooks in Claude Code's settings, so that ccbot knows sessions that you start by hand?")
	if err != nil {
		return err
	}
	if hooks {
		if err = s.Hooks(); err != nil {
			err = fmt.Errorf("the hooks are not installed, and `ccbot hooks install` tries it again: %w", err)
		}
	}
	if instead != "" {
		s.Terminal.printLine("Claude Code is not installed: each session uses %s.", instead)
	} else if _, missing := exec.LookPath(s.ClaudeCommand()); missing != nil {
		s.Terminal.printLine("%s", s.Words.For("en").Say(i18n.AgentMissing,
			i18n.Args{"Command": s.ClaudeCommand(), "Agent": "Claude Code", "Setting": "CLAUDE_COMMAND"}))
	}
	return b.token.CleanError(errors.Join(err, s.greet(ctx, b, people)))
}

// OfferService offers to install the service. The caller has given the lock back, because the
// service takes it.
func (s *Setup) OfferService(ctx context.Context) error {
	install, err := s.offer(ctx, s.Flags.Service, "Run ccbot in the background from now on, and at each login?")
	if err != nil {
		return err
	}
	if !install {
		s.Terminal.printLine("Start it with `ccbot`.")
		return nil
	}
	return s.Service(ctx)
}

// FirstTask says what to send to the bot. It works in any folder and changes nothing there.
func (s *Setup) FirstTask() {
	s.Terminal.printLine("Your first task, to send to @%s: Look around in this folder and tell me in three sentences what it is for.", s.chosen)
}

// offer asks a question whose default is yes.
func (s *Setup) offer(ctx context.Context, flag *bool, question string) (bool, error) {
	switch {
	case flag != nil:
		return *flag, nil
	case s.Flags.Yes:
		return true, nil
	}
	return s.Terminal.Yes(ctx, question, true)
}

// chooseFolder is the folder for new sessions; empty: it stays as it is. The person whose choice is
// shown is the first one.
func (s *Setup) chooseFolder(ctx context.Context, first person) (string, error) {
	if s.Flags.Folder != "" || s.Flags.Yes {
		return s.folder(ctx, s.Flags.Folder)
	}
	now := s.Chats.Settings(first.id).Dir
	if now == "" {
		now = "~"
	}
	for {
		text, err := s.Terminal.readLine(ctx, fmt.Sprintf("Folder for new sessions [%s]: ", terminal.Printable(now)), "--folder", true)
		if err != nil {
			return "", err
		}
		dir, err := s.folder(ctx, text)
		if err == nil {
			return dir, nil
		}
		s.Terminal.printLine("That did not work: %s.", terminal.Printable(terminal.Plain(err)))
	}
}

func (s *Setup) folder(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	return offline.Folder(ctx, s.Config, text)
}

// save writes what was chosen. Each person's folder is a choice of their private chat, which
// /settings shows and changes.
func (s *Setup) save(b bot, people []person, dir string) error {
	allowed := slices.Clone(s.AllowedUsers)
	for _, p := range people {
		if !slices.Contains(allowed, p.id) {
			allowed = append(allowed, p.id)
		}
	}
	changes := make(map[string]string)
	if b.reveal != nil {
		changes["TELEGRAM_BOT_TOKEN"] = b.reveal()
	}
	if len(allowed) > len(s.AllowedUsers) {
		changes["ALLOWED_USERS"] = list(allowed)
	}
	written, err := config.WriteSettings(s.File, changes)
	if err != nil {
		return err
	}
	if written {
		s.Terminal.printLine("Written: %s", terminal.Printable(s.File))
	}
	for _, p := range people {
		if dir == "" {
			break
		}
		if err := s.Chats.Set(p.id, func(c *conversation.Settings) { c.Dir = dir }); err != nil {
			return fmt.Errorf("keep the folder for new sessions: %w", err)
		}
	}
	return nil
}

// list is a comma list of ids.
func list(ids []int64) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(words, ",")
}

// bot is the bot that was chosen.
type bot struct {
	api    *tgbot.Bot
	name   string
	token  token.Token
	reveal func() string // the token for ccbot.env; nil: it has it already
}

// link opens the chat with the bot.
func (b bot) link() string { return "https://t.me/" + b.name }
