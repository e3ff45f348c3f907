package ccbot_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// layers lists the packages from top to bottom. A package may import only packages of lower layers.
// The packages of a folder are in its layer unless they are listed here.
var layers = [][]string{
	{"e2e"}, // tests of the whole
	{"cmd/ccbot", "cmd/ccbot-codex", "cmd/ccbot-hook", "cmd/ccbot-hub", "cmd/ccbot-try"},
	{"bot/chat/chattest"}, // the chat among fakes
	{"cmd/ccbot/backup", "cmd/ccbot/doctor", "cmd/ccbot/importer", "cmd/ccbot/running", "cmd/ccbot/setup", "cmd/ccbot/uninstall"},
	{"cmd/ccbot/engine"},
	{"cmd/ccbot/offline"},
	{"cmd/ccbot/config", "cmd/ccbot/metrics", "cmd/ccbot/release", "cmd/ccbot/reply", "cmd/ccbot/service", "cmd/ccbot/servicemanager", "cmd/ccbot/show", "cmd/ccbot/socket", "cmd/ccbot/telegram", "cmd/ccbot/voice"},
	{"cmd/ccbot/statefolder"},
	{"cmd/ccbot/environment", "cmd/ccbot/exit", "cmd/ccbot/terminal"},
	{"bot"},
	{"bot/answer", "bot/ask", "bot/browse", "bot/budget", "bot/changes", "bot/dialog", "bot/files", "bot/groups", "bot/health", "bot/history", "bot/hosts", "bot/idle", "bot/limit", "bot/longtext", "bot/loops", "bot/menu", "bot/modes", "bot/moves", "bot/prompt", "bot/questions", "bot/report", "bot/schedules", "bot/screenshot", "bot/sessions", "bot/settings", "bot/several", "bot/shell", "bot/status", "bot/topics", "bot/turn", "bot/usage", "bot/waiting", "bot/why", "bot/writers"}, // features
	{"bot/attachment", "bot/attention", "bot/inform", "bot/newtext", "bot/quotation", "bot/textlist"},
	{"bot/chat", "fleet"},
	{"fleet/center", "fleet/member"},
	{"fleet/rpc"},
	{"fleet/channel", "fleet/wire"},
	{"fleet/courier", "fleet/hub", "fleet/join"},
	{"fleet/link"},
	{"fleet/beat", "fleet/rights", "fleet/seal"},
	{"bot/offer"},
	{"bot/card", "bot/conversation", "bot/machine"},
	{"bot/inbox", "bot/outbox", "bot/render"},
	{"host", "loop/template"},
	{"archive", "loop", "recovery", "schedule"},
	{"host/outgoing", "host/received", "lifecycle"},
	{"lifecycle/dialog"},
	{"lifecycle/typing"},
	{"lifecycle/ending", "lifecycle/view"},
	{"internal/ledger", "lifecycle/evidence", "lifecycle/outcome", "lifecycle/modekeys"},
	{"agent/claude", "agent/codex"},
	{"agent/codex/appserver", "agent/codex/codexui", "agent/codex/rollout", "agent/codex/writerlock"},
	{"agent/agenttest", "agent/claude/claudesettings", "agent/toy", "hooks", "tmux"},
	{"try"}, // stand-ins of Telegram and of Claude Code
	{"try/demoagent/brain"},
	{"try/demoagent/script", "try/demoagent/terminal"},
	{"agent/claude/transcript"},
	{"agent/jsonl", "internal/control", "internal/prompts", "internal/session"}, // a record is kept in the port's types
	{"agent/claude/claudeask", "agent/claude/claudeflags", "agent/claude/claudekeys", "agent/claude/claudeui", "agent/claude/presence", "agent/claude/slashcommand", "internal/process"},
	{"agent"},
	{"agent/history", "agent/witness"},
	{"bot/alias", "port"},
	{"agent/claude/prices", "i18n", "internal"},
	{"internal/suspect", "internal/systemfont", "internal/timespan", "internal/watch"},
	{"internal/guard"},
	{"internal/address", "internal/clip", "internal/disk", "internal/lazyregexp", "internal/logkey", "internal/membudget", "internal/ownfile", "internal/pause", "internal/procstat", "internal/sysfault", "internal/wording"},
}

