package main

import (
	"context"
	"os"
	"reflect"

	"ccbot/bot/conversation"
	"ccbot/bot/prompt"
	"ccbot/internal/logkey"
	"ccbot/internal/token"
)

// reloadAt reads the settings again at each request.
func (s *system) reloadAt(ctx context.Context, requests <-chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-requests:
			s.reload(ctx)
		}
	}
}

// reload takes over who may speak and the level of the log. What is wrong changes nothing.
func (s *system) reload(ctx context.Context) {
	c, err := loadConfig(s.environ)
	if err != nil {
		s.log.Error("settings_not_reloaded", logkey.Error, s.Token.CleanError(err).Error())
		return
	}
	s.bot.Admit(c.lists())
	s.owner.Store(c.AllowedUsers[0])
	if err := prompt.EndUnheard(ctx, s.bot.Prompts); err != nil {
		s.log.Error("prompts_not_ended", logkey.Error, err.Error())
	}
	s.level.Set(min(s.level.Level(), c.level())) // so that the change of the level is told
	s.log.Info("settings_reloaded", logkey.People, len(c.AllowedUsers), logkey.Groups, len(c.AllowedChats), logkey.Level, c.LogLevel)
	if names := s.differing(c, taken); len(names) > 0 {
		s.log.Warn("settings_need_a_restart", logkey.Names, names)
	}
	s.level.Set(c.level())
}

func (c config) lists() conversation.Lists {
	return conversation.Lists{People: c.AllowedUsers.set(), Groups: c.AllowedChats.set()}
}

// taken are the settings that a reload takes over.
var taken = map[string]bool{"ALLOWED_USERS": true, "ALLOWED_CHATS": true, "LOG_LEVEL": true}

// differing names the settings that another configuration has otherwise, without the ones to leave
// out. It shows no value.
func (c config) differing(other config, without map[string]bool) (names []string) {
	if c.Token.Equal(other.Token) { // as values they always differ
		c.Token, other.Token = token.Token{}, token.Token{}
	}
	mine, others := reflect.ValueOf(c), reflect.ValueOf(other)
	for field := range reflect.TypeFor[config]().Fields() {
		name := field.Tag.Get("env")
		if name != "" && !without[name] && !reflect.DeepEqual(mine.FieldByIndex(field.Index).Interface(), others.FieldByIndex(field.Index).Interface()) {
			names = append(names, name)
		}
	}
	return names
}
