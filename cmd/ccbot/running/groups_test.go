package running

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
	"ccbot/internal/session"
)

// TestP9_AllowedGroupIsWrittenAndCounts: at once, next to the groups that the file has, and for a
// start.
func TestP9_AllowedGroupIsWrittenAndCounts(t *testing.T) {
	environ := machine(t)
	c, err := config.LoadForReading(environ)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(c.File, []byte("# mine\nALLOWED_CHATS=-3 # the team\n"), 0o600))
	require.NoError(t, aside(t, environ, func(ctx context.Context, s *system) error {
		s.level, s.Environ = new(slog.LevelVar), environ
		list := allowedGroups{s}
		assert.Empty(t, list.GroupLine(-4))
		for range 2 {
			require.NoError(t, list.AllowGroup(ctx, -4))
		}
		assert.True(t, s.bot.InGroup(-3))
		assert.True(t, s.bot.InGroup(-4))
		assert.False(t, s.bot.InGroup(-5))
		return nil
	}))
	data, err := os.ReadFile(c.File)
	require.NoError(t, err)
	assert.Equal(t, "# mine\nALLOWED_CHATS=-3,-4 # the team\n", string(data))
	info, err := os.Stat(c.File)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
}

// A settings file that is wrong is left as it is, and no group is allowed.
func TestWrongFileRejectsGroup(t *testing.T) {
	environ := machine(t)
	c, err := config.LoadForReading(environ)
	require.NoError(t, err)
	require.NoError(t, aside(t, environ, func(ctx context.Context, s *system) error {
		s.level, s.Environ = new(slog.LevelVar), environ
		require.NoError(t, os.WriteFile(c.File, []byte("KILL_GRACE=soon\n"), 0o600))
		require.Error(t, allowedGroups{s}.AllowGroup(ctx, -4))
		assert.False(t, s.bot.InGroup(-4))
		return nil
	}))
	data, err := os.ReadFile(c.File)
	require.NoError(t, err)
	assert.Equal(t, "KILL_GRACE=soon\n", string(data))
}

// An environment that sets the groups wins over the file, also with an empty list, so a person has
// to change it.
func TestGroupLineHasAllGroups(t *testing.T) {
	for set, want := range map[string]string{"ALLOWED_CHATS=-3,-5": "ALLOWED_CHATS=-3,-5,-4", "ALLOWED_CHATS=": "ALLOWED_CHATS=-4"} {
		environ := append(machine(t), set)
		require.NoError(t, aside(t, environ, func(_ context.Context, s *system) error {
			s.Environ = environ
			assert.Equal(t, want, allowedGroups{s}.GroupLine(-4))
			return nil
		}))
	}
}

// TestP9_GroupThatDoesNotCountFails: no message reports a group as allowed whose updates are
// refused.
func TestP9_GroupThatDoesNotCountFails(t *testing.T) {
	environ := append(machine(t), "ALLOWED_CHATS=")
	require.NoError(t, aside(t, environ, func(ctx context.Context, s *system) error {
		s.level, s.Environ = new(slog.LevelVar), environ
		require.ErrorIs(t, allowedGroups{s}.AllowGroup(ctx, -4), errNotCounted)
		assert.False(t, s.bot.InGroup(-4))
		return nil
	}))
}

// TestP9_RefusalsNameGroupsOfAllowedPeople: strangers are a number, of any kind; the list is
// bounded.
func TestP9_RefusalsNameGroupsOfAllowedPeople(t *testing.T) {
	require.NoError(t, aside(t, machine(t), func(ctx context.Context, s *system) error {
		group := func(id int64) models.Chat { return models.Chat{ID: id, Type: models.ChatTypeSupergroup} }
		authorized := allowedGroups{s}.authorize(ctx)
		_, _ = authorized("message", 13, group(-8), nil)
		_, _ = authorized("callback_query", 13, models.Chat{ID: 13, Type: models.ChatTypePrivate}, nil)
		_, _ = authorized("from the future", 1, models.Chat{ID: -7, Type: models.ChatTypeChannel}, nil)
		for id := range int64(50) {
			_, _ = authorized("message", 1, group(-100-id), nil)
			_, _ = authorized("message", 1, group(-100), nil)
		}
		f := s.health(t.Context())
		assert.Equal(t, map[string]int{"message": 101, "callback_query": 1, "other": 1}, f.Refused)
		assert.Len(t, f.RefusedGroups, mostRefusedGroups)
		assert.NotContains(t, f.RefusedGroups, int64(-8))
		allowedGroups{s}.GroupLeft(-100)
		assert.NotContains(t, s.health(t.Context()).RefusedGroups, int64(-100))
		return nil
	}))
}

// TestP9_AnonymousAdministratorIsNotHeard: /health names the group, and a private chat how to write with
// one's own name, once for ever. Of a group that is not allowed nobody is told.
func TestP9_AnonymousAdministratorIsNotHeard(t *testing.T) {
	environ := append(machine(t), "ALLOWED_CHATS=-4")
	for start := range 2 {
		require.NoError(t, aside(t, environ, func(ctx context.Context, s *system) error {
			require.NoError(t, s.bot.Book.SetCurrent(session.Conversation{ChatID: 1}, uuid.Nil)) // a known private chat
			for _, group := range []int64{-4, -4, -5} {
				heard, err := allowedGroups{s}.authorize(ctx)("message", anonymousAdmin, models.Chat{ID: group, Type: models.ChatTypeSupergroup, Title: "Team"}, nil)
				require.NoError(t, err)
				assert.False(t, heard)
			}
			assert.Equal(t, []int64{-4}, s.health(ctx).AnonymousGroups)
			said := folder(t, filepath.Join(s.Dir, "outbox"))
			assert.Equal(t, 1, strings.Count(said, "Remain anonymous"), "start %d", start+1)
			assert.NotContains(t, said, "-4", "the group stays silent")
			return nil
		}))
	}
}

// TestP9_StrangersPickNoBot: a member of a group who is not allowed changes nothing about which bot
// acts.
func TestP9_StrangersPickNoBot(t *testing.T) {
	require.NoError(t, aside(t, append(machine(t), "ALLOWED_CHATS=-4"), func(ctx context.Context, s *system) error {
		s.bot.Username = "cc_bot"
		group := models.Chat{ID: -4, Type: models.ChatTypeSupergroup}
		says := func(person int64, text string) bool {
			update := fmt.Appendf(nil, `{"update_id":1,"message":{"message_id":%d,"text":%q,"from":{"id":%d},"chat":{"id":-4,"type":"supergroup"}}}`,
				person+1, text, person)
			heard, err := allowedGroups{s}.authorize(ctx)("message", person, group, update)
			require.NoError(t, err)
			return heard
		}
		assert.False(t, says(13, "/default@other_bot"))
		assert.True(t, says(s.AllowedUsers[0], "hello"))
		assert.Zero(t, s.bot.Bots(session.Conversation{ChatID: -4}))
		assert.False(t, says(s.AllowedUsers[0], "/default@other_bot"))
		assert.False(t, says(s.AllowedUsers[0], "hello"))
		return nil
	}))
}
