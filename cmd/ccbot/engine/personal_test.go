package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/host"
	"ccbot/port"
)

// unpaused lists the requests of a person that do not pause the loop of the session.
var unpaused = map[string]bool{
	// They show or name, and the agent does not notice them.
	"Attach": true, "Dialog": true, "Rename": true, "Writers": true, "Advance": true, "Move": true, "SetIdleAfter": true, "SetBudget": true, "Reported": true,
	// No loop runs in a session that they begin or bring back.
	"Start": true, "Restore": true, "Adopt": true,
	"EndWriters": true, // ends other processes than the agent
	"EndTurn":    true, // without a person's decision
	// They concern a prompt of which the loop knows already, because Queue or Keep came before.
	"Drop": true, "LeaveView": true, "Reword": true, "SendAnyway": true, "TakeBack": true, "ToFront": true, "Wake": true, "Withdraw": true,
}

// Each request that a person can make of a session pauses its loop, or is listed as one that does
// not. The wrappers embed what they wrap, so the compiler accepts a new request without a pause.
func TestPersonsRequestsPauseLoops(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "loops.go", nil, 0)
	require.NoError(t, err)
	for wrapper, requests := range map[string][]reflect.Type{
		"personalLifecycle": {reflect.TypeFor[host.Lifecycle](), reflect.TypeFor[port.Panes]()},
		"personalQueues":    {reflect.TypeFor[host.Queues]()},
	} {
		pauses, all := pausing(file, wrapper), make(map[string]bool)
		for _, request := range requests {
			for m := range request.Methods() {
				all[m.Name] = true
				assert.NotEqual(t, pauses[m.Name], unpaused[m.Name], "%s.%s pauses the loop or is listed as unpaused", wrapper, m.Name)
			}
		}
		assert.Subset(t, slices.Collect(maps.Keys(all)), slices.Collect(maps.Keys(pauses)), "%s pauses what no person can request", wrapper)
	}
}

// pausing returns the methods of a type whose bodies call Yield.
func pausing(file *ast.File, receiver string) map[string]bool {
	found := make(map[string]bool)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil {
			continue
		}
		if name, ok := f.Recv.List[0].Type.(*ast.Ident); !ok || name.Name != receiver {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Yield" {
				found[f.Name.Name] = true
			}
			return true
		})
	}
	return found
}
