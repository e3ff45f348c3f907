package running

import (
	"context"
	"os"

	"ccbot/bot/conversation"
	"ccbot/cmd/ccbot/config"
	"ccbot/internal/logkey"
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

// reload takes over who may speak and the level of the log. Wrong settings change nothing.
func (s *system) reload(ctx context.Context) {
	s.reloading.Lock()
	defer s.reloading.Unlock()
	c, err := config.Load(s.Environ)
	if err != nil {
		s.Log.Error("settings_not_reloaded", logkey.Error, s.Token.CleanError(err))
		return
	}
	s.owner.Store(c.AllowedUsers[0])
	if err := s.bot.Readmit(ctx, listsOf(c)); err != nil {
		s.Log.Error("plans_not_reviewed", logkey.Error, err)
	}
	s.level.Set(min(s.level.Level(), c.Level())) // so that the change of the level is logged
	s.Log.Info("settings_reloaded", logkey.People, len(c.AllowedUsers), logkey.Groups, len(c.AllowedChats), logkey.Level, c.LogLevel)
	if names := s.Differing(c, taken); len(names) > 0 {
		s.Log.Warn("settings_need_a_restart", logkey.Names, names)
	}
	s.level.Set(c.Level())
}

func listsOf(c config.Config) conversation.Lists {
	return conversation.Lists{People: c.AllowedUsers.Set(), Groups: c.AllowedChats.Set()}
}

// taken are the settings that a reload takes over.
var taken = map[string]bool{"ALLOWED_USERS": true, "ALLOWED_CHATS": true, "LOG_LEVEL": true}