// sideways are the imports between packages of one layer, each with its reason; an unused one fails
// the test.
var sideways = map[[2]string]string{
	{"bot/card", "bot/outbox"}:                   "a card is sent as a named post, and edited",
	{"bot/card", "bot/render"}:                   "a card's text is a rendered one",
	{"bot/outbox", "bot/render"}:                 "a message's text is a rendered one",
	{"bot/chat", "bot/conversation"}:             "who may read a message, and whose session it is",
	{"internal/naming", "internal/glyph"}:        "what cannot be seen is no word of a name",
	{"internal/control", "internal/hookwire"}:    "the socket speaks in its lines",
	{"internal/control", "internal/process"}:     "a peer is known by the processes above it",
	{"internal/capture", "internal/cellpicture"}: "a capture is read as the cells of a picture",
	{"internal/facts", "internal/spool"}:         "a file of facts is an item of a folder",
	{"internal/spool", "internal/keepjson"}:      "an item of a newer program stays where it is",
}

// only lists packages that may import no other package of the module.
var only = map[string][]string{
	"cmd/ccbot-hook":         {"internal/hookwire"}, // it starts at every prompt: small, and nothing that can wait
	"cmd/ccbot-codex":        nil,                   // its children have a terminal, and need nothing of ccbot
	"i18n":                   nil,
	"internal/hookwire":      {"internal/procstat"}, // one reader of /proc for the table and the hook
	"internal/procstat":      nil,
	"try/botapi":             nil, // a stand-in that shares code with what it tests proves nothing
	"try/demoagent":          {"try/demoagent/brain", "try/demoagent/script", "try/demoagent/terminal"},
	"try/demoagent/brain":    {"try/demoagent/script", "try/demoagent/terminal"},
	"try/demoagent/script":   nil,
	"try/demoagent/terminal": nil,
}

// users are the only packages that may import one: the chat knows its machine by
// ports, and no stand-in is a part of ccbot.
var users = map[string][]string{
	"fleet/hub": {"cmd/ccbot-hub"}, // the server of NATS is in no other program

	"host":          {"cmd/ccbot", "cmd/ccbot/engine", "cmd/ccbot/offline", "cmd/ccbot/running"},
	"host/outgoing": {"host"},
	"host/received": {"cmd/ccbot/engine", "cmd/ccbot/uninstall", "host"},

	"agent/codex":         {"cmd/ccbot/offline"}, // with the tag failpoints
	"agent/toy":           {"cmd/ccbot/offline"}, // with the tag failpoints
	"try/botapi":          {"cmd/ccbot-try"},
	"try/demoagent":       {"cmd/ccbot-try"},
	"try/demoagent/brain": {"try/demoagent"},
	"try/privatetmux":     {"cmd/ccbot-try"},
}

// machinery are the packages of the standard library that act on the agent's machine.
var machinery = []string{"os", "os/exec", "path/filepath", "syscall"}

// chatTools are the packages besides the chat, the ports and the texts that the chat may import.
// The others are the agent's machine, or know it.
var chatTools = []string{
	"internal/address", "internal/apianswer", "internal/capture", "internal/cellpicture",
	"internal/clip", "internal/cuttext", "internal/disk", "internal/each",
	"internal/facts", "internal/glyph", "internal/guard", "internal/health", "internal/keepjson",
	"internal/lazyregexp", "internal/logkey", "internal/naming", "internal/pause", "internal/spool",
	"internal/sysfault", "internal/timespan", "internal/typo",
}

// diskPackages are the packages of the chat that keep files, and name their folder.
var diskPackages = []string{"bot/inbox", "bot/outbox"}

// Limits of size. A function or file beyond them is two things.
const (
	maxFunctionLines = 60
	maxFileLines     = 450
)

// source is one Go file of the tree.
type source struct {
	path    string // from the module's folder
	pkg     string // folder of its package
	test    bool   // *_test.go
	imports []string
	file    *ast.File
	fset    *token.FileSet
}

const module = "ccbot/"

// sources are all Go files of the module, whatever their build tags.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// parsed parses the tree once for all tests: they only read it.
var parsed = sync.OnceValues(func() (all []source, err error) {
	fset := token.NewFileSet()
	err = filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && skipped(name, d.Name()) {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		s, err := parse(fset, filepath.ToSlash(name))
		all = append(all, s)
		return err
	})
	return all, err
})

