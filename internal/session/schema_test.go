package session

import (
	"flag"
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

//go:generate go test -count=1 -run ^TestSchemaDocument$ . -args -write

var write = flag.Bool("write", false, "write the tables of the document anew")

// meaningless matches a row without its last cell, and an item with nothing behind its colon.
var meaningless = regexp.MustCompile(`\|  \|$|^(- |\*\*).*: *$`)

const schemaPath = "../../docs/session-schema.md"

// TestSchemaDocument compares the tables of the document with the program: every type that a record
// is made of, the states and the reasons, both ways and in order. With -write, as go generate gives
// it, it writes them again. Their last column, the meaning, is written by hand and stays; none is
// empty.
func TestSchemaDocument(t *testing.T) {
	data, err := os.ReadFile(schemaPath)
	require.NoError(t, err)
	text := string(data)
	text = redrawn(t, text, "| State |", statesOf())
	text = redrawn(t, text, "| Reason |", reasonsOf(t))
	text = relisted(t, text, "\n## Fields\n", fieldsOf(t, reflect.TypeFor[Record]()))
	if *write {
		require.NoError(t, os.WriteFile(schemaPath, []byte(text), 0o644)) //nolint:gosec // for everybody to read
	} else {
		has := strings.Split(string(data), "\n")
		for i, line := range strings.Split(text, "\n") {
			if i >= len(has) || line != has[i] {
				t.Fatalf("%s:%d should be %q: `go generate ./internal/session` writes the tables anew", schemaPath, i+1, line)
			}
		}
	}
	for i, line := range strings.Split(text, "\n") {
		if meaningless.MatchString(line) {
			t.Errorf("%s:%d has no meaning, write it there: %s", schemaPath, i+1, line)
		}
	}
	assert.True(t, strings.Contains(text, fmt.Sprintf("of this schema; now %d\n", Version)), "%s names version %d of the schema", schemaPath, Version)
}

// redrawn is the text with other rows in the table that begins with head. A row keeps its meaning.
func redrawn(t *testing.T, text, head string, rows [][]string) string {
	t.Helper()
	before, table, found := strings.Cut(text, "\n"+head)
	require.True(t, found, "%s has no table %s", schemaPath, head)
	table, after, _ := strings.Cut(table, "\n\n")
	lines := strings.Split(strings.TrimSpace(table), "\n")
	meanings, key := make(map[string]string), ""
	for _, line := range lines[2:] {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		key = keyOf(cells[0], key)
		meanings[key] = cells[len(cells)-1]
	}
	lines, key = lines[:2], ""
	for _, cells := range rows {
		key = keyOf(cells[0], key)
		lines = append(lines, fmt.Sprintf("| %s | %s |", strings.Join(cells, " | "), meanings[key]))
	}
	return before + "\n" + head + " " + strings.Join(lines, "\n") + strings.TrimRight("\n\n"+after, "\n") + "\n"
}

// relisted is the text with other items in the lists below a heading: a bold line for each type,
// followed by an item for each field. An item keeps its meaning.
func relisted(t *testing.T, text, heading string, rows [][]string) string {
	t.Helper()
	before, section, found := strings.Cut(text, heading)
	require.True(t, found, "%s has no section %s", schemaPath, heading)
	intro, list, found := strings.Cut(section, "\n\n**")
	require.True(t, found)
	meanings, key := make(map[string]string), ""
	for line := range strings.Lines("**" + list) {
		head, meaning, found := strings.Cut(strings.TrimSpace(line), ": ")
		if name, _, _ := strings.Cut(strings.TrimPrefix(head, "- "), " "); found {
			key = keyOf(name, key)
			meanings[key] = meaning
		}
		require.True(t, found || head == "", "a meaning has one line, and the rest of it would be lost: %s", head)
	}
	var b strings.Builder
	b.WriteString(before + heading + intro + "\n")
	key = ""
	for _, cells := range rows {
		key = keyOf(cells[0], key)
		if cells[1] == "" {
			fmt.Fprintf(&b, "\n%s: %s\n\n", cells[0], meanings[key])
		} else {
			fmt.Fprintf(&b, "- %s %s: %s\n", cells[0], cells[1], meanings[key])
		}
	}
	return b.String()
}

// keyOf returns the key of a row's meaning: the type, which a bold cell names, and the field. A
// type that moves to another package keeps its meanings.
func keyOf(cell, before string) string {
	if strings.HasPrefix(cell, "**") {
		return cell[strings.LastIndex(cell, ".")+1:] + " "
	}
	of, _, _ := strings.Cut(before, " ")
	return of + " " + cell
}

// statesOf are the rows of the states.
func statesOf() (rows [][]string) {
	yes := map[bool]string{true: "yes", false: "no"}
	for _, s := range append([]State{""}, States()...) {
		var next []string
		for _, n := range transitions[s] {
			next = append(next, "`"+string(n)+"`")
		}
		name := "`" + string(s) + "`"
		if s == "" {
			name = "(none)"
		}
		rows = append(rows, []string{name, strings.Join(next, ", "), yes[s.Live()], yes[s.HasEnded()]})
	}
	return rows
}

// reasonsOf are the rows of the reasons. They come from the source: reflection does not see
// constants.
func reasonsOf(t *testing.T) (rows [][]string) {
	t.Helper()
	source, err := parser.ParseFile(token.NewFileSet(), "record.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(source, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Closed") {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			rows = append(rows, []string{"`" + value + "`"})
		}
		return true
	})
	require.Contains(t, rows, []string{"`" + ClosedStale + "`"})
	return rows
}

// fieldsOf returns the rows of a type, followed by the rows of all its field types.
func fieldsOf(t *testing.T, g reflect.Type) (rows [][]string) {
	t.Helper()
	types := []reflect.Type{g}
	for i := 0; i < len(types); i++ { // grows in the loop
		rows = append(rows, []string{"**`" + types[i].String() + "`**", ""})
		for _, f := range reflect.VisibleFields(types[i]) {
			if !f.IsExported() || f.Anonymous { // a part of the record
				continue
			}
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			require.NotEmpty(t, name, "%s.%s", types[i], f.Name)
			kind := kindOf(t, f.Type)
			if strings.Contains(options, "omit") {
				kind += "?"
			}
			rows = append(rows, []string{"`" + name + "`", kind})
			if part := structOf(f.Type); part != nil && !slices.Contains(types, part) {
				types = append(types, part)
			}
		}
	}
	return rows
}

// structOf is the struct that a field holds, itself or in a list; nil: none.
func structOf(g reflect.Type) reflect.Type {
	for g.Kind() == reflect.Pointer || g.Kind() == reflect.Slice {
		g = g.Elem()
	}
	if g.Kind() != reflect.Struct || g == reflect.TypeFor[time.Time]() {
		return nil
	}
	return g
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
