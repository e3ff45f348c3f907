package telegram

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/menu"
	"ccbot/internal/disk/disktest"
)

// faultyMenus publishes two lists.
type faultyMenus struct {
	dir string
	api *menus
	m   *Menus
}

func (f *faultyMenus) menus() *Menus {
	line := []menu.Line{{Name: "new", Text: "start"}}
	return NewMenus(f.api, f.dir, func() []menu.List { return []menu.List{{Commands: line}, {Chat: 7, Commands: line}} }, slog.New(slog.DiscardHandler))
}

func (f *faultyMenus) Begin(t *testing.T) string {
	f.dir, f.api = t.TempDir(), &menus{}
	f.m = f.menus()
	return f.dir
}

func (f *faultyMenus) Act(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.m.Run(ctx, 1) }()
	t.Cleanup(func() { end(); assert.NoError(t, <-done) })
}

func (f *faultyMenus) Check(t *testing.T) {
	assert.Len(t, f.api.calls, 2, "a list is given once")
	assert.FileExists(t, filepath.Join(f.dir, menuFile))
	_, err := f.menus().publish(t.Context(), 1)
	require.NoError(t, err)
	assert.Len(t, f.api.calls, 2, "and the next start knows that")
	assert.NoDirExists(t, filepath.Join(f.dir, "quarantine"))
}

func TestP8_MenusOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return &faultyMenus{} })
}