// skipped reports whether a folder is not part of the module: hidden folders, test data, build
// output, and the tools, which are a separate module.
func skipped(name, base string) bool {
	return strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" || name == "bin" || name == "tools"
}

func parse(fset *token.FileSet, name string) (source, error) {
	s := source{path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), fset: fset}
	var err error
	s.file, err = parser.ParseFile(s.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	for _, spec := range s.file.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		if ours, ok := strings.CutPrefix(full, module); ok {
			s.imports = append(s.imports, ours)
		}
	}
	return s, nil
}

// layerOf returns the layer of a package, -1 if it has none.
func layerOf(pkg string) int {
	for parsed := pkg; parsed != "."; parsed = path.Dir(parsed) {
		if i := slices.IndexFunc(layers, func(pkgs []string) bool { return slices.Contains(pkgs, parsed) }); i >= 0 {
			return i
		}
	}
	return -1
}

// isSupport reports whether a package is made for tests of the package above it, such as
// tmux/tmuxtest.
func isSupport(pkg string) bool {
	return strings.HasSuffix(pkg, "test") && strings.Contains(pkg, "/")
}

// isPort reports whether a package is a port. Ports use each other's types.
func isPort(pkg string) bool { return pkg == "port" || strings.HasPrefix(pkg, "port/") }

// objection returns the fault of an import, "" if there is none. Tests and their support may also
// import their own layer.
func objection(from, to string, test bool) string {
	allowed, limited := only[from]
	may, kept := users[to]
	up, down := layerOf(from), layerOf(to)
	switch {
	case down < 0:
		return "has no layer in this file"
	case test && isSupport(to): // from outside its own package
		return ""
	case test || isSupport(from):
		if down < up {
			return "points up"
		}
		return ""
	case limited && !slices.Contains(allowed, to):
		return "is not in its short list"
	case kept && !slices.Contains(may, from):
		return "is not for it"
	case isSupport(to):
		return "is for tests only"
	case down < up:
		return "points up"
	case down == up && from != to && sideways[[2]string{from, to}] == "" && !(isPort(from) && isPort(to)):
		return "points sideways"
	}
	return ""
}

// TestArchitecture compares every import of the tree with the layers.
func TestArchitecture(t *testing.T) {
	used := make(map[[2]string]bool)
	for _, s := range sources(t) {
		if s.pkg != "." {
			assert.GreaterOrEqual(t, layerOf(s.pkg), 0, "%s: give its package a layer in this file", s.path)
		}
		for _, to := range s.imports {
			why := objection(s.pkg, to, s.test || s.pkg == "." || strings.HasPrefix(s.pkg, "e2e/"))
			assert.Empty(t, why, "%s imports %s: it %s", s.path, to, why)
			used[[2]string{s.pkg, to}] = true
		}
	}
	for arrow := range sideways {
		assert.True(t, used[arrow], "%s does not import %s any more: take it off the list", arrow[0], arrow[1])
	}
}

// TestP4_EngineOpensNoFileOfTheChat: an engine may be on a machine that has none.
func TestP4_EngineOpensNoFileOfTheChat(t *testing.T) {
	found := false
	for _, s := range sources(t) {
		if s.test || s.pkg != "cmd/ccbot/engine" && s.pkg != "internal/prompts" && !strings.HasPrefix(s.pkg, "lifecycle") {
			continue
		}
		found = true
		for _, to := range s.imports {
			assert.False(t, strings.HasPrefix(to, "bot"), "%s imports %s", s.path, to)
		}
	}
	assert.True(t, found)
}

// TestOnlyHubContainsServer fails if a package other than fleet/hub imports the server of NATS,
// which is larger than half of ccbot. Its users are in the list above. Tests may import it.
func TestOnlyHubContainsServer(t *testing.T) {
	var users []string
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for name := range maps.Values(importsOf(s.file)) {
			if strings.HasPrefix(name, "github.com/nats-io/nats-server/") && !slices.Contains(users, s.pkg) {
				users = append(users, s.pkg)
			}
		}
	}
	assert.Equal(t, []string{"fleet/hub"}, users)
}

