package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	tgbot "github.com/go-telegram/bot"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/telegram"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/i18n"
	"ccbot/internal/token"
)

// callTimeout bounds a call: a person waits for it.
const callTimeout = 30 * time.Second

var errUnknownToken = errors.New("telegram does not know this token; copy all of it from @BotFather")

// errForm never shows what was given.
var errForm = errors.New("that is not a bot token: one looks like 123456789:AA…")

// chooseBot finds the token: from the flag, the configuration, or the person's input.
func (s *Setup) chooseBot(ctx context.Context) (bot, error) {
	if path := s.Flags.TokenFile; path != "" {
		text, err := s.tokenIn(path)
		if err != nil {
			return bot{}, exit.Usage(err)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0 {
			s.Terminal.printLine("group or others may read %s, where the token is: chmod 600, or delete it", terminal.Printable(path))
		}
		b, err := s.connect(ctx, text)
		if errors.Is(err, errUnknownToken) {
			err = exit.Usage(err)
		}
		return b, err
	}
	if b, err := s.configured(ctx); err != nil || b.name != "" {
		return b, err
	}
	if s.Flags.Yes {
		return bot{}, exit.Usage(errors.New("--yes needs --token-file: no token is configured yet"))
	}
	for {
		text, err := s.Terminal.readLine(ctx, "Token of the bot, from @BotFather (it is not shown): ", "--token-file", false)
		if err != nil {
			return bot{}, err
		}
		b, err := s.connect(ctx, text)
		if !errors.Is(err, errUnknownToken) && !errors.Is(err, errForm) {
			return b, err
		}
		s.Terminal.printLine("That did not work: %s.", err)
	}
}

// configured returns the bot of the configured token if the person keeps it; otherwise no bot.
func (s *Setup) configured(ctx context.Context) (bot, error) {
	if !s.Token.Valid() {
		return bot{}, nil
	}
	b, err := s.meet(ctx, s.Token)
	if errors.Is(err, errUnknownToken) && !s.Flags.Yes {
		s.Terminal.printLine("Telegram no longer knows the token in %s.", terminal.Printable(s.File))
		return bot{}, nil
	}
	if err != nil || s.Flags.Yes {
		return b, err
	}
	keep, err := s.Terminal.Yes(ctx, "Keep this bot?", true)
	if err != nil || !keep {
		return bot{}, err
	}
	return b, nil
}

// tokenIn reads a token from a file, or from standard input if path is "-".
func (s *Setup) tokenIn(path string) (string, error) {
	if token.New(path).Valid() { // no error may show it
		return "", errors.New("--token-file wants a file with the token in it, not the token: other users see the arguments of a program")
	}
	in := s.Flags.Input
	if path != "-" {
		f, err := os.Open(path) // also a pipe of the shell
		if err != nil {
			return "", fmt.Errorf("--token-file: %w", err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, longestLine))
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	text := strings.TrimSpace(string(data))
	if !token.New(text).Valid() {
		return "", fmt.Errorf("--token-file %s: %w", path, errForm)
	}
	return text, nil
}

// connect is meet for a new token.
func (s *Setup) connect(ctx context.Context, text string) (bot, error) {
	b, err := s.meet(ctx, token.New(text))
	b.reveal = func() string { return text }
	return b, err
}

// meet gets the name of the token's bot from Telegram, and checks that the bot's messages can be
// polled.
func (s *Setup) meet(ctx context.Context, secret token.Token) (bot, error) {
	if !secret.Valid() {
		return bot{}, errForm
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	name, webhook, _, err := telegram.Who(ctx, telegram.Client(secret, s.APIURL, s.Proxy()), s.APIURL)
	if errors.Is(err, telegram.ErrRevoked) {
		return bot{}, errUnknownToken
	}
	if errors.Is(err, telegram.ErrBusy) {
		return bot{}, fmt.Errorf("ask Telegram whose token this is: %w", err)
	}
	if err != nil {
		return bot{}, fmt.Errorf("ask Telegram whose token this is: %w; look at %s", secret.CleanError(err), telegram.CheckHint(err))
	}
	s.Terminal.printLine("Bot: @%s", terminal.Printable(name))
	if webhook != "" {
		return bot{}, exit.Usage(fmt.Errorf("%w. End the program that has set it, have it call deleteWebhook, and begin again", telegram.ErrWebhook))
	}
	api, err := telegram.New(secret, s.APIURL, s.Proxy(), slog.New(slog.DiscardHandler))
	return bot{api: api, name: name, token: secret}, secret.CleanError(err)
}

// greet writes to the people who were chosen. Telegram lets a bot write only to people who have
// opened it.
func (s *Setup) greet(ctx context.Context, b bot, people []person) error {
	var errs []error
	for _, p := range people {
		set := s.Chats.Settings(p.id)
		words := s.Words.For(set.Language, p.language, set.Telegram, s.Lang)
		err := b.greet(ctx, p.id, words)
		switch {
		case errors.Is(err, tgbot.ErrorForbidden), errors.Is(err, tgbot.ErrorBadRequest):
			s.Terminal.printLine("%d has not opened the bot yet: %s, then Start.", p.id, b.link())
		case err != nil:
			errs = append(errs, fmt.Errorf("say hello to %d: %w", p.id, err))
		default:
			s.Terminal.printLine("@%s has said hello to %d.", terminal.Printable(b.name), p.id)
		}
	}
	return errors.Join(errs...)
}

func (b bot) greet(ctx context.Context, id int64, words i18n.Words) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, err := b.api.SendMessage(ctx, &tgbot.SendMessageParams{ChatID: id, Text: words.Say(i18n.SetupHello)})
	return err
}
