package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"ccbot/bot/menu"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/spool"
)

// menuCalls are the calls of the Bot API about lists of commands; *tgbot.Bot implements them.
type menuCalls interface {
	SetMyCommands(ctx context.Context, params *tgbot.SetMyCommandsParams) (bool, error)
	DeleteMyCommands(ctx context.Context, params *tgbot.DeleteMyCommandsParams) (bool, error)
}

// Menus updates Telegram's lists of commands. The published lists are on disk: a start, or another
// language of a chat, costs one call for each list that differs. A failed call affects this list
// only. It is repeated soon, or, if Telegram refused it, at the next start or change.
type Menus struct {
	api    menuCalls
	folder spool.Folder
	wanted func() []menu.List
	log    *slog.Logger
	wake   chan struct{}

	refused []menu.List // that Telegram has refused since the start
	has     published   // the lists that Telegram has; valid if read is set
	read    bool
	unsaved bool // the file does not have it
}

const (
	menuFile = "commands.json"
	// menuDiskRetry is the time until the file is read or written again after a failure.
	menuDiskRetry = 5 * time.Second
	// menuRetry is the time until calls that have failed are made again.
	menuRetry = 5 * time.Minute
	// menuLook is the time until the wanted lists are compared again: the first loop, schedule or
	// machine of a chat adds its commands.
	menuLook = time.Minute
)

// published is the file: the lists that a bot has published.
type published struct {
	Bot   int64       `json:"bot"`
	Lists []menu.List `json:"lists"`
}

// NewMenus returns the lists of a bot; dir has the file.
func NewMenus(api menuCalls, dir string, wanted func() []menu.List, log *slog.Logger) *Menus {
	return &Menus{api: api, folder: spool.Folder{Path: dir}, wanted: wanted, log: log, wake: make(chan struct{}, 1)}
}

// Changed says that the bot may want other lists than before.
func (m *Menus) Changed() { pause.Poke(m.wake) }

// Run keeps the lists of a bot until ctx ends.
func (m *Menus) Run(ctx context.Context, id int64) error {
	for ctx.Err() == nil {
		wait, err := m.publish(ctx, id)
		if err != nil && ctx.Err() == nil {
			m.log.Warn("commands_not_published", logkey.Error, err)
		}
		pause.Until(ctx, wait, m.wake)
	}
	return nil
}

// publish makes the needed calls, and stores Telegram's lists after each. again is the time until
// failed calls are repeated. A damaged file, or another bot's, is ignored: then all lists are
// published again.
func (m *Menus) publish(ctx context.Context, id int64) (again time.Duration, all error) {
	again = menuLook
	if err := m.load(id); err != nil {
		return menuDiskRetry, err
	}
	if err := m.save(); err != nil {
		return menuDiskRetry, err
	}
	has := &m.has
	wanted := m.wanted()
	for _, one := range has.Lists {
		if place(wanted, one) < 0 {
			wanted = append(wanted, menu.List{Chat: one.Chat, Groups: one.Groups, Lang: one.Lang})
		}
	}
	for _, one := range wanted {
		i := place(has.Lists, one)
		if i >= 0 && slices.Equal(has.Lists[i].Commands, one.Commands) || m.isRefused(one) {
			continue
		}
		if err := m.call(ctx, one); err != nil {
			all = errors.Join(all, fmt.Errorf("commands of chat %d in %q: %w", one.Chat, one.Lang, err))
			if errors.Is(err, tgbot.ErrorForbidden) || errors.Is(err, tgbot.ErrorBadRequest) {
				m.noteRefused(one)
			} else {
				again = waitAfter(err, menuRetry)
			}
			continue
		}
		if i >= 0 {
			has.Lists = slices.Delete(has.Lists, i, i+1)
		}
		if len(one.Commands) > 0 {
			has.Lists = append(has.Lists, one)
		}
		m.unsaved = true
		if err := m.save(); err != nil {
			return menuDiskRetry, errors.Join(all, err)
		}
	}
	return again, all
}

func (m *Menus) noteRefused(one menu.List) {
	if i := place(m.refused, one); i >= 0 {
		m.refused[i] = one
		return
	}
	m.refused = append(m.refused, one)
}

// isRefused reports whether Telegram has refused just this list.
func (m *Menus) isRefused(one menu.List) bool {
	i := place(m.refused, one)
	return i >= 0 && slices.Equal(m.refused[i].Commands, one.Commands)
}

// load reads, once, what a bot has given Telegram.
func (m *Menus) load(id int64) error {
	if m.read {
		return nil
	}
	var has published
	from := spool.Loader{Quarantine: filepath.Join(m.folder.Path, "quarantine"), Log: m.log}
	if _, err := from.LoadOne(m.folder, menuFile, func(data []byte) error { return json.Unmarshal(data, &has) }); err != nil {
		return err
	}
	if has.Bot != id {
		has = published{Bot: id}
	}
	m.has, m.read = has, true
	return nil
}

// save writes what Telegram has, if the file does not have it.
func (m *Menus) save() error {
	if !m.unsaved {
		return nil
	}
	data, err := json.Marshal(m.has)
	if err == nil {
		err = m.folder.Put(menuFile, append(data, '\n'))
	}
	m.unsaved = err != nil
	return err
}

// place returns the index of a list of the same people, or -1.
func place(all []menu.List, one menu.List) int {
	return slices.IndexFunc(all, func(other menu.List) bool {
		return other.Chat == one.Chat && other.Groups == one.Groups && other.Lang == one.Lang
	})
}

// call publishes a list, or deletes it at Telegram if it has no commands.
func (m *Menus) call(ctx context.Context, one menu.List) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var scope models.BotCommandScope = &models.BotCommandScopeDefault{}
	switch {
	case one.Chat != 0:
		scope = &models.BotCommandScopeChat{ChatID: one.Chat}
	case one.Groups:
		scope = &models.BotCommandScopeAllGroupChats{}
	}
	if len(one.Commands) == 0 {
		_, err := m.api.DeleteMyCommands(ctx, &tgbot.DeleteMyCommandsParams{LanguageCode: one.Lang, Scope: scope})
		return err
	}
	set := tgbot.SetMyCommandsParams{LanguageCode: one.Lang, Scope: scope}
	for _, c := range one.Commands {
		set.Commands = append(set.Commands, models.BotCommand{Command: c.Name, Description: c.Text})
	}
	_, err := m.api.SetMyCommands(ctx, &set)
	return err
}
