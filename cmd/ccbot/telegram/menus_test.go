package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/menu"
)

// menus is a Bot API that keeps which calls about lists of commands were made.
type menus struct {
	calls   []string
	fails   error
	refuses map[int64]error // by chat
}

func (m *menus) call(what string, p any) (bool, error) {
	data, _ := json.Marshal(p)
	err := m.fails
	if _, ok := p.(*models.BotCommandScopeAllGroupChats); ok {
		data = []byte("groups")
	}
	if one, ok := p.(*models.BotCommandScopeChat); ok {
		err = cmp.Or(err, m.refuses[one.ChatID.(int64)])
	}
	if err == nil {
		m.calls = append(m.calls, what+" "+string(data))
	}
	return err == nil, err
}

func (m *menus) SetMyCommands(_ context.Context, p *tgbot.SetMyCommandsParams) (bool, error) {
	return m.call(fmt.Sprint("set ", p.LanguageCode), p.Scope)
}

func (m *menus) DeleteMyCommands(_ context.Context, p *tgbot.DeleteMyCommandsParams) (bool, error) {
	return m.call(fmt.Sprint("delete ", p.LanguageCode), p.Scope)
}

func TestOnlyChangedListsCostCalls(t *testing.T) {
	dir, api := t.TempDir(), &menus{}
	list := func(text string) []menu.Line { return []menu.Line{{Name: "new", Text: text}} }
	wanted := []menu.List{{Commands: list("start")}, {Lang: "ru", Commands: list("начать")}}
	publish := func(id int64) (calls []string, err error) {
		t.Helper()
		api.calls = nil
		// as each start does
		m := NewMenus(api, dir, func() []menu.List { return wanted }, slog.New(slog.DiscardHandler))
		_, err = m.publish(t.Context(), id)
		return api.calls, err
	}
	published := func(id int64) []string {
		t.Helper()
		calls, err := publish(id)
		require.NoError(t, err)
		return calls
	}
	assert.Equal(t, []string{`set  {}`, `set ru {}`}, published(1))
	assert.Empty(t, published(1), "after a restart, too")

	wanted = append(wanted, menu.List{Chat: 7, Commands: list("新建")})
	assert.Equal(t, []string{`set  {"chat_id":7}`}, published(1))
	wanted[2].Commands = list("начать")
	api.fails = errors.New("no network")
	_, err := publish(1)
	require.ErrorIs(t, err, api.fails)
	api.fails = nil
	assert.Equal(t, []string{`set  {"chat_id":7}`}, published(1), "what failed is tried again")

	wanted = wanted[:1]
	assert.Equal(t, []string{`delete ru {}`, `delete  {"chat_id":7}`}, published(1))
	assert.Len(t, published(2), 1, "another bot has no list")
	require.NoError(t, os.WriteFile(filepath.Join(dir, menuFile), []byte("{"), 0o600))
	assert.Len(t, published(2), 1, "of a damaged file nothing is known")
	assert.Empty(t, published(2))
}

func TestListOfGroupsIsItsOwn(t *testing.T) {
	dir, api := t.TempDir(), &menus{}
	list := []menu.Line{{Name: "new", Text: "start"}}
	wanted := []menu.List{{Commands: list}, {Groups: true, Commands: list}, {Groups: true, Lang: "ru", Commands: list}}
	publish := func() {
		t.Helper()
		m := NewMenus(api, dir, func() []menu.List { return wanted }, slog.New(slog.DiscardHandler))
		_, err := m.publish(t.Context(), 1)
		require.NoError(t, err)
	}
	publish()
	publish()
	wanted = wanted[:1]
	publish()
	assert.Equal(t, []string{"set  {}", "set  groups", "set ru groups", "delete  groups", "delete ru groups"}, api.calls)
}

// One chat that Telegram refuses costs its own list only, and only what may pass is tried again
// soon.
func TestRefusedListStopsNoOther(t *testing.T) {
	list := []menu.Line{{Name: "new", Text: "start"}}
	lists := []menu.List{{Chat: 7, Commands: list}, {Chat: 8, Commands: list}, {Chat: 9, Commands: list}}
	const eight = `set  {"chat_id":8}`
	for _, tc := range []struct {
		name    string
		err     error
		again   time.Duration
		refused bool
	}{
		{"blocked", fmt.Errorf("%w, bot was blocked by the user", tgbot.ErrorForbidden), menuLook, true},
		{"chat not found", fmt.Errorf("%w, chat not found", tgbot.ErrorBadRequest), menuLook, true},
		{"no network", errors.New("no network"), menuRetry, false},
		{"too many", &tgbot.TooManyRequestsError{RetryAfter: 3600}, time.Hour, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api := &menus{refuses: map[int64]error{7: tc.err}}
			m := NewMenus(api, t.TempDir(), func() []menu.List { return lists }, slog.New(slog.DiscardHandler))
			for n := range 2 {
				again, err := m.publish(t.Context(), 1)
				if n == 0 || !tc.refused {
					require.ErrorIs(t, err, tc.err)
				} else {
					require.NoError(t, err, "it is not tried again")
				}
				assert.Equal(t, tc.again, again)
				assert.Equal(t, []string{eight, `set  {"chat_id":9}`}, api.calls)
			}
			api.refuses = nil
			again, err := m.publish(t.Context(), 1)
			require.NoError(t, err)
			assert.Equal(t, menuLook, again)
			if tc.refused {
				assert.Len(t, api.calls, 2)
				lists[0].Commands = append(slices.Clone(list), menu.Line{Name: "list", Text: "all"})
				_, err = m.publish(t.Context(), 1)
				require.NoError(t, err)
				lists[0].Commands = list
			}
			assert.Len(t, api.calls, 3)
		})
	}
}
