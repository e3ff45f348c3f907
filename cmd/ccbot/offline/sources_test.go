package offline

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/cmd/ccbot/config"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/loop"
	"ccbot/port"
)

// The sources of a reading verb have no method that could change anything.
func TestP2_SourcesAreReadOnly(t *testing.T) {
	c, seen, table := config.Config{Dir: t.TempDir()}, TmuxState{}, new(process.Table)
	sources, observer := Sources(c, "", nil, table, seen.Panes, nil), Observer(c, seen, table, nil)
	assert.Nil(t, observer.Screens, "no screen is looked at")
	reads := []string{"Server", "Panes", "Pane", "Self", "Moment", "Inspect", "Snapshot", "Liveness", "Read", "List", "Shared", "Waiting", "Wait",
		"Names", "Conversations", "PrintsOnce", "Find", "All", "End", "Own", "Unsaid", "Advance", "Matches", "Trace", "HasInterrupt", "Grew", "LastPrompt", "Of",
		"Sibling", "Reply", "HasOthers", "Follow", "Relaunch", "Argv", "WithModel", "Bypasses", "Watch", "Decide", "Held",
		"Hides", "Holds", "Runs", "Steady", "Switches", "HasMode", "Model",
		"Older", "Newer", "Search", "Days", "FirstID", "Between", "Image", "Words", "Outcome", "HasCommand", "InFolder", // of package history
		"Folder", "Conversation", "Answers", "Prices"}
	fields := func(of reflect.Type) (all []reflect.Type) {
		for _, field := range reflect.VisibleFields(of) {
			all = append(all, field.Type)
		}
		return all
	}
	for _, one := range observer.Agents {
		assert.Nil(t, one.Keeper, "no transcript is repaired")
		assert.Nil(t, one.Delivery, "no text is delivered")
		assert.Nil(t, one.Requests, "no request is answered")
		assert.Nil(t, one.Settings, "no launch is prepared")
	}
	looks := slices.Concat(fields(reflect.TypeOf(*sources)), fields(reflect.TypeOf(observer).Elem()), fields(reflect.TypeOf(observer.Agents.Of(""))), []reflect.Type{reflect.TypeFor[TmuxState]()})
	for _, what := range looks {
		if what.Kind() == reflect.Pointer || what == reflect.TypeFor[view.Screens]() ||
			slices.Contains([]reflect.Type{reflect.TypeFor[agent.Keeper](), reflect.TypeFor[agent.Delivery](), reflect.TypeFor[agent.Requests](), reflect.TypeFor[agent.Settings]()}, what) {
			continue // the log, and what is nil
		}
		for i := range what.NumMethod() {
			assert.Contains(t, reads, what.Method(i).Name, what)
		}
	}
	var all any = seen
	_, windows := all.(lifecycle.Windows)
	_, keys := all.(typing.Keyboard)
	assert.False(t, windows || keys)
}

// A check that outlives its bot does not count as a person at a terminal.
func TestP9_ProgramBelowCheckIsRefused(t *testing.T) {
	dir := t.TempDir()
	table, err := process.NewTable()
	require.NoError(t, err)
	store, err := session.OpenReadOnly(filepath.Join(dir, "sessions"), time.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	sources := Sources(config.Config{Dir: dir, ClaudeDir: dir}, "", store, table, TmuxState{}.Panes, slog.New(slog.DiscardHandler))
	require.NoError(t, RefuseAgents(t.Context(), dir, sources))

	l := loop.Loop{Version: loop.Version, Processes: []process.Identity{table.Self()},
		Loop: port.Loop{ID: uuid.New(), Session: uuid.New(), State: port.LoopRunning, Step: port.LoopCheck}}
	data, err := json.Marshal(l)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(Loops(dir), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(Loops(dir), l.ID.String()+".json"), data, 0o600))
	assert.ErrorContains(t, RefuseAgents(t.Context(), dir, sources), "a check of a loop may not do this")
}
