package wire

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/wire/wiretest"
	"ccbot/port"
)

var write = flag.Bool("write", false, "write the envelopes again")

// TestGoldenEnvelopes compares the envelopes of each method and each kind of news with the files of
// this version, and reads them: each value must be the one that was sent. go generate writes them
// again; a change of a file is a change of the contract between two machines.
func TestGoldenEnvelopes(t *testing.T) {
	all, c := calls(t), wiretest.Read(t)
	for _, g := range c.Groups {
		for _, name := range g.Interfaces {
			var got []Envelope
			for _, m := range c.Interfaces[name] {
				kind := name + "." + m.Name
				got = append(got, envelopes(t, kind, m, all[kind])...)
			}
			if len(got) > 0 {
				compare(t, name, got)
			}
		}
	}
	var got []Envelope
	for _, name := range c.News {
		got = append(got, newsEnvelope(t, name))
	}
	compare(t, newsKind, got)
}

// compare compares envelopes with a file of this version.
func compare(t *testing.T, name string, got []Envelope) {
	t.Helper()
	var b bytes.Buffer
	for _, e := range got {
		data, err := Encode(e)
		require.NoError(t, err)
		require.NoError(t, json.Indent(&b, data, "", " "))
		b.WriteByte('\n')
	}
	file := filepath.Join("testdata", "v"+strconv.Itoa(Version), name+".json")
	if *write {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755)) //nolint:gosec // for everybody to read
		require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))   //nolint:gosec // for everybody to read
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	has := strings.Split(string(want), "\n")
	for i, line := range strings.Split(b.String(), "\n") {
		if i >= len(has) || has[i] != line {
			t.Errorf("%s:%d is now %s: if the contract shall change, `go generate ./fleet/...` writes it again", file, i+1, strings.TrimSpace(line))
			return
		}
	}
	assert.True(t, string(want) == b.String(), "%s ends earlier now: `go generate ./fleet/...` writes it again", file)
}

// envelopes returns a call and its answer with a value in each field.
func envelopes(t *testing.T, kind string, m wiretest.Method, of reflect.Type) []Envelope {
	t.Helper()
	in, first := make(args), 0
	if m.Context {
		first = 1
	}
	for i, name := range m.Names {
		in[name] = survives(t, kind+" "+name, wiretest.Sample(name, of.In(first+i)))
	}
	var results []any
	for i := range m.Results {
		results = append(results, survives(t, kind+" result", wiretest.Sample("r"+strconv.Itoa(i), of.Out(i))))
	}
	body, err := json.Marshal(in)
	require.NoError(t, err)
	e := Envelope{V: Version, Kind: kind, From: "chat", To: "b", Session: sessionIn(m, in), ID: "1", Body: body}
	return []Envelope{e, e.answer(results, nil)}
}

func newsEnvelope(t *testing.T, name string) Envelope {
	t.Helper()
	n, err := newsKinds[name]([]byte("null"))
	require.NoError(t, err)
	about, err := json.Marshal(survives(t, name, wiretest.Sample(name, reflect.TypeOf(n))))
	require.NoError(t, err)
	s := survives(t, "session", wiretest.Sample("session", reflect.TypeFor[port.Session]())).(port.Session) //nolint:forcetypeassert // as sampled
	body, err := json.Marshal(reported[json.RawMessage]{Session: s, Of: name, News: about})
	require.NoError(t, err)
	return Envelope{V: Version, Kind: newsKind, From: "b", To: "chat", Session: s.ID, ID: "1", Body: body}
}

// sessionIn returns the session of a call.
func sessionIn(m wiretest.Method, in args) (id uuid.UUID) {
	name, field, _ := strings.Cut(m.Session, ".")
	switch v := reflect.ValueOf(in[name]); {
	case name == "":
	case field != "":
		id, _ = v.FieldByName(field).Interface().(uuid.UUID)
	default:
		id, _ = v.Interface().(uuid.UUID)
	}
	return id
}

// survives requires that a value is the same after it has crossed, and returns it.
func survives(t *testing.T, what string, v reflect.Value) any {
	t.Helper()
	data, err := json.Marshal(v.Interface())
	require.NoError(t, err, what)
	read := reflect.New(v.Type())
	require.NoError(t, json.Unmarshal(data, read.Interface()), what)
	assert.Equal(t, v.Interface(), read.Elem().Interface(), what)
	return v.Interface()
}
