package repotest

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestSoundsComeFromOneTable fails if a message gets its sound from anything but chat.Sounds, or
// another message.
func TestSoundsComeFromOneTable(t *testing.T) {
	holds(t, soundsFromTable,
		wrong{map[string]string{"bot/x.go": "package bot\n\nvar _ = card.Content{Sounds: true}\n"}, "bot/x.go:3"},
		wrong{map[string]string{"bot/x.go": "package bot\n\nfunc f() { c.Sounds = loud() }\n"}, "bot/x.go:3"})
}

func soundsFromTable(t *tree) (faults []string) {
	check := func(value ast.Expr) {
		asks := false
		ast.Inspect(value, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			asks = asks || ok && sel.Sel.Name == "Sounds"
			return true
		})
		if !asks {
			faults = append(faults, t.at(value)+": a message makes a sound without asking chat.Sounds; add an occasion to bot/chat/sounds.go")
		}
	}
	for _, s := range t.product() {
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if name, ok := n.Key.(*ast.Ident); ok && name.Name == "Sounds" {
					check(n.Value)
				}
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if sel, ok := to.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sounds" && len(n.Lhs) == len(n.Rhs) {
						check(n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	return faults
}

// TestPortsCarryPlainValues: the arguments and results of a port could be sent over a network. A
// body is a stream of bytes, and an open file is one as well.
func TestPortsCarryPlainValues(t *testing.T) {
	port := func(text string) map[string]string {
		return map[string]string{"port/x.go": "package port\n\n" + text + "\n"}
	}
	holds(t, portsCarryPlainValues,
		wrong{port("type Views interface{ Each(do func(int)) }"), "port.Views carries a func"},
		wrong{port("type Views interface{ Watch() (chan int, error) }"), "carries a chan"},
		wrong{port("type Views interface{ Get() interface{ Close() } }"), "carries a interface"},
		wrong{port("type Views interface{ Get() *Other }\n\ntype Other interface{}"), "carries a port.Other"},
		wrong{port("type Session struct{ Close []func() }"), "port/x.go:3:14: a value has a func"})
}

func portsCarryPlainValues(t *tree) (faults []string) {
	var ports []source
	ways := make(map[string]bool) // interfaces of the ports, as other packages write them
	for _, s := range t.sources {
		if s.test || !isPort(s.pkg) {
			continue
		}
		ports = append(ports, s)
		for name := range interfaces(s.file) {
			ways[path.Base(s.pkg)+"."+name] = true
		}
	}
	const remedy = "; another machine cannot get it, so pass plain values"
	for _, s := range ports {
		for name, way := range interfaces(s.file) {
			for _, what := range carried(way, s.file.Name.Name) {
				if ways[what] || what == "func" || what == "chan" || what == "interface" {
					faults = append(faults, s.pkg+"."+name+" carries a "+what+remedy)
				}
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if fields, ok := n.(*ast.StructType); ok {
				for _, what := range carried(fields, s.file.Name.Name) {
					if ways[what] || what == "func" || what == "chan" {
						faults = append(faults, t.at(n)+": a value has a "+what+remedy)
					}
				}
			}
			return true
		})
	}
	return faults
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

// kernelPackages are the packages used by every feature. A goroutine next to an update belongs to a
// feature, or to the top layer, which run it under their guard.
var kernelPackages = []string{"bot/chat", "bot/conversation", "bot/card"}

// TestKernelStartsNoGoroutine: neither itself, nor by a timer or a group.
func TestKernelStartsNoGoroutine(t *testing.T) {
	kernel := func(text string) map[string]string {
		return map[string]string{"bot/card/x.go": "package card\n\n" + text + "\n"}
	}
	holds(t, func(t *tree) (faults []string) {
		for _, s := range t.sources {
			if s.test || !slices.Contains(kernelPackages, s.pkg) {
				continue
			}
			ast.Inspect(s.file, func(n ast.Node) bool {
				for _, what := range started(n) {
					faults = append(faults, t.at(n)+": "+what+" starts a goroutine; a feature, or the bot, starts it under its guard")
				}
				return true
			})
		}
		return faults
	}, wrong{kernel("func f() { go f() }"), "bot/card/x.go:3:12: go starts"}, wrong{kernel("import \"golang.org/x/sync/errgroup\""), "errgroup starts"},
		wrong{kernel("func f() { time.AfterFunc(1, f) }"), "time.AfterFunc starts"}, wrong{kernel("func f() { new(sync.WaitGroup).Go(f) }"), "Go starts"},
		wrong{kernel("var crew guard.Crew"), "guard.Crew starts"})
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

// TestStartCompilesNoExpression: every verb would compile the expression of a package variable, and
// a bot would keep it in memory.
func TestStartCompilesNoExpression(t *testing.T) {
	holds(t, func(t *tree) (faults []string) {
		for _, s := range t.product() {
			for _, d := range s.file.Decls {
				if _, ok := d.(*ast.GenDecl); !ok {
					continue
				}
				ast.Inspect(d, func(n ast.Node) bool {
					if sel, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(types.ExprString(sel), "regexp.MustCompile") {
						faults = append(faults, t.at(sel)+": each start compiles this expression; use lazyregexp.New")
					}
					_, called := n.(*ast.FuncLit)
					return !called
				})
			}
		}
		return faults
	}, wrong{map[string]string{"loop/x.go": "package loop\n\nvar word = regexp.MustCompile(`a`)\n"}, "loop/x.go:3:12: each start"})
}
