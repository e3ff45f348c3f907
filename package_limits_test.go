package ccbot_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Limits of a room. A room is a package that a newcomer can hold in mind.
const (
	maxMethods      = 40 // of one type
	maxCircle       = 15 // files of one package that use each other's names in a loop
	maxDependencies = 8  // of one constructor
	maxInterface    = 3  // methods of an interface in bot/…
	maxPackage      = 1485
)

// packageLines has the packages of the chat with special limits: larger ones, and the top layer.
var packageLines = map[string]int{"bot": 705, "bot/answer": 1655, "bot/ask": 2710, "bot/card": 1606, "bot/chat": 1908, "bot/inbox": 2610, "bot/outbox": 2690, "bot/prompt": 2215, "bot/render": 3254, "bot/sessions": 1641}

// manyDependencies are the features with more dependencies, which other features need in turn, and
// the bot: each has its own line here, so that none is hidden in a value that all share.
var manyDependencies = map[string]int{"bot.New": 10, "bot/answer.New": 10, "bot/prompt.New": 10, "bot/sessions.New": 10}

// wideInterfaces are the interfaces of the chat with more than three methods, each with its reason.
var wideInterfaces = map[string]string{
	"bot/inbox.Reporter":      "the reports to people; each chat has them from one feature",
	"bot/outbox.API":          "the calls of the Bot API that the outbox makes",
	"bot/machine.Sessions":    "the ports of one machine about its sessions; each feature declares the part that it uses",
	"bot/machine.Places":      "the ports of one machine about its folders; each feature declares the part that it uses",
	"bot/machine.Decisions":   "the ports of one machine about what agents ask for",
	"bot/machine.Transcripts": "the ports of one machine about what was said; each feature declares the part that it uses",
	"bot/sessions.Agents":     "a look at an agent, and the two ways to end it: at the desk the end is waited for",
	"bot.Sender":              "the outbox; each feature declares the part that it uses",
	"bot/prompt.Entries":      "the reads of one store, with the age of what is read",
	"bot/offer.Inbox":         "the inbox: entries, the progress that they show, and numbers",
	"bot/hosts.Fleet":         "the machines of the chat, with each step of a join",
	"bot.Entries":             "the inbox; each feature declares the part that it uses",
}

// within compares a figure with its limit.
func within(t *testing.T, what, parsed string, got, limit int) {
	t.Helper()
	assert.LessOrEqual(t, got, limit, "%s: %s", parsed, what)
}

// TestPackageLimits compares the figures of each package with the limits of a package.
func TestPackageLimits(t *testing.T) {
	tree := measuredTree(t)
	for _, pkg := range slices.Sorted(maps.Keys(tree)) {
		parsed := tree[pkg]
		for name, n := range parsed.methods() {
			within(t, "methods", pkg+"."+name, n, maxMethods)
		}
		within(t, "files in a circle", pkg, parsed.circle(), maxCircle)
		for name, n := range parsed.dependencies() {
			within(t, "dependencies", pkg+"."+name, n, max(maxDependencies, manyDependencies[pkg+"."+name]))
		}
		if pkg != "bot" && !strings.HasPrefix(pkg, "bot/") {
			continue
		}
		for name, n := range parsed.interfaces() {
			if full := pkg + "." + name; wideInterfaces[full] == "" {
				within(t, "methods", full, n, maxInterface)
			}
		}
		limit := maxPackage
		if n, ok := packageLines[pkg]; ok {
			limit = n
		}
		within(t, "lines", pkg, parsed.lines, limit)
	}
}

// checked is one type-checked package. Declarations of other modules are unknown in it.
type checked struct {
	files []source
	lines int
	pkg   *types.Package
	info  *types.Info
}

// tree is the tree during the check; it is the importer of its packages.
type tree map[string]*checked

// measuredTree type-checks the product, without what is made for tests.
func measuredTree(t *testing.T) tree {
	t.Helper()
	h := make(tree)
	for _, s := range product(t) {
		if h[s.pkg] == nil {
			h[s.pkg] = &checked{}
		}
		h[s.pkg].files = append(h[s.pkg].files, s)
		h[s.pkg].lines += s.fset.File(s.file.FileStart).LineCount()
	}
	for pkg := range h {
		h.check(pkg)
	}
	assert.NotEmpty(t, h)
	return h
}

// product returns the sources of the program: without tests, their support and stand-ins.
func product(t *testing.T) (all []source) {
	t.Helper()
	for _, s := range sources(t) {
		if !s.test && s.pkg != "." && !isSupport(s.pkg) && !isStandIn(s.pkg) {
			all = append(all, s)
		}
	}
	return all
}

// isStandIn reports whether a package plays a part of the world in tests and trials.
func isStandIn(pkg string) bool {
	return pkg == "e2e" || pkg == "agent/toy" || strings.HasPrefix(pkg, "e2e/") || strings.HasPrefix(pkg, "try/") || pkg == "cmd/ccbot-try"
}

// Import returns a type-checked package of the tree, and an empty one for any other.
func (h tree) Import(path string) (*types.Package, error) {
	if ours, ok := strings.CutPrefix(path, module); ok && h[ours] != nil {
		return h.check(ours), nil
	}
	empty := types.NewPackage(path, path[strings.LastIndexByte(path, '/')+1:])
	empty.MarkComplete()
	return empty, nil
}