// endings lists the only packages that name a type through which processes are ended, or declare an
// interface with such a method. An end needs a process.Grace, so nothing else can call
// process.Table.End.
var endings = map[string][]string{
	"internal/process.Grace": {"lifecycle/ending", "cmd/ccbot/voice", "loop"}, // voice ends a transcriber, loop a check: both began it themselves
	"lifecycle/ending.Ender": {"lifecycle", "cmd/ccbot/engine"},
	"ClosePane":              {"lifecycle/ending"}, // the hang-up
}

// TestArchitectureOfEndings fails if a package other than lifecycle/ending reaches the ending of
// processes.
func TestArchitectureOfEndings(t *testing.T) { checkReach(t, endings) }

// typings lists the only packages that name a type through which text or keys reach a pane, or
// declare an interface with such a method. All of them need a tmux.Guard.
var typings = map[string][]string{
	"tmux.Guard":                {"lifecycle", "lifecycle/ending", "lifecycle/typing", "cmd/ccbot/uninstall"}, // all but typing name or close panes
	"guarded Paste":             {"lifecycle/typing"},
	"guarded Enter":             {"lifecycle/typing"},
	"guarded Press":             {"lifecycle/typing"},
	"guarded LeaveView":         {"lifecycle/typing"},
	"guarded Rename":            {"lifecycle"},
	"guarded ClosePane":         {"lifecycle/ending"},
	"lifecycle/typing.Typist":   {"lifecycle"},
	"lifecycle/typing.New":      {"cmd/ccbot/engine"},
	"lifecycle/typing.Keyboard": nil,
	"lifecycle/typing.Session":  {"lifecycle"},
	"lifecycle/typing.Terminal": {"lifecycle", "lifecycle/dialog"},
}

// typingFields lists, for each type of lifecycle/typing that presses keys, the only types of
// lifecycle from which fields lead to it. The turn of a session, which every concern has, is not in
// the list.
var typingFields = map[string][]string{
	"Typist":   {"Deps", "Queues", "Service", "core"},
	"Session":  {"adoption", "closing", "opening", "work"}, // opening has the closing of a launch that failed
	"Terminal": {"adoption", "closing", "opening", "work"},
}

// TestArchitectureOfTyping fails if a package other than lifecycle/typing reaches the keys of
// panes, or if another type of lifecycle than the listed ones does.
func TestArchitectureOfTyping(t *testing.T) {
	checkReach(t, typings)
	tree := measuredTree(t)
	for name, holders := range typingFields {
		key := tree["lifecycle/typing"].pkg.Scope().Lookup(name)
		assert.ElementsMatch(t, holders, holdersOf(tree["lifecycle"].pkg, key.Type()), "types with a typing.%s", name)
	}
}

// holdersOf returns the types of a package from which fields lead to a type: fields of its types,
// and exported fields of others.
func holdersOf(pkg *types.Package, to types.Type) (holders []string) {
	for _, name := range pkg.Scope().Names() {
		if o := pkg.Scope().Lookup(name); isType(o) && leadsTo(pkg, o.Type(), to, make(map[types.Type]bool)) {
			holders = append(holders, name)
		}
	}
	return holders
}

func leadsTo(pkg *types.Package, from, to types.Type, seen map[types.Type]bool) bool {
	if from == to || seen[from] {
		return from == to
	}
	seen[from] = true
	switch of := from.(type) {
	case *types.Named:
		return leadsTo(pkg, of.Underlying(), to, seen)
	case *types.Struct:
		for f := range of.Fields() {
			if (f.Exported() || f.Pkg() == pkg) && leadsTo(pkg, f.Type(), to, seen) {
				return true
			}
		}
	case *types.Map:
		return leadsTo(pkg, of.Elem(), to, seen)
	case interface{ Elem() types.Type }: // a pointer, a slice, an array or a channel
		return leadsTo(pkg, of.Elem(), to, seen)
	}
	return false
}

// checkReach fails if other packages than the listed ones reach a name.
func checkReach(t *testing.T, reach map[string][]string) {
	t.Helper()
	found := make(map[string][]string)
	for _, s := range sources(t) {
		if s.test || isSupport(s.pkg) || s.pkg == "internal/process" || s.pkg == "tmux" {
			continue
		}
		for _, name := range s.reached(reach) {
			_, listed := reach[name]
			if guarded := strings.HasPrefix(name, "guarded ") && reach["tmux.Guard"] != nil; (listed || guarded) &&
				!slices.Contains(found[name], s.pkg) {
				found[name] = append(found[name], s.pkg)
			}
		}
	}
	for name := range found {
		assert.Contains(t, reach, name, "%v have another method with a guard", found[name])
	}
	for name, pkgs := range reach {
		assert.ElementsMatch(t, pkgs, found[name], "packages that reach %s", name)
	}
}

