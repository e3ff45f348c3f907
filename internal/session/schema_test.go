package session

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const schemaPath = "../../docs/session-schema.md"

// rowsOf are the rows of the first table below a heading of the document,
// without its head.
func rowsOf(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	data, err := os.ReadFile(schemaPath)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(data), "\n"+heading+"\n")
	require.True(t, found, "%s has no %q", schemaPath, heading)
	inTable := false
	for line := range strings.Lines(rest) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "|"):
			inTable = true
			var cells []string
			for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
			rows = append(rows, cells)
		case inTable, strings.HasPrefix(line, "#"):
			require.Greater(t, len(rows), 2, "%q has no table", heading)
			return rows[2:]
		}
	}
	require.Greater(t, len(rows), 2, "%q has no table", heading)
	return rows[2:]
}

// field is a row of a type's table, but for its meaning.
type field struct{ name, kind, omitted string }

// typesOf gives all struct types that a record is made of, by their names.
func typesOf(t *testing.T, from reflect.Type, found map[string]reflect.Type) {
	t.Helper()
	switch from.Kind() {
	case reflect.Pointer, reflect.Slice:
		typesOf(t, from.Elem(), found)
	case reflect.Map, reflect.Interface:
		t.Fatalf("%s has no place in the document: teach it", from)
	case reflect.Struct:
		if from == reflect.TypeFor[time.Time]() || found[from.String()] != nil {
			return
		}
		found[from.String()] = from
		for f := range from.Fields() {
			if f.IsExported() {
				typesOf(t, f.Type, found)
			}
		}
	}
}

// kindOf is a Go type in the words of the document.
func kindOf(t *testing.T, g reflect.Type) string {
	t.Helper()
	switch g {
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[uuid.UUID]():
		return "uuid"
	}
	switch g.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Struct:
		return "`" + g.String() + "`"
	case reflect.Pointer:
		return kindOf(t, g.Elem())
	case reflect.Slice:
		return "list of " + kindOf(t, g.Elem())
	}
	t.Fatalf("%s has no word in the document: teach it", g)
	return ""
}

// fieldsOf are the rows that a type's table must have.
func fieldsOf(t *testing.T, g reflect.Type) (want []field) {
	t.Helper()
	for f := range g.Fields() {
		if !f.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		require.NotEmpty(t, name, "%s.%s", g, f.Name)
		row := field{name: "`" + name + "`", kind: kindOf(t, f.Type), omitted: "no"}
		if strings.Contains(options, "omit") {
			row.omitted = "yes"
		}
		want = append(want, row)
	}
	return want
}

// TestSchemaDocumentMatchesTheTypes compares every type that a record is made of
// with its table, both ways and in order: names, types and whether empty fields
// are left out.
func TestSchemaDocumentMatchesTheTypes(t *testing.T) {
	types := make(map[string]reflect.Type)
	typesOf(t, reflect.TypeFor[Record](), types)
	require.Greater(t, len(types), 12, "the walk must reach the nested types")
	for name, g := range types {
		t.Run(name, func(t *testing.T) {
			var got []field
			for _, row := range rowsOf(t, "### `"+name+"`") {
				require.Len(t, row, 4, "%v", row)
				assert.NotEmpty(t, row[3], "%s means nothing", row[0])
				got = append(got, field{name: row[0], kind: row[1], omitted: row[2]})
			}
			assert.Equal(t, fieldsOf(t, g), got)
		})
	}

	data, err := os.ReadFile(schemaPath)
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?m)^### `(.*)`").FindAllStringSubmatch(string(data), -1) {
		assert.Contains(t, types, m[1], "no record has it")
	}
	assert.Contains(t, string(data), fmt.Sprintf("of this schema; now %d |", Version))
}

func TestSchemaDocumentHasTheStates(t *testing.T) {
	var want, got [][]string
	for _, s := range append([]State{""}, States()...) {
		var next []string
		for _, n := range transitions[s] {
			next = append(next, "`"+string(n)+"`")
		}
		name := "`" + string(s) + "`"
		if s == "" {
			name = "(none)"
		}
		yes := map[bool]string{true: "yes", false: "no"}
		want = append(want, []string{name, strings.Join(next, ", "), yes[s.Live()], yes[s.Over()]})
	}
	for _, row := range rowsOf(t, "## States") {
		require.Len(t, row, 5, "%v", row)
		assert.NotEmpty(t, row[4])
		got = append(got, row[:4])
	}
	assert.Equal(t, want, got)
}

// TestSchemaDocumentHasTheReasons reads the constants from the source: reflection
// does not see them.
func TestSchemaDocumentHasTheReasons(t *testing.T) {
	source, err := parser.ParseFile(token.NewFileSet(), "record.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var want, got []string
	ast.Inspect(source, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "Closed") {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			want = append(want, "`"+value+"`")
		}
		return true
	})
	require.True(t, slices.Contains(want, "`"+ClosedTransferred+"`"))
	for _, row := range rowsOf(t, "`closed_reason` is one of these:") {
		got = append(got, row[0])
	}
	assert.Equal(t, want, got)
}