func (h tree) check(pkg string) *types.Package {
	parsed := h[pkg]
	if parsed.pkg != nil {
		return parsed.pkg
	}
	parsed.info = &types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object),
		Selections: make(map[*ast.SelectorExpr]*types.Selection)}
	c := types.Config{Importer: h, Error: func(error) {}, FakeImportC: true} // other modules are not known
	var files []*ast.File
	for _, s := range parsed.files {
		files = append(files, s.file)
	}
	parsed.pkg, _ = c.Check(module+pkg, parsed.files[0].fset, files, parsed.info)
	return parsed.pkg
}

// methods are the methods that each type declares.
func (c *checked) methods() map[string]int {
	all := make(map[string]int)
	for _, s := range c.files {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				all[receiver(f.Recv.List[0].Type)]++
			}
		}
	}
	return all
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return fmt.Sprintf("%T", e)
}

// interfaces are the interfaces with their methods, those of embedded ones of the tree included.
func (c *checked) interfaces() map[string]int {
	all := make(map[string]int)
	for _, name := range c.pkg.Scope().Names() {
		if i, ok := c.pkg.Scope().Lookup(name).Type().Underlying().(*types.Interface); ok && isType(c.pkg.Scope().Lookup(name)) {
			all[name] = i.NumMethods()
		}
	}
	return all
}

func isType(o types.Object) bool {
	_, ok := o.(*types.TypeName)
	return ok
}

// dependencies returns the arguments of each constructor that do something: its parameters, and the
// fields of a struct parameter. Plain values are settings.
func (c *checked) dependencies() map[string]int {
	all := make(map[string]int)
	for _, name := range c.pkg.Scope().Names() {
		f, ok := c.pkg.Scope().Lookup(name).(*types.Func)
		if !ok || !strings.HasPrefix(name, "New") && !strings.HasPrefix(name, "new") {
			continue
		}
		n := 0
		for i := range f.Signature().Params().Len() {
			n += weight(f.Signature().Params().At(i).Type())
		}
		all[name] = n
	}
	return all
}

// weight returns the number of dependencies of one parameter.
func weight(param types.Type) (n int) {
	switch under := param.Underlying().(type) {
	case *types.Interface, *types.Signature, *types.Pointer, *types.Chan:
		return 1
	case *types.Struct:
		for i := range under.NumFields() {
			n += weight(under.Field(i).Type())
		}
	}
	return n
}

// circle is the largest set of files that use each other's names in a loop.
func (c *checked) circle() int {
	owner := make(map[types.Object]int)
	for id, o := range c.info.Defs {
		if o == nil || o.Pkg() != c.pkg || !isMember(o) {
			continue
		}
		owner[o] = c.fileAt(id.Pos())
	}
	edges := make([]map[int]bool, len(c.files))
	for i := range edges {
		edges[i] = make(map[int]bool)
	}
	for id, o := range c.info.Uses {
		if to, ok := owner[origin(o)]; ok {
			if from := c.fileAt(id.Pos()); from != to {
				edges[from][to] = true
			}
		}
	}
	return largestLoop(edges)
}

// origin is the object that a use is about: the method of a generic type as it is declared.
func origin(o types.Object) types.Object {
	if f, ok := o.(*types.Func); ok {
		return f.Origin()
	}
	return o
}

// isMember reports whether an object is declared in the package itself, not within a function.
// Fields belong to the file of their type.
func isMember(o types.Object) bool {
	switch o := o.(type) {
	case *types.Var:
		return o.IsField() || o.Parent() == o.Pkg().Scope()
	case *types.Func:
		return true
	}
	return o.Parent() == o.Pkg().Scope()
}

func (c *checked) fileAt(pos token.Pos) int {
	return slices.IndexFunc(c.files, func(s source) bool { return s.file.FileStart <= pos && pos < s.file.FileEnd })
}

// largestLoop is the size of the largest strongly connected set of a graph (Tarjan).
func largestLoop(edges []map[int]bool) int {
	index, low, on := make([]int, len(edges)), make([]int, len(edges)), make([]bool, len(edges))
	var stack []int
	next, largest := 1, 0
	var visit func(v int)
	visit = func(v int) {
		index[v], low[v] = next, next
		next++
		stack, on[v] = append(stack, v), true
		for w := range edges[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if on[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		at := slices.Index(stack, v)
		for _, w := range stack[at:] {
			on[w] = false
		}
		largest, stack = max(largest, len(stack)-at), stack[:at]
	}
	for v := range edges {
		if index[v] == 0 {
			visit(v)
		}
	}
	return largest
}

func TestLargestLoop(t *testing.T) {
	graph := func(all ...[]int) (edges []map[int]bool) {
		for _, to := range all {
			m := make(map[int]bool)
			for _, one := range to {
				m[one] = true
			}
			edges = append(edges, m)
		}
		return edges
	}
	assert.Equal(t, 0, largestLoop(nil))
	assert.Equal(t, 1, largestLoop(graph([]int{1}, []int{2}, nil)))
	assert.Equal(t, 3, largestLoop(graph([]int{1}, []int{2}, []int{0}, []int{0})))
	assert.Equal(t, 2, largestLoop(graph([]int{1}, []int{0, 2}, []int{3}, nil)))
}
