package repotest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// checked is one type-checked package. Declarations of other modules are unknown in it.
type checked struct {
	files []source
	pkg   *types.Package
	info  *types.Info
}

// checked type-checks the product once, whatever the build tags of its files.
func (t *tree) checked() map[string]*checked {
	t.checkOnce.Do(func() {
		t.packages = make(map[string]*checked)
		for _, s := range t.product() {
			if t.packages[s.pkg] == nil {
				t.packages[s.pkg] = &checked{}
			}
			t.packages[s.pkg].files = append(t.packages[s.pkg].files, s)
		}
		for pkg := range t.packages {
			t.check(pkg)
		}
	})
	return t.packages
}

func (t *tree) check(pkg string) *types.Package {
	c := t.packages[pkg]
	if c.pkg != nil {
		return c.pkg
	}
	c.info = &types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object), Types: make(map[ast.Expr]types.TypeAndValue)}
	config := types.Config{Error: func(error) {}, FakeImportC: true, Importer: importer(func(to string) (*types.Package, error) {
		if ours, ok := strings.CutPrefix(to, module); ok && t.packages[ours] != nil {
			return t.check(ours), nil
		}
		return nil, errForeign
	})}
	c.pkg, _ = config.Check(module+pkg, t.fset, files(c.files), c.info)
	return c.pkg
}

// errForeign is the error of an import of another module: its names are unknown, which is no fault.
var errForeign = fmt.Errorf("another module")

type importer func(string) (*types.Package, error)

func (f importer) Import(name string) (*types.Package, error) { return f(name) }

func files(of []source) (all []*ast.File) {
	for _, s := range of {
		all = append(all, s.file)
	}
	return all
}

// imports reports whether a file of the package imports another package of the tree.
func (c *checked) imports(pkg string) bool {
	return slices.ContainsFunc(c.files, func(s source) bool { return slices.Contains(s.imports, pkg) })
}

var buildTag = regexp.MustCompile(`(?m)^//go:build ([a-z]+)\b`)

// TestEachBuildTagCompiles: the ordinary tests do not compile the files that only a tag selects,
// such as those of make bench.
func TestEachBuildTagCompiles(t *testing.T) {
	const bench, world = "//go:build bench\n\npackage e2e\n\nimport \"ccbot/tmux\"\n\n", "package e2e\n\ntype world struct{}\n"
	holds(t, taggedFilesCompile,
		wrong{map[string]string{"e2e/bench_test.go": bench + "func f(w world) { w.measure(tmux.Client{}) }", "e2e/world_test.go": world, "tmux/tmux.go": "package tmux\n\ntype Client struct{}\n"},
			"w.measure undefined"},
		wrong{map[string]string{"e2e/bench_test.go": bench + "var _ tmux.Server\n", "tmux/tmux.go": "package tmux\n"}, "undefined: tmux.Server"},
		wrong{map[string]string{"e2e/bench_test.go": bench + "var _ tmux.Server\n"}, "could not import ccbot/tmux"})
}

// taggedFilesCompile type-checks each file that a tag selects, with the rest of its package and
// those that it imports. Names of other modules are not checked.
func taggedFilesCompile(t *tree) (faults []string) {
	tags := make(map[string]map[string]bool) // by tag, the folders
	for _, s := range t.sources {
		if tag := buildTag.FindStringSubmatch(s.lines); tag != nil && tag[1] != "linux" && tag[1] != "darwin" {
			if tags[tag[1]] == nil {
				tags[tag[1]] = make(map[string]bool)
			}
			tags[tag[1]][s.pkg] = true
		}
	}
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		b := tagged{tree: t, tag: tag, done: make(map[string]*types.Package), of: make(map[string][]source), isTagged: make(map[string]bool)}
		for _, s := range t.sources {
			if b.selects(s) {
				b.of[s.pkg] = append(b.of[s.pkg], s)
				b.isTagged[s.path] = buildTag.MatchString(s.lines)
			}
		}
		for _, folder := range slices.Sorted(maps.Keys(tags[tag])) {
			faults = append(faults, b.compile(folder)...)
		}
	}
	return faults
}

