package router

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/machine"
	"ccbot/fleet/wire"
	"ccbot/fleet/wire/wiretest"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

const tower = "h7k2m9qa"

// on returns a machine whose calls are answered by a function.
func on(answer func(e wire.Envelope) ([]any, error)) *machine.Machine {
	c := &wire.Client{From: "chat", To: "there", Context: context.Background(), Transport: func(_ context.Context, e wire.Envelope) (wire.Envelope, error) {
		results, err := answer(e)
		if err != nil {
			return wire.Envelope{}, err
		}
		body, err := json.Marshal(results)
		return wire.Envelope{V: wire.Version, Kind: e.Kind, ID: e.ID, Body: body}, err
	}}
	return c.Machine()
}

// TestEachCallReachesItsMachine makes each call that is about one machine, with values of another
// machine than the chat's own. That machine gets its own values, and its results name it.
func TestEachCallReachesItsMachine(t *testing.T) {
	c := wiretest.Read(t)
	session := wiretest.Sample("id", reflect.TypeFor[uuid.UUID]()).Interface().(uuid.UUID) //nolint:forcetypeassert // as asked
	for _, g := range c.Groups {
		for _, name := range g.Interfaces {
			for _, m := range c.Interfaces[name] {
				if strings.Contains(several, " "+name+"."+m.Name+" ") {
					continue
				}
				t.Run(name+"."+m.Name, func(t *testing.T) {
					var got map[string]json.RawMessage
					var of reflect.Type
					r := New("attic", on(func(e wire.Envelope) ([]any, error) {
						switch e.Kind {
						case "Views.Get":
							return []any{port.Session{}, false}, nil
						case "Views.List":
							return []any{[]port.Session{}}, nil
						}
						t.Errorf("%s is made on the chat's own machine", e.Kind)
						return nil, refusal.ErrUnreachable
					}))
					require.NoError(t, r.Add(tower, "tower", on(func(e wire.Envelope) (results []any, _ error) {
						switch e.Kind {
						case "Views.List":
							return []any{[]port.Session{{ID: session}}}, nil
						case "Places.Bounds":
							return []any{folders.Bounds{}}, nil
						}
						require.NoError(t, json.Unmarshal(e.Body, &got))
						for i := range m.Results {
							results = append(results, wiretest.Sample("result", of.Out(i)).Interface())
						}
						return results, nil
					})))
					_, err := r.Machine().Records.List()
					require.NoError(t, err)
					do := reflect.ValueOf(r.Machine()).Elem().FieldByName(g.Field).MethodByName(m.Name)
					of = do.Type()
					in, want := []reflect.Value{reflect.ValueOf(t.Context())}, make(map[string]string)
					for i, arg := range m.Names {
						v := wiretest.Sample(arg, of.In(i+1))
						if arg == "session" || arg == "id" {
							if v.Type() == reflect.TypeFor[uuid.UUID]() {
								v.Set(reflect.ValueOf(session))
							}
						}
						if v.Kind() == reflect.Struct && v.FieldByName("Session").IsValid() && v.FieldByName("Session").Type() == reflect.TypeFor[uuid.UUID]() {
							v.FieldByName("Session").Set(reflect.ValueOf(session))
						}
						data, err := json.Marshal(v.Interface())
						require.NoError(t, err)
						want[arg] = string(data)
						in = append(in, addressed(arg, v))
					}
					out := do.Call(in)
					assert.True(t, out[len(out)-1].IsNil(), "%v", out[len(out)-1])
					for arg, data := range want {
						assert.JSONEq(t, data, string(got[arg]), arg)
					}
					for i := range m.Results {
						result := wiretest.Sample("result", of.Out(i))
						if name+"."+m.Name == "WorktreeMaker.Add" {
							result.SetString(tower + ":result")
						} else {
							result = mark(addressed("", result))
						}
						assert.Equal(t, result.Interface(), out[i].Interface())
					}
				})
			}
		}
	}
}

// several are the calls that are not made on one machine.
const several = " LastQuestions.LastQuestions Loops.All Notices.MarkReported Notices.NewOrphans Places.Bounds Places.Resolve Schedules.List" +
	" Screens.Inspect Spending.Limits Spending.LimitsChange Spending.Spent Views.Get Views.List Windows.Orphans "

// addressed returns an argument with the machine in its addresses.
func addressed(arg string, v reflect.Value) reflect.Value {
	add := rewriter{text: func(text string) string { return tower + ":" + text }}
	return add.value(v, v.Kind() == reflect.String && (arg == "dir" || arg == "transcript"))
}

// mark sets the machine of a session or a window in a result.
func mark(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	switch one := to.Addr().Interface().(type) {
	case *port.Session:
		one.Machine, one.Name = tower, "tower:"+one.Name
	case *port.Restored:
		one.Session.Machine, one.Session.Name = tower, "tower:"+one.Session.Name
	}
	return to
}

// plain are the fields with words for paths that no call reads: they are shown to people, or stay
// with a value that names its session.
var plain = []string{
	"folders.ChangedFile.From", "folders.ChangedFile.Path", "port.Loop.Repo", "port.LoopSource.Repo", "talk.Request.Cwd", "talk.Request.Transcript",
}

// TestEachAddressIsListed fails if a value of the port has another field that sounds like a folder
// or a file.
func TestEachAddressIsListed(t *testing.T) {
	words := []string{"Cwd", "Dir", "Dirs", "Folder", "From", "Home", "Main", "Of", "Path", "Repo", "Root", "Roots", "Transcript"}
	of, found := make(map[reflect.Type]bool), make(map[string]bool)
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		if of[t] {
			return
		}
		of[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(t.Elem())
		case reflect.Struct:
			for f := range t.Fields() {
				text := f.Type == reflect.TypeFor[string]() || f.Type == reflect.TypeFor[[]string]()
				if text && contains(words, f.Name) && !contains(fields[t], f.Name) {
					found[t.String()+"."+f.Name] = true
				}
				walk(f.Type)
			}
		}
	}
	m := reflect.TypeFor[machine.Machine]()
	for f := range m.Fields() {
		if f.Type.Kind() != reflect.Interface {
			continue
		}
		for i := range f.Type.NumMethod() {
			method := f.Type.Method(i).Type
			for in := range method.Ins() {
				walk(in)
			}
			for out := range method.Outs() {
				walk(out)
			}
		}
	}
	for _, name := range plain {
		assert.True(t, found[name], name)
		delete(found, name)
	}
	assert.Empty(t, found)
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}
