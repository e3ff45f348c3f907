package loop

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// They match the name of a type, and a field in front of a colon.
var (
	typeInDocument  = regexp.MustCompile("^\\*\\*`(\\w+)`\\*\\*: ")
	fieldInDocument = regexp.MustCompile("`(\\w+)`")
)

// TestLoopFilesAreDocumented: the page has each field of each type that a loop's file has, and no other.
func TestLoopFilesAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../docs/loop-schema.md")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(data), "\n## Fields\n")
	require.True(t, found)
	documented, of := make(map[string][]string), ""
	for line := range strings.Lines(list) {
		if m := typeInDocument.FindStringSubmatch(line); m != nil {
			of = m[1]
		} else if item, is := strings.CutPrefix(line, "- "); is {
			names, _, _ := strings.Cut(item, ":")
			for _, m := range fieldInDocument.FindAllStringSubmatch(names, -1) {
				documented[of] = append(documented[of], m[1])
			}
		}
	}
	written := make(map[string][]string)
	fieldsOf(reflect.TypeFor[Loop](), "Loop", written)
	for name, fields := range written {
		slices.Sort(fields)
		slices.Sort(documented[name])
		assert.Equal(t, fields, documented[name], name)
	}
	assert.Len(t, documented, len(written))
	assert.Greater(t, len(written), 8)
}

// fieldsOf adds the names of the fields of a type, and of the types of ccbot that it is made of.
func fieldsOf(of reflect.Type, name string, all map[string][]string) {
	for f := range of.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		in := f.Type
		for in.Kind() == reflect.Pointer || in.Kind() == reflect.Slice {
			in = in.Elem()
		}
		switch {
		case f.Anonymous:
			fieldsOf(in, name, all)
		case f.IsExported():
			all[name] = append(all[name], tag)
			if in.Kind() == reflect.Struct && strings.HasPrefix(in.PkgPath(), "ccbot/") && all[in.Name()] == nil {
				fieldsOf(in, in.Name(), all)
			}
		}
	}
}
