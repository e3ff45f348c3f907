package repotest

import (
	"go/ast"
	"go/types"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

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
func TestArchitectureOfEndings(t *testing.T) {
	holds(t, func(t *tree) []string { return reachedByOthers(t, endings) },
		wrong{map[string]string{"bot/x.go": "package bot\n\nimport \"ccbot/internal/process\"\n\nvar _ process.Grace\n"}, "bot reaches internal/process.Grace"},
		wrong{map[string]string{"recovery/x.go": "package recovery\n\ntype Panes interface{ ClosePane() }\n"}, "recovery reaches ClosePane"},
		wrong{map[string]string{"loop/x.go": "package loop\n"}, "loop does not reach internal/process.Grace any more"})
}

// typings lists the only packages that name a type through which text or keys reach a pane, or
// declare an interface with such a method. All of them need a tmux.Guard.
var typings = map[string][]string{
	"tmux.Guard":                {"lifecycle", "lifecycle/ending", "lifecycle/typing"}, // all but typing name or close panes
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
	guarded := "package bot\n\nimport \"ccbot/tmux\"\n\ntype Keys interface{ Break(tmux.Guard) }\n"
	holds(t, typedByOthers,
		wrong{map[string]string{"bot/x.go": guarded}, "bot reaches tmux.Guard"},
		wrong{map[string]string{"bot/x.go": guarded}, "bot reaches guarded Break"},
		wrong{map[string]string{"lifecycle/typing/x.go": "package typing\n\ntype Typist struct{}\n\ntype Session struct{}\n\ntype Terminal struct{}\n",
			"lifecycle/x.go": "package lifecycle\n\nimport \"ccbot/lifecycle/typing\"\n\ntype core struct{ t *typing.Typist }\n\ntype names struct{ of []core }\n"},
			"lifecycle.names leads to a typing.Typist"})
}

func typedByOthers(t *tree) []string {
	faults, all := reachedByOthers(t, typings), t.checked()
	typing, lifecycle := all["lifecycle/typing"], all["lifecycle"]
	if typing == nil || lifecycle == nil {
		return append(faults, "lifecycle and lifecycle/typing are not there any more: change this rule")
	}
	for name, holders := range typingFields {
		key := typing.pkg.Scope().Lookup(name)
		if key == nil {
			faults = append(faults, "lifecycle/typing."+name+" is not there any more: take it out of typingFields")
			continue
		}
		for _, fault := range differences(holders, holdersOf(lifecycle.pkg, key.Type()), "is in typingFields and does not lead there any more: take it out",
			"give the keys of panes to a type that has them already, or add it to typingFields with the reason") {
			faults = append(faults, "lifecycle."+strings.Replace(fault, ": ", " leads to a typing."+name+": ", 1))
		}
	}
	return faults
}

// holdersOf returns the types of a package from which fields lead to a type: fields of its types,
// and exported fields of others.
func holdersOf(pkg *types.Package, to types.Type) (holders []string) {
	for _, name := range pkg.Scope().Names() {
		if o, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && leadsTo(pkg, o.Type(), to, make(map[types.Type]bool)) {
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

// reachedByOthers returns the packages besides the listed ones that reach a name.
func reachedByOthers(t *tree, reach map[string][]string) (faults []string) {
	found := make(map[string]map[string]bool)
	for _, s := range t.sources {
		if s.test || isSupport(s.pkg) || s.pkg == "internal/process" || s.pkg == "tmux" {
			continue
		}
		for _, name := range s.reached(reach) {
			_, listed := reach[name]
			if listed || strings.HasPrefix(name, "guarded ") && reach["tmux.Guard"] != nil {
				if found[name] == nil {
					found[name] = make(map[string]bool)
				}
				found[name][s.pkg] = true
			}
		}
	}
	for name, pkgs := range found {
		for pkg := range pkgs {
			if !slices.Contains(reach[name], pkg) {
				faults = append(faults, pkg+" reaches "+name+": only these may, because it ends processes or types into them: "+strings.Join(reach[name], ", "))
			}
		}
	}
	for name, pkgs := range reach {
		for _, pkg := range pkgs {
			if !found[name][pkg] {
				faults = append(faults, pkg+" does not reach "+name+" any more: take it out of the list (internal/repotest/reach_test.go)")
			}
		}
	}
	return faults
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

// closing has the only declarations with a tmux command that could end a person's programs.
// kill-pane takes a proven pane; kill-window, which also ends split panes, is nowhere; kill-server
// is for the private server of a trial.
var closing = []string{"tmux/guard.go ClosePane kill-pane", "try/privatetmux/privatetmux.go End kill-server"}

// TestP2_SingleFunctionClosesPanes finds the tmux commands that could end a person's programs.
func TestP2_SingleFunctionClosesPanes(t *testing.T) {
	holds(t, func(t *tree) []string {
		found := make(map[string]bool)
		for _, s := range t.sources {
			if s.test || isSupport(s.pkg) || s.pkg == "internal/repotest" {
				continue
			}
			for _, d := range s.file.Decls {
				for _, text := range literals(d) {
					if strings.HasPrefix(text, "kill-") {
						name := "(no function)"
						if f, ok := d.(*ast.FuncDecl); ok {
							name = f.Name.Name
						}
						found[s.path+" "+name+" "+text] = true
					}
				}
			}
		}
		return differences(closing, slices.Sorted(maps.Keys(found)), "is not there any more: change closing", "only tmux.Client.ClosePane closes a pane, with a proof of whose it is: call it")
	}, wrong{map[string]string{"lifecycle/x.go": "package lifecycle\n\nfunc end() { run(\"kill-window\") }\n"}, "lifecycle/x.go end kill-window: only tmux.Client.ClosePane"})
}

// moving lists the only functions that show a session in another place. Into a group a session comes by
// Book.move, after Book.MayEnter or an agreement, and by Session.goTo, behind Session.IsAtBorder.
var moving = []string{
	"bot/chat/chat.go New Move", // hands it to the Book
	"bot/conversation/book.go EnterAgreed move", "bot/conversation/book.go MoveTo move", "bot/conversation/book.go move Move",
	"bot/prompt/decide.go decide EnterAgreed", "bot/prompt/shared.go decideAll EnterAgreed", "bot/sessions/border.go tapBorder EnterAgreed", // answers to the question
	"fleet/router/calls_gen.go Move Move", "fleet/wire/calls_gen.go (no function) Move", // carry the call to the machine
	"internal/session/record.go GoOn Move",
	"lifecycle/for_chat.go Move GoOn", "lifecycle/for_chat.go Move Move", "lifecycle/for_chat.go leave GoOn",
	"lifecycle/typing/typing.go goTo GoOn",
}

// TestP9_SingleFunctionMovesSessions finds what could bring a session into a group without the question
// whether its members may read it.
func TestP9_SingleFunctionMovesSessions(t *testing.T) {
	holds(t, func(t *tree) []string {
		found := make(map[string]bool)
		for _, s := range t.sources {
			if s.test || isSupport(s.pkg) || s.pkg == "internal/repotest" {
				continue
			}
			for _, d := range s.file.Decls {
				name := "(no function)"
				if f, ok := d.(*ast.FuncDecl); ok {
					name = f.Name.Name
				}
				ast.Inspect(d, func(n ast.Node) bool {
					one, is := n.(*ast.SelectorExpr)
					ofRecord := is && one.Sel.Name == "GoOn" && !strings.HasPrefix(s.pkg, "bot") // there it is a field
					ofBook := is && one.Sel.Name == "move" && s.pkg == "bot/conversation"
					if is && (ofRecord || ofBook || one.Sel.Name == "Move" || one.Sel.Name == "EnterAgreed") {
						found[s.path+" "+name+" "+one.Sel.Name] = true
					}
					return true
				})
			}
		}
		return differences(moving, slices.Sorted(maps.Keys(found)), "is not there any more: change moving", "a group could read what was said in another chat: call Book.MoveTo")
	}, wrong{map[string]string{"bot/sessions/x.go": "package sessions\n\nfunc (s *Sessions) take() { s.chat.Book.Move() }\n"}, "bot/sessions/x.go take Move: a group could read"})
}

// packagesInPage matches a comment of a page with names of packages, such as <!--loop, tmux-->.
var packagesInPage = regexp.MustCompile(`<!--((?:[a-z0-9-]+(?:/[a-z0-9-]+)*(?:, )?)+)-->`)

// TestP2_PageNamesEndedProcesses: a package that ends processes, or whose commands end with a
// context, stands in a comment behind its processes in P2.
func TestP2_PageNamesEndedProcesses(t *testing.T) {
	holds(t, pageNamesEndedProcesses,
		wrong{map[string]string{"docs/PROMISES.md": "\n## P2 Nothing foreign is killed\n- the check of a loop<!--loop-->\n", "loop/x.go": "package loop\n\nvar _ process.Grace\n",
			"host/x.go": "package host\n\nfunc f() { exec.CommandContext(nil) }\n"}, "host: ends processes"},
		wrong{map[string]string{"docs/PROMISES.md": "\n## P2 Nothing foreign is killed\n- the check of a loop<!--loop-->\n"}, "loop: ends no process any more"})
}

func pageNamesEndedProcesses(t *tree) (faults []string) {
	var named, ends []string
	for _, m := range packagesInPage.FindAllStringSubmatch(t.section("docs/PROMISES.md", "## P2 Nothing foreign is killed"), -1) {
		named = append(named, strings.Split(m[1], ", ")...)
	}
	for _, s := range t.product() {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if of, ok := n.(*ast.SelectorExpr); ok && !slices.Contains(ends, s.pkg) {
				if name := types.ExprString(of); name == "process.Grace" || name == "exec.CommandContext" {
					ends = append(ends, s.pkg)
				}
			}
			return true
		})
	}
	return differences(named, ends, "ends no process any more: take its comment out of P2 in docs/PROMISES.md",
		"ends processes: say in P2 of docs/PROMISES.md which, with its package in a comment behind them: <!--loop-->")
}
