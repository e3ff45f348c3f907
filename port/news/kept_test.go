package news

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port"
)

// TestP8_KeptNewsSurviveDisk encodes and decodes a value of each kept type.
func TestP8_KeptNewsSurviveDisk(t *testing.T) {
	for _, n := range []News{Ready{}, Ended{Screen: "bye\n<b>", ByPerson: true}, Failed{Screen: "no"}, Lost{},
		Stopped{Endings: []port.Ending{{How: port.Forced, Ended: true}}, Quiet: time.Hour, By: 7, Together: true},
		Transferred{ByPerson: true}, Moved{}, Switched{ModeChange: port.ModeChange{Model: "Haiku"}, Waited: true},
		OtherWriters{{Dir: "/a", Window: &port.Pane{Window: "@3"}}}, OtherWriters(nil)} {
		require.True(t, IsKept(n), "%T", n)
		kind, body, err := Encode(n)
		require.NoError(t, err)
		got, err := Decode(kind, body)
		require.NoError(t, err)
		assert.Equal(t, n, got)
	}
	_, err := Decode("OfALaterProgram", "{}")
	assert.Error(t, err)
	assert.False(t, IsKept(Doing{}))
}

// TestKeptNewsHaveTheirType compares the list of kept types with their source.
func TestKeptNewsHaveTheirType(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "news.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	in := map[string]bool{"OtherWriters": true} // a list, which has the method itself
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if s, ok := spec.Type.(*ast.StructType); ok && len(s.Fields.List) > 0 && types.ExprString(s.Fields.List[0].Type) == "Kept" {
				in[spec.Name.Name] = true
			}
		}
		return true
	})
	listed := make(map[string]bool)
	for _, n := range kept {
		listed[reflect.TypeOf(n).Name()] = true
	}
	assert.Equal(t, in, listed)
}
