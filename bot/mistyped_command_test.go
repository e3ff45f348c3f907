package bot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestP7_MistypedCommandIsAskedAbout types a command with a letter too few, and decides each way.
func TestP7_MistypedCommandIsAskedAbout(t *testing.T) {
	for _, tt := range []struct {
		name, button string
		check        func(t *testing.T, w *chattest.World, key string, r session.Record)
	}{
		{"as ours", "/kill", func(t *testing.T, w *chattest.World, _ string, r session.Record) {
			assert.Contains(t, strings.Join(w.Telegram.Texts(), "\n"), w.Named(i18n.KillConfirm, r.Name))
			assert.Empty(t, w.Lifecycle.Done(), "it asks first")
		}},
		{"to the agent", "Send to the agent", func(t *testing.T, w *chattest.World, key string, r session.Record) {
			assert.Equal(t, []string{"queue " + key + " for " + r.ID.String()}, w.Lifecycle.Done())
		}},
		{"not at all", "Discard", func(t *testing.T, w *chattest.World, key string, _ session.Record) {
			assert.Empty(t, w.Lifecycle.Done())
			assert.Empty(t, w.EntryState(key))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			key := w.MustHear(t, "/kil api")
			assert.Empty(t, w.Lifecycle.Done(), "nothing is typed")
			assert.Equal(t, inbox.Asked, w.EntryState(key))
			m := w.LastSent(t)
			assert.Equal(t, []string{"/kill", "Send to the agent", "Discard"}, chattest.Words(m))
			require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.Key(tt.button)))
			tt.check(t, w, key, r)
		})
	}
}

// TestP7_AgentlessMistypedCommandIsConfirmed types such a command while no session can take it.
func TestP7_AgentlessMistypedCommandIsConfirmed(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state session.State
	}{{"no session", ""}, {"a lost session", session.Lost}} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			if tt.state != "" {
				w.NewCurrentSession(t, "api", tt.state)
			}
			key := w.MustHear(t, "/lst")
			m := w.LastSent(t)
			assert.Equal(t, []string{"/list", "Discard"}, chattest.Words(m))
			require.NoError(t, w.TapShown(t, chattest.Alice, m, "/list"))
			assert.Empty(t, w.EntryState(key))
			assert.Empty(t, w.Lifecycle.Done())
		})
	}
}

func TestAgentCommandNeedsNoConfirmation(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	commands := filepath.Join(w.Dir, "commands")
	require.NoError(t, os.MkdirAll(commands, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(commands, "kil.md"), nil, 0o600))
	var want []string
	for _, text := range []string{"/kil api", "/kil\nall", "/kil\tall", "/model opus", "/stats", "/compact", "/xyz"} {
		want = append(want, "queue "+w.MustHear(t, text)+" for "+r.ID.String())
	}
	assert.Equal(t, want, w.Lifecycle.Done())
	assert.Empty(t, w.Telegram.Texts())
}