// reached returns what a file names of other packages of the module, and the methods of its
// interfaces, once more with "guarded" if they take a tmux.Guard. A file that imports a package
// with a dot may name all of it.
func (s source) reached(reach map[string][]string) (names []string) {
	of := make(map[string]string) // packages by the names that the file has for them
	for _, spec := range s.file.Imports {
		full, _ := strconv.Unquote(spec.Path.Value) // parse has checked it
		pkg := strings.TrimPrefix(full, module)
		switch {
		case spec.Name == nil:
			of[path.Base(pkg)] = pkg
		case spec.Name.Name == ".":
			for name := range reach {
				if strings.HasPrefix(name, pkg+".") {
					names = append(names, name)
				}
			}
		default:
			of[spec.Name.Name] = pkg
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				names = append(names, of[x.Name]+"."+n.Sel.Name)
			}
		case *ast.InterfaceType:
			for _, method := range n.Methods.List {
				for _, name := range method.Names {
					names = append(names, name.Name)
					if takesGuard(method.Type) {
						names = append(names, "guarded "+name.Name)
					}
				}
			}
		}
		return true
	})
	return names
}

// takesGuard reports whether a method of an interface has a parameter of the type tmux.Guard.
func takesGuard(method ast.Expr) bool {
	f, ok := method.(*ast.FuncType)
	return ok && slices.ContainsFunc(f.Params.List, func(p *ast.Field) bool {
		sel, ok := p.Type.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Guard"
	})
}

// TestArchitectureOfTheChat fails if a package of the chat reaches a disk, a process or tmux of the
// agent's machine: the chat knows its machine by ports.
func TestArchitectureOfTheChat(t *testing.T) {
	used := make(map[string]bool)
	inChat := func(pkg string) bool { return pkg == "bot" || strings.HasPrefix(pkg, "bot/") }
	for _, s := range product(t) {
		if !inChat(s.pkg) {
			continue
		}
		for _, to := range s.imports {
			used[to] = true
			ours := inChat(to) || isPort(to) || to == "i18n" || slices.Contains(chatTools, to)
			assert.True(t, ours, "%s imports %s: use a port", s.path, to)
		}
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			keeps := slices.Contains(diskPackages, s.pkg) && (name == "os" || name == "path/filepath")
			assert.False(t, slices.Contains(machinery, name) && !keeps, "%s imports %s: use a port", s.path, name)
		}
	}
	for _, tool := range chatTools {
		assert.True(t, used[tool], "the chat does not import %s any more: take it off the list", tool)
	}
}

// TestSoundsComeFromOneTable fails if a message gets its sound from anything but chat.Sounds, or
// another message.
func TestSoundsComeFromOneTable(t *testing.T) {
	n := 0
	check := func(s source, value ast.Expr) {
		asks := false
		ast.Inspect(value, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			asks = asks || ok && sel.Sel.Name == "Sounds"
			return true
		})
		assert.True(t, asks, "%s: the sound of a message is in the table of bot/chat/sounds.go", s.fset.Position(value.Pos()))
		n++
	}
	for _, s := range product(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if name, ok := n.Key.(*ast.Ident); ok && name.Name == "Sounds" {
					check(s, n.Value)
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if sel, ok := to.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sounds" && len(n.Lhs) == len(n.Rhs) {
						check(s, n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	assert.Greater(t, n, 12)
}

// TestPortsCarryPlainValues: the arguments and results of a port could be sent over a network. A
// body is a stream of bytes, and an open file is one as well.
func TestPortsCarryPlainValues(t *testing.T) {
	var ports []source
	ways := make(map[string]bool) // interfaces of the ports, as other packages write them
	for _, s := range sources(t) {
		if s.test || !isPort(s.pkg) {
			continue
		}
		ports = append(ports, s)
		for name := range interfaces(s.file) {
			ways[path.Base(s.pkg)+"."+name] = true
		}
	}
	require.NotEmpty(t, ways)
	for _, s := range ports {
		for name, way := range interfaces(s.file) {
			for _, what := range carried(way, s.file.Name.Name) {
				assert.False(t, ways[what] || what == "func" || what == "chan" || what == "interface", "%s.%s carries a %s", s.pkg, name, what)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if fields, ok := n.(*ast.StructType); ok {
				for _, what := range carried(fields, s.file.Name.Name) {
					assert.False(t, ways[what] || what == "func" || what == "chan", "%s: a value has a %s", s.fset.Position(n.Pos()), what)
				}
			}
			return true
		})
	}
}

// interfaces are those that a file declares, by name.
func interfaces(f *ast.File) map[string]*ast.InterfaceType {
	all := make(map[string]*ast.InterfaceType)
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if way, ok := spec.Type.(*ast.InterfaceType); ok {
				all[spec.Name.Name] = way
			}
		}
		return true
	})
	return all
}

