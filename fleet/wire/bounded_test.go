package wire

import (
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// textField is a field of the port's types with a text, or a list of texts.
type textField struct {
	of   reflect.Type
	name string
	text reflect.Type
}

// writesItself reports whether a type has its own form in JSON, which is text.
func writesItself(of reflect.Type) bool {
	return of == reflect.TypeFor[json.RawMessage]() || of.Implements(reflect.TypeFor[json.Marshaler]()) ||
		of.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// textsOfMachines returns the texts in what a machine answers and reports.
func textsOfMachines(t *testing.T) (all []textField) {
	t.Helper()
	seen := make(map[reflect.Type]bool)
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		if seen[of] || writesItself(of) {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(of.Elem())
		case reflect.Struct:
			for f := range of.Fields() {
				text := f.Type
				for text.Kind() == reflect.Slice || text.Kind() == reflect.Pointer {
					text = text.Elem()
				}
				if text.Kind() == reflect.String {
					all = append(all, textField{of, f.Name, text})
				}
				look(f.Type)
			}
		}
	}
	look(reflect.TypeFor[port.Session]())
	for _, call := range calls(t) {
		for result := range call.Outs() {
			look(result)
		}
	}
	for kind, read := range newsKinds {
		n, err := read([]byte("null"))
		assert.NoError(t, err, kind)
		look(reflect.TypeOf(n))
	}
	return all
}

// whole are the texts that a person reads in whole: an envelope alone bounds them.
var whole = map[reflect.Type][]string{
	reflect.TypeFor[folders.Patch]():       {"Text"},
	reflect.TypeFor[news.DraftCleared]():   {"Draft"},
	reflect.TypeFor[news.Ended]():          {"Screen"},
	reflect.TypeFor[news.Failed]():         {"Screen"},
	reflect.TypeFor[news.FileOffered]():    {"Caption"},
	reflect.TypeFor[news.TakenBack]():      {"Work"},
	reflect.TypeFor[news.Terminal]():       {"Screen"},
	reflect.TypeFor[port.Change]():         {"Why"},
	reflect.TypeFor[port.CheckResult]():    {"Tail"},
	reflect.TypeFor[port.Dialog]():         {"Lines", "Options"},
	reflect.TypeFor[port.Failure]():        {"Detail"},
	reflect.TypeFor[port.Interruption]():   {"Step"},
	reflect.TypeFor[port.Loop]():           {"Task", "Check", "Detail"},
	reflect.TypeFor[port.LoopPhases]():     {"Plan", "Implement", "Fix", "Done"},
	reflect.TypeFor[port.LoopRequest]():    {"Task", "Check"},
	reflect.TypeFor[port.LoopTemplate]():   {"Text", "Fault"},
	reflect.TypeFor[port.LoopWorktree]():   {"Stays"},
	reflect.TypeFor[port.LoopTerms]():      {"StopWord"},
	reflect.TypeFor[port.Output]():         {"Lines"},
	reflect.TypeFor[port.Schedule]():       {"When", "Text"},
	reflect.TypeFor[port.ScheduleReport](): {"Detail"},
	reflect.TypeFor[port.Screen]():         {"Text"},
	reflect.TypeFor[port.Status]():         {"LastQuestion"},
	reflect.TypeFor[port.Task]():           {"Text"},
	reflect.TypeFor[port.Work]():           {"Flags"},
	reflect.TypeFor[talk.Activity]():       {"What"},
	reflect.TypeFor[talk.Block]():          {"Text", "Before"},
	reflect.TypeFor[talk.Detail]():         {"Name", "Text"},
	reflect.TypeFor[talk.Entry]():          {"Texts"},
	reflect.TypeFor[talk.Grant]():          {"Text"},
	reflect.TypeFor[talk.Hit]():            {"Before", "Word", "After"},
	reflect.TypeFor[talk.Item]():           {"Text", "Bash"},
	reflect.TypeFor[talk.Option]():         {"Label", "Description"},
	reflect.TypeFor[talk.Page]():           {"Header", "Text"},
	reflect.TypeFor[talk.Prompt]():         {"Text"},
	reflect.TypeFor[talk.RequestOutcome](): {"Denial", "Text"},
	reflect.TypeFor[talk.Tool]():           {"Step"},
}

// TestP9_EachTextOfAMachineHasABound: another machine may send a text of any length, and the chat
// would keep it. A new text is a name, a path, one that is cut, or one that a person reads.
func TestP9_EachTextOfAMachineHasABound(t *testing.T) {
	used := make(map[string]bool)
	for _, f := range textsOfMachines(t) {
		field := f.of.String() + "." + f.name
		used[field] = true
		tables := 0
		for _, table := range []map[reflect.Type][]string{names, paths, foreign, whole} {
			if slices.Contains(table[f.of], f.name) {
				tables++
			}
		}
		if slices.Contains(whole[f.of], f.name) {
			assert.Equal(t, 1, tables, "%s has a bound: take it out of whole", field)
			continue
		}
		assert.NotZero(t, tables+len(f.text.PkgPath()), "%s is a text without a bound: add it to names, paths or foreign in bounds.go, or to whole in this file if a person reads all of it", field)
		assert.Error(t, boundOf(f), "%s: a text of a megabyte passes", field)
	}
	for of, fields := range whole {
		for _, name := range fields {
			assert.True(t, used[of.String()+"."+name], "%s.%s comes from no machine: take it out of whole", of, name)
		}
	}
	type unbound struct{ Words string }
	assert.NoError(t, boundOf(textField{reflect.TypeFor[unbound](), "Words", reflect.TypeFor[string]()}), "the rule sees a text without a bound")
}

// boundOf sends a text of a megabyte in a field, and returns why it is refused, or that it is cut.
func boundOf(f textField) error {
	const huge = 1 << 20
	v := reflect.New(f.of)
	field := v.Elem().FieldByName(f.name)
	text := reflect.New(f.text).Elem()
	text.SetString(strings.Repeat("x", huge))
	switch field.Kind() {
	case reflect.Slice:
		field.Set(reflect.Append(field, text))
	case reflect.String:
		field.Set(text)
	}
	if err := checkBounds(v); err != nil {
		return err
	}
	if field.Kind() == reflect.String && field.Len() < huge {
		return errors.New("cut")
	}
	return nil
}
