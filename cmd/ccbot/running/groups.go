package running

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/caarlos0/env/v11"
	"github.com/go-telegram/bot/models"

	"ccbot/cmd/ccbot/config"
	"ccbot/internal/logkey"
)

const groupsSetting = "ALLOWED_CHATS"

// allowedGroups is ALLOWED_CHATS of a running ccbot, and decides which updates are accepted.
type allowedGroups struct{ *system }

// errNotCounted is returned if the settings file has a group that is not allowed all the same.
var errNotCounted = errors.New("it is in the settings file, and does not count")

// AllowGroup adds a group to the settings file, and then reads the settings again as a reload does.
func (a allowedGroups) AllowGroup(ctx context.Context, group int64) error {
	c, err := config.Load(a.Environ)
	if err != nil {
		return a.Token.CleanError(fmt.Errorf("allow group %d: %w", group, err))
	}
	if _, err := config.WriteSettings(c.File, map[string]string{groupsSetting: withGroup(c, group)}); err != nil {
		return fmt.Errorf("allow group %d: %w", group, err)
	}
	if a.reload(ctx); !a.bot.InGroup(group) {
		return fmt.Errorf("allow group %d: %w", group, errNotCounted)
	}
	return nil
}

// GroupLine returns the line that allows a group too, if the process environment sets the list. An
// empty value wins over the file as well.
func (a allowedGroups) GroupLine(group int64) string {
	if _, set := env.ToMap(a.Environ)[groupsSetting]; !set {
		return ""
	}
	return groupsSetting + "=" + withGroup(a.Config, group)
}

// GroupLeft makes the figures name the group no longer.
func (a allowedGroups) GroupLeft(group int64) {
	a.refused.figures(func(chat int64) bool { return chat == group })
}

// withGroup returns the value of ALLOWED_CHATS that has a group too.
func withGroup(c config.Config, group int64) string {
	all := slices.Clone(c.AllowedChats)
	if !slices.Contains(all, group) {
		all = append(all, group)
	}
	var words []string
	for _, id := range all {
		words = append(words, strconv.FormatInt(id, 10))
	}
	return strings.Join(words, ",")
}

// moved notes that a group has become another chat.
func (a allowedGroups) moved(ctx context.Context, from, to int64) (ours bool, err error) {
	if err := a.bot.NewGroups.Moved(ctx, from, to); err != nil {
		return false, err
	}
	return a.bot.Moves.Note(from, to)
}

const (
	// mostRefusedGroups is the number of groups that refusals names.
	mostRefusedGroups = 10
	// anonymousAdmin is the person that Telegram names if an administrator writes in the group's name.
	anonymousAdmin = 1087968824
)

// refusals counts the updates that were refused.
type refusals struct {
	mu     sync.Mutex
	counts map[string]int
	groups []int64
	// anonymous are allowed groups in which somebody has written in the group's name.
	anonymous []int64
}

// authorize returns the filter for inbox.Config: the person may speak in the chat, and the update
// is for this bot. It counts updates from others. Of strangers only the number is kept.
func (a allowedGroups) authorize(ctx context.Context) func(string, int64, models.Chat, json.RawMessage) (bool, error) {
	return func(kind string, person int64, chat models.Chat, update json.RawMessage) (bool, error) {
		if a.bot.IsAuthorized(person, chat) {
			return a.bot.Several.Acts(ctx, update)
		}
		if person == anonymousAdmin && a.bot.InGroup(chat.ID) {
			a.hearAnonymous(ctx, chat)
		}
		group := chat.Type == models.ChatTypeGroup || chat.Type == models.ChatTypeSupergroup
		a.refused.note(kind, chat.ID, group && a.bot.IsAllowed(person))
		return false, nil
	}
}

// hearAnonymous notes that somebody writes in the name of a group, and says once in the private chats
// how to write with one's own name. The group stays silent: who wrote is not known.
func (a allowedGroups) hearAnonymous(ctx context.Context, group models.Chat) {
	a.refused.noteAnonymous(group.ID)
	if err := a.bot.Shut.Anonymous(ctx, group); err != nil {
		a.Log.Warn("anonymous_not_said", logkey.Error, err)
	}
}

func (r *refusals) noteAnonymous(group int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.anonymous, group) {
		r.anonymous = append(r.anonymous, group)
	}
}

// anonymousIn returns the groups in which somebody has written anonymously since the start.
func (r *refusals) anonymousIn(allowed func(chat int64) bool) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.anonymous), func(group int64) bool { return !allowed(group) })
}

func (r *refusals) note(kind string, chat int64, allowed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch kind {
	case models.AllowedUpdateMessage, models.AllowedUpdateEditedMessage, models.AllowedUpdateCallbackQuery, models.AllowedUpdateMyChatMember:
	default:
		kind = "other"
	}
	if r.counts == nil {
		r.counts = make(map[string]int)
	}
	r.counts[kind]++
	if allowed && !slices.Contains(r.groups, chat) && len(r.groups) < mostRefusedGroups {
		r.groups = append(r.groups, chat)
	}
}

// figures returns the counts and the groups, after it has removed the groups for which over returns
// true.
func (r *refusals) figures(over func(chat int64) bool) (counts map[string]int, groups []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.groups = slices.DeleteFunc(r.groups, over)
	return maps.Clone(r.counts), slices.Clone(r.groups)
}