// carried are the types that the methods of an interface take and give, or that a struct has.
func carried(of ast.Node, pkg string) (all []string) {
	depth := 0
	if _, ok := of.(*ast.InterfaceType); ok {
		depth = 1 // its methods are not values
	}
	var look func(n ast.Node, inside int)
	look = func(n ast.Node, inside int) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncType:
				if inside > 0 {
					for _, list := range []*ast.FieldList{n.Params, n.Results} {
						if list != nil {
							look(list, inside-1)
						}
					}
					return false
				}
				all = append(all, "func")
			case *ast.ChanType:
				all = append(all, "chan")
			case *ast.InterfaceType:
				if n != of {
					all = append(all, "interface")
					return false
				}
			case *ast.SelectorExpr:
				all = append(all, n.X.(*ast.Ident).Name+"."+n.Sel.Name)
				return false
			case *ast.Field:
				look(n.Type, inside)
				return false
			case *ast.Ident:
				all = append(all, pkg+"."+n.Name)
			}
			return true
		})
	}
	look(of, depth)
	return all
}

func TestCarried(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
type P interface { A(ctx context.Context, do func()) (Q, error); B(c chan int) *Q; C(body io.Reader) interface{ D() }; E([]R) }
type Q interface{}`, 0)
	require.NoError(t, err)
	all := carried(interfaces(f)["P"], "x")
	assert.Equal(t, []string{"context.Context", "func", "x.Q", "x.error", "chan", "x.int", "x.Q", "io.Reader", "interface", "x.R"}, all)
}

// kernel are the packages used by every feature. A goroutine next to an update belongs to a
// feature, or to the top layer, which run it under their guard.
var kernel = []string{"bot/chat", "bot/conversation", "bot/card"}

// TestKernelStartsNoGoroutine: neither itself, nor by a timer or a group.
func TestKernelStartsNoGoroutine(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || !slices.Contains(kernel, s.pkg) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			for _, what := range started(n) {
				t.Errorf("%s: %s", s.fset.Position(n.Pos()), what)
			}
			return true
		})
	}
}

// started returns the goroutines that a piece of a program starts.
func started(n ast.Node) (what []string) {
	switch n := n.(type) {
	case *ast.GoStmt:
		return []string{"go"}
	case *ast.ImportSpec:
		if path, _ := strconv.Unquote(n.Path.Value); strings.HasSuffix(path, "/errgroup") {
			return []string{path}
		}
	case *ast.SelectorExpr:
		of, _ := n.X.(*ast.Ident)
		full := n.Sel.Name
		if of != nil {
			full = of.Name + "." + full
		}
		if slices.Contains([]string{"time.AfterFunc", "context.AfterFunc", "guard.Crew", "guard.Keep"}, full) || n.Sel.Name == "Go" {
			return []string{full}
		}
	}
	return nil
}

func TestStarted(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", `package x
import ("golang.org/x/sync/errgroup"; "time"; "sync"; "context")
func f() { go f(); time.AfterFunc(1, f); new(sync.WaitGroup).Go(f); context.AfterFunc(nil, f); new(guard.Crew); time.After(1) }`, 0)
	require.NoError(t, err)
	var all []string
	ast.Inspect(f, func(n ast.Node) bool { all = append(all, started(n)...); return true })
	assert.Equal(t, []string{"golang.org/x/sync/errgroup", "go", "time.AfterFunc", "Go", "context.AfterFunc", "guard.Crew"}, all)
}

// TestArchitectureObjects holds the rule itself to account.
func TestArchitectureObjects(t *testing.T) {
	for _, tt := range []struct {
		name, from, to string
		test           bool
		want           string
	}{
		{"down", "bot", "lifecycle", false, ""},
		{"down past rooms", "cmd/ccbot", "internal/process", false, ""},
		{"a chat room of its own house", "bot", "bot/inbox", false, ""},
		{"listed", "internal/control", "internal/hookwire", false, ""},
		{"up", "lifecycle", "bot", false, "points up"},
		{"up to its own house", "bot/inbox", "bot", false, "points up"},
		{"sideways", "hooks", "tmux", false, "points sideways"},
		{"sideways among leaves", "internal/git", "internal/keepjson", false, "points sideways"},
		{"words import nothing", "i18n", "internal/session", false, "is not in its short list"},
		{"the hook", "cmd/ccbot-hook", "internal/spool", false, "is not in its short list"},
		{"the hook's own", "cmd/ccbot-hook", "internal/hookwire", false, ""},
		{"test support in the product", "lifecycle", "tmux/tmuxtest", false, "is for tests only"},
		{"test support in a test", "lifecycle", "tmux/tmuxtest", true, ""},
		{"a room's test in the whole chat", "bot/ask", "bot/chat/chattest", true, ""},
		{"a test beside", "hooks", "tmux", true, ""},
		{"a test up", "hooks", "bot", true, "points up"},
		{"what a port stands for", "bot", "host", false, "is not for it"},
		{"a port", "bot", "port/folders", false, ""},
		{"a stand-in in ccbot", "cmd/ccbot", "try/demoagent", false, "is not for it"},
		{"a stand-in in a test", "lifecycle", "try/demoagent", true, ""},
		{"a stand-in and what it stands for", "try/demoagent", "agent/claude/transcript", false, "is not in its short list"},
		{"unknown", "bot", "helpers", false, "has no layer in this file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, objection(tt.from, tt.to, tt.test))
		})
	}
}

// TestPackagesStatePromises wants a package comment, in doc.go where a
// package has more than one file.
func TestPackagesStatePromises(t *testing.T) {
	files, documented := make(map[string]int), make(map[string]bool)
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		files[s.pkg]++
		if s.file.Doc.Text() != "" {
			documented[s.pkg] = true
			inDoc := path.Base(s.path) == "doc.go"
			documented[s.pkg+"/doc.go"] = documented[s.pkg+"/doc.go"] || inDoc
		}
	}
	for pkg, n := range files {
		ok := documented[pkg+"/doc.go"] || n == 1 && documented[pkg]
		assert.True(t, ok, "%s has no doc.go with a package comment", pkg)
	}
}

// TestSize finds functions and files that have grown into two things. A generated file is a list.
func TestSize(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || ast.IsGenerated(s.file) {
			continue
		}
		lines := s.fset.File(s.file.FileStart).LineCount()
		assert.LessOrEqual(t, lines, maxFileLines, "%s has %d lines", s.path, lines)
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
				assert.LessOrEqual(t, n, maxFunctionLines, "%s: %s has %d lines", s.path, f.Name.Name, n)
			}
		}
	}
}

// TestP2_SingleFunctionClosesPanes finds the tmux commands that could end a person's programs.
// kill-pane is in one function, which takes a proven pane; kill-window, which also ends split
// panes, is nowhere; kill-server is for the private server of a trial.
func TestP2_SingleFunctionClosesPanes(t *testing.T) {
	found := make(map[string][]string)
	for _, s := range sources(t) {
		if s.test || isSupport(s.pkg) {
			continue
		}
		for _, d := range s.file.Decls {
			for _, text := range literals(d) {
				if where := s.path + " " + nameOf(d); strings.HasPrefix(text, "kill-") && !slices.Contains(found[text], where) {
					found[text] = append(found[text], where)
				}
			}
		}
	}
	assert.Equal(t, map[string][]string{
		"kill-pane":   {"tmux/guard.go ClosePane"},
		"kill-server": {"try/privatetmux/privatetmux.go End"},
	}, found)
}

// literals are the texts written out in a declaration.
func literals(d ast.Decl) []string {
	var texts []string
	ast.Inspect(d, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

func nameOf(d ast.Decl) string {
	if f, ok := d.(*ast.FuncDecl); ok {
		return f.Name.Name
	}
	return "(no function)"
}