// tagged type-checks the tree as a build with one tag does.
type tagged struct {
	*tree
	tag  string
	done map[string]*types.Package // without tests and without the bodies of functions
	of   map[string][]source

	isTagged map[string]bool // files that a tag selects
}

// selects reports whether the build has a file.
func (b tagged) selects(s source) bool {
	context := build.Default
	context.GOOS, context.BuildTags, context.CgoEnabled = "linux", []string{b.tag}, true
	context.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s.lines)), nil }
	context.JoinPath = path.Join
	match, err := context.MatchFile(s.pkg, path.Base(s.path))
	return match && err == nil
}

// Import returns a package of the tree as other packages see it.
func (b tagged) Import(name string) (*types.Package, error) {
	pkg, ours := strings.CutPrefix(name, module)
	if !ours {
		return nil, errForeign
	}
	if b.done[pkg] == nil {
		own := slices.DeleteFunc(slices.Clone(b.of[pkg]), func(s source) bool { return s.test })
		if len(own) == 0 {
			return nil, fs.ErrNotExist
		}
		config := types.Config{Importer: b, Error: func(error) {}, FakeImportC: true, IgnoreFuncBodies: true}
		b.done[pkg], _ = config.Check(name, b.fset, files(own), nil)
	}
	return b.done[pkg], nil
}

// compile returns the faults of the tagged files of a folder: of the package with its tests, and of
// the tests outside of it.
func (b tagged) compile(folder string) (faults []string) {
	var inside, outside []source
	for _, s := range b.of[folder] {
		if s.test && strings.HasSuffix(s.file.Name.Name, "_test") {
			outside = append(outside, s)
		} else {
			inside = append(inside, s)
		}
	}
	check := func(name string, all []source, from types.Importer) *types.Package {
		config := types.Config{Importer: from, FakeImportC: true, Error: func(err error) {
			e, _ := err.(types.Error) //nolint:errorlint // go/types gives no other
			if inTagged := b.isTagged[b.fset.Position(e.Pos).Filename]; inTagged && !strings.Contains(e.Msg, errForeign.Error()) && !b.mayEmbed(all[0].file.Name.Name, e.Msg) {
				faults = append(faults, fmt.Sprintf("%s: with the tag %s: %s", b.fset.Position(e.Pos), b.tag, e.Msg))
			}
		}}
		pkg, _ := config.Check(name, b.fset, files(all), nil)
		return pkg
	}
	own := check(module+folder, inside, b)
	check(module+folder+"_test", outside, importer(func(name string) (*types.Package, error) {
		if name == module+folder {
			return own, nil
		}
		return b.Import(name)
	}))
	return faults
}

var withoutMember = regexp.MustCompile(`\(type \*?(?:(\w+)\.)?(\w+) has no field or method`)

// mayEmbed reports whether a fault is about a member of a type that another module's type, whose
// members are unknown, may give it.
func (b tagged) mayEmbed(pkg, fault string) bool {
	m := withoutMember.FindStringSubmatch(fault)
	return m != nil && b.embedsForeign(cmp.Or(m[1], pkg), m[2], make(map[string]bool))
}

// embedsForeign reports whether a type of a package embeds a type of another module, itself or in
// one that it embeds.
func (b tagged) embedsForeign(in, name string, seen map[string]bool) bool {
	if seen[in+"."+name] {
		return false
	}
	seen[in+"."+name] = true
	for _, s := range b.sources {
		if s.file.Name.Name != in {
			continue
		}
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				of, ok := spec.(*ast.TypeSpec)
				if !ok || of.Name.Name != name {
					continue
				}
				fields, ok := of.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, f := range fields.Fields.List {
					if len(f.Names) > 0 {
						continue
					}
					pkg, embedded, qualified := strings.Cut(strings.TrimPrefix(types.ExprString(f.Type), "*"), ".")
					if !qualified {
						pkg, embedded = in, pkg
					}
					if qualified && !strings.HasPrefix(importsOf(s.file)[pkg], module) || b.embedsForeign(pkg, embedded, seen) {
						return true
					}
				}
			}
		}
	}
	return false
}
