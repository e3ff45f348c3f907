package ccbot_test

import (
	"go/ast"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLogMessagesAreEvents wants the name of an event in snake_case as the message of every line of the
// log: a sentence can be searched for by nobody who does not know it. The one exception is an event that other programs
// have always searched for.
func TestLogMessagesAreEvents(t *testing.T) {
	event := regexp.MustCompile(`^([a-z0-9]+(_[a-z0-9]+)*|Dropping stale window_state)$`)
	at := map[string]int{"Debug": 0, "Info": 0, "Warn": 0, "Error": 0, "DebugContext": 1, "InfoContext": 1, "WarnContext": 1, "ErrorContext": 1}
	found := 0
	for _, s := range product(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			fun, ok := call.Fun.(*ast.SelectorExpr)
			i, logs := 0, false
			if ok {
				i, logs = at[fun.Sel.Name]
			}
			if !logs || len(call.Args) <= i {
				return true
			}
			if text, ok := call.Args[i].(*ast.BasicLit); ok {
				message, err := strconv.Unquote(text.Value)
				assert.NoError(t, err)
				assert.Regexp(t, event, message, s.fset.Position(call.Pos()))
				found++
			}
			return true
		})
	}
	assert.Greater(t, found, 100)
}
