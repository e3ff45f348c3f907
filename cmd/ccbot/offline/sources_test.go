package offline

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/cmd/ccbot/config"
	"ccbot/internal/process"
	"ccbot/lifecycle"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
)

// The sources of a reading verb have no method that could change anything.
func TestP2_SourcesAreReadOnly(t *testing.T) {
	c, seen, table := config.Config{Dir: t.TempDir()}, TmuxState{}, new(process.Table)
	sources, observer := Sources(c, "", nil, table, seen.Panes, nil), Observer(c, seen, table, nil)
	assert.Nil(t, observer.Screens, "no screen is looked at")
	reads := []string{"Server", "Panes", "Pane", "Self", "Moment", "Inspect", "Snapshot", "Liveness", "Read", "List", "Shared", "Waiting", "Wait"}
	fields := func(of any) (all []reflect.Type) {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(of)) {
			all = append(all, field.Type)
		}
		return all
	}
	for _, what := range append(append(fields(*sources), fields(*observer)...), reflect.TypeFor[TmuxState]()) {
		if what.Kind() == reflect.Pointer || what == reflect.TypeFor[view.Screens]() {
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
