package wire

import (
	"context"
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/machine"
	"ccbot/fleet/wire/wiretest"
)

// speechless are the methods without an error, each with the value that says that nothing is known.
var speechless = map[string]string{
	"Views.Get": "port.StateUnknown",
}

// calls returns the methods of a machine by kind.
func calls(t *testing.T) map[string]reflect.Type {
	t.Helper()
	all, of := make(map[string]reflect.Type), reflect.TypeFor[machine.Machine]()
	c := wiretest.Read(t)
	for _, g := range c.Groups {
		field, _ := of.FieldByName(g.Field)
		for _, name := range g.Interfaces {
			for _, m := range c.Interfaces[name] {
				method, ok := field.Type.MethodByName(m.Name)
				assert.True(t, ok, m.Name)
				all[name+"."+m.Name] = method.Type
			}
		}
	}
	return all
}

// TestEachValueCrosses fails if a method has a value that JSON loses: a function, a
// channel, an interface, or a struct with fields of its own package.
func TestEachValueCrosses(t *testing.T) {
	for kind, f := range calls(t) {
		var faults []string
		for of := range f.Ins() {
			if of != reflect.TypeFor[context.Context]() {
				faults = append(faults, unplain(of)...)
			}
		}
		for of := range f.Outs() {
			if of != reflect.TypeFor[error]() {
				faults = append(faults, unplain(of)...)
			}
		}
		assert.Empty(t, faults, kind)
	}
}

// TestP6_SilentMethodsAreListed fails if another method cannot report that its machine does not
// answer.
func TestP6_SilentMethodsAreListed(t *testing.T) {
	var silent []string
	for kind, f := range calls(t) {
		if n := f.NumOut(); n == 0 || f.Out(n-1) != reflect.TypeFor[error]() {
			silent = append(silent, kind)
		}
	}
	slices.Sort(silent)
	assert.Equal(t, slices.Sorted(maps.Keys(speechless)), silent)
}

// aboutMachine are the calls that name no session: they are about their machine, or about something
// that is unique there.
var aboutMachine = []string{
	"Agents.Abilities",
	"Agents.Installed",
	"Bodies.Close",
	"Bodies.ReadPart",
	"Bodies.WritePart",
	"Checkouts.Checkouts",
	"Files.Read",
	"Folders.Children",
	"Folders.Conversations",
	"LastQuestions.LastQuestions",
	"Lookups.Branch",
	"Lookups.IsMissing",
	"Loops.All",
	"Notices.MarkReported",
	"Notices.NewOrphans",
	"Pictures.Image",
	"Pictures.Words",
	"Places.Bounds",
	"Places.Make",
	"Places.Resolve",
	"Received.Discard",
	"Received.Finish",
	"Schedules.List",
	"Screens.Inspect",
	"Searches.Search",
	"Spending.Limits",
	"Spending.LimitsChange",
	"Spending.Spent",
	"Starter.Adopt",
	"Starter.Start",
	"Transcripts.Between",
	"Transcripts.End",
	"Views.List",
	"Windows.Ignore",
	"Windows.Orphans",
	"WorktreeMaker.Add",
	"WorktreeMaker.Done",
	"Worktrees.Find",
	"Worktrees.Remove",
}

// TestEachCallHasAnAddress fails if another method has no session. Each envelope names its machine.
func TestEachCallHasAnAddress(t *testing.T) {
	var without []string
	for name, methods := range wiretest.Read(t).Interfaces {
		for _, m := range methods {
			if m.Session == "" {
				without = append(without, name+"."+m.Name)
			}
		}
	}
	slices.Sort(without)
	assert.Equal(t, aboutMachine, without)
}

// unplain returns the types in a type that JSON does not carry.
func unplain(of reflect.Type) (faults []string) {
	switch of {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[json.RawMessage]():
		return nil
	}
	if of.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return nil
	}
	switch of.Kind() {
	case reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return []string{of.String()}
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return unplain(of.Elem())
	case reflect.Map:
		return append(unplain(of.Key()), unplain(of.Elem())...)
	case reflect.Struct:
		for f := range of.Fields() {
			if !f.IsExported() {
				faults = append(faults, of.String()+"."+f.Name)
			}
			faults = append(faults, unplain(f.Type)...)
		}
	}
	return faults
}
