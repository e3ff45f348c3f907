package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	tgbot "github.com/go-telegram/bot"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot"
)

// menus is a Bot API that keeps which calls about lists of commands were made.
type menus struct {
	calls []string
	fails error
}

func (m *menus) call(what string, p any) (bool, error) {
	data, _ := json.Marshal(p)
	if m.fails == nil {
		m.calls = append(m.calls, what+" "+string(data))
	}
	return m.fails == nil, m.fails
}

func (m *menus) SetMyCommands(_ context.Context, p *tgbot.SetMyCommandsParams) (bool, error) {
	return m.call(fmt.Sprint("set ", p.LanguageCode), p.Scope)
}

func (m *menus) DeleteMyCommands(_ context.Context, p *tgbot.DeleteMyCommandsParams) (bool, error) {
	return m.call(fmt.Sprint("delete ", p.LanguageCode), p.Scope)
}

func TestOnlyListsThatAreDifferentCostACall(t *testing.T) {
	dir, api := t.TempDir(), &menus{}
	list := func(text string) []bot.MenuCommand { return []bot.MenuCommand{{Name: "new", Text: text}} }
	wanted := []bot.Menu{{Commands: list("start")}, {Lang: "ru", Commands: list("начать")}}
	publish := func(id int64) (calls []string, err error) {
		t.Helper()
		api.calls = nil
		m := NewMenus(api, dir, func() []bot.Menu { return wanted }, slog.New(slog.DiscardHandler)) // as each start does
		err = m.publish(t.Context(), id)
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

	wanted = append(wanted, bot.Menu{Chat: 7, Commands: list("新建")})
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
