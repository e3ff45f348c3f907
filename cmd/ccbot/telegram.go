package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// redacting is an http client whose errors have no URL: net/http puts it there,
// and Telegram's has the token in it.
type redacting struct{ client *http.Client }

// Do sends a request.
func (r redacting) Do(q *http.Request) (*http.Response, error) {
	resp, err := r.client.Do(q)
	return resp, withoutURL(err)
}

// withoutURL takes the URL out of an error of net/http and keeps its cause.
func withoutURL(err error) error {
	var e *url.Error
	if errors.As(err, &e) {
		return fmt.Errorf("%s: %w", strings.ToLower(e.Op), e.Err)
	}
	return err
}

// callTimeout bounds a call of the Bot API that is made here; the outbox bounds
// its own, and an upload takes longer.
const callTimeout = 60 * time.Second

func newTelegram(c config) (*tgbot.Bot, error) {
	client := redacting{&http.Client{}}
	api, err := tgbot.New(string(c.Token), tgbot.WithServerURL(c.APIURL), tgbot.WithSkipGetMe(),
		tgbot.WithHTTPClient(callTimeout, client))
	if err != nil {
		return nil, fmt.Errorf("telegram: %w", err)
	}
	return api, nil
}

// errRevoked says that Telegram does not know the token, at start or later.
var errRevoked = usage(errors.New("telegram does not know TELEGRAM_BOT_TOKEN: ask @BotFather for the present one"))

// connect asks who the bot is, as long as it takes: at boot the network may
// come later than ccbot. A token that Telegram does not know is final.
func connect(ctx context.Context, api *tgbot.Bot, log *slog.Logger) (*models.User, error) {
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		me, err := whoAmI(ctx, api)
		switch {
		case err == nil:
			return me, nil
		case errors.Is(err, tgbot.ErrorUnauthorized), errors.Is(err, tgbot.ErrorNotFound):
			return nil, errRevoked
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		log.Warn("telegram_unreachable", "retry_in", wait.String(), "error", err.Error())
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func whoAmI(ctx context.Context, api *tgbot.Bot) (*models.User, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return api.GetMe(ctx)
}

// publish puts ccbot's commands into Telegram's menu. A failure costs the menu
// only.
func publish(ctx context.Context, api *tgbot.Bot, menu map[string]string, log *slog.Logger) {
	var list []models.BotCommand
	for name, text := range menu {
		list = append(list, models.BotCommand{Command: name, Description: text})
	}
	order := []string{"new", "list", "stop", "kill", "done", "resume", "help"}
	slices.SortFunc(list, func(a, b models.BotCommand) int {
		return slices.Index(order, a.Command) - slices.Index(order, b.Command)
	})
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if _, err := api.SetMyCommands(ctx, &tgbot.SetMyCommandsParams{Commands: list}); err != nil {
		log.Warn("commands_not_published", "error", err.Error())
	}
}
