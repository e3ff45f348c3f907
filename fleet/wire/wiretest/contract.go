package wiretest

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mirrored are the interfaces whose client is written by hand.
var mirrored = []string{"Views"}

// Contract is the interfaces of a machine, as their sources have them.
type Contract struct {
	Groups     []Group
	Interfaces map[string][]Method // by name, which is unique in the port
	News       []string            // types of package news
	imports    map[string]string   // path by name
	about      map[string]bool     // types with the field Session
}

// Group is a field of machine.Machine and its interfaces.
type Group struct {
	Field      string
	Interfaces []string
}

// Method is a method of an interface. Types are as calls_gen.go writes them.
type Method struct {
	Name     string
	Context  bool     // it takes one
	Names    []string // of the other arguments
	Results  []string // types, without the error
	types    []string // of the arguments
	Session  string   // the argument that is its session, or has it; empty: there is none
	failed   bool     // its last result is an error
	variadic bool
}

// Read reads the sources.
func Read(t *testing.T) *Contract {
	t.Helper()
	c := &Contract{Interfaces: make(map[string][]Method), about: make(map[string]bool), imports: map[string]string{"context": "context", "json": "encoding/json", "machine": "ccbot/bot/machine"}}
	for _, pkg := range []string{"port", "port/folders", "port/news", "port/talk"} {
		for _, f := range parse(t, pkg) {
			c.readImports(f)
			for name, spec := range typesOf(f) {
				c.about[filepath.Base(pkg)+"."+name] = hasSession(spec)
				switch i, ok := spec.Type.(*ast.InterfaceType); {
				case ok && pkg != "port/news":
					require.Nil(t, c.Interfaces[name], "two interfaces are named %s", name)
					c.Interfaces[name] = methodsOf(filepath.Base(pkg), i)
				case !ok && pkg == "port/news" && isNews(f, spec):
					c.News = append(c.News, name)
				}
			}
		}
		c.imports[filepath.Base(pkg)] = "ccbot/" + pkg
	}
	slices.Sort(c.News)
	c.readMachine(t)
	for _, methods := range c.Interfaces {
		for i := range methods {
			methods[i].Session = c.sessionOf(methods[i])
		}
	}
	return c
}

// sessionOf returns the session of a call: an argument with that name, the id of a session, or the
// field of a request.
func (c *Contract) sessionOf(m Method) string {
	for i, name := range m.Names {
		switch {
		case m.types[i] == "uuid.UUID" && (name == "id" || name == "session") && !m.variadic:
			return name
		case c.about[m.types[i]]:
			return name + ".Session"
		}
	}
	return ""
}

// hasSession reports whether a type has a field with a session.
func hasSession(spec *ast.TypeSpec) bool {
	s, ok := spec.Type.(*ast.StructType)
	return ok && slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
		return len(f.Names) == 1 && f.Names[0].Name == "Session" && types.ExprString(f.Type) == "uuid.UUID"
	})
}

// root is the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	for dir := ".."; ; dir = filepath.Join(dir, "..") {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		} else if len(dir) > 20 {
			require.NoError(t, err)
		}
	}
}

func parse(t *testing.T, pkg string) (all []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root(t), pkg, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			all = append(all, f)
		}
	}
	return all
}

func (c *Contract) readImports(f *ast.File) {
	for _, spec := range f.Imports {
		path, _ := strconv.Unquote(spec.Path.Value) // the parser has checked it
		c.imports[filepath.Base(path)] = path
	}
}

func typesOf(f *ast.File) map[string]*ast.TypeSpec {
	all := make(map[string]*ast.TypeSpec)
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			all[spec.Name.Name] = spec
		}
		return true
	})
	return all
}

// isNews reports whether a type embeds Piece or Kept, or has the method IsNews.
func isNews(f *ast.File, spec *ast.TypeSpec) bool {
	if s, ok := spec.Type.(*ast.StructType); ok {
		return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool {
			return slices.Contains([]string{"Piece", "Kept"}, types.ExprString(f.Type))
		})
	}
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		m, ok := d.(*ast.FuncDecl)
		return ok && m.Name.Name == "IsNews" && m.Recv != nil && types.ExprString(m.Recv.List[0].Type) == spec.Name.Name
	})
}

func methodsOf(pkg string, i *ast.InterfaceType) (all []Method) {
	for _, field := range i.Methods.List {
		f := field.Type.(*ast.FuncType) //nolint:forcetypeassert // no interface of the port embeds another one
		m := Method{Name: field.Names[0].Name}
		for _, p := range f.Params.List {
			of := p.Type
			if e, ok := of.(*ast.Ellipsis); ok {
				m.variadic, of = true, e.Elt
			}
			for _, n := range p.Names {
				if m.Context = m.Context || types.ExprString(p.Type) == "context.Context"; n.Name != "ctx" {
					m.Names, m.types = append(m.Names, n.Name), append(m.types, qualified(pkg, of))
				}
			}
		}
		if f.Results != nil {
			for _, p := range f.Results.List {
				for range max(len(p.Names), 1) {
					m.Results = append(m.Results, qualified(pkg, p.Type))
				}
			}
		}
		if n := len(m.Results); n > 0 && m.Results[n-1] == "error" {
			m.failed, m.Results = true, m.Results[:n-1]
		}
		all = append(all, m)
	}
	return all
}

// qualified is a type as another package than pkg writes it.
func qualified(pkg string, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		if e.IsExported() {
			return pkg + "." + e.Name
		}
	case *ast.StarExpr:
		return "*" + qualified(pkg, e.X)
	case *ast.ArrayType:
		return "[]" + qualified(pkg, e.Elt)
	case *ast.MapType:
		return "map[" + qualified(pkg, e.Key) + "]" + qualified(pkg, e.Value)
	}
	return types.ExprString(e)
}

// readMachine reads the fields of a machine. Its fonts are the chat's own.
func (c *Contract) readMachine(t *testing.T) {
	t.Helper()
	for _, f := range parse(t, "bot/machine") {
		all := typesOf(f)
		if all["Machine"] == nil {
			continue
		}
		for _, field := range all["Machine"].Type.(*ast.StructType).Fields.List { //nolint:forcetypeassert // a struct
			g := Group{Field: field.Names[0].Name}
			name := types.ExprString(field.Type)
			if own, ok := all[name]; ok {
				for _, m := range own.Type.(*ast.InterfaceType).Methods.List { //nolint:forcetypeassert // an interface
					g.Interfaces = append(g.Interfaces, m.Type.(*ast.SelectorExpr).Sel.Name) //nolint:forcetypeassert // of a port
				}
			} else {
				g.Interfaces = []string{name[strings.LastIndexByte(name, '.')+1:]}
			}
			if c.Interfaces[g.Interfaces[0]] != nil {
				c.Groups = append(c.Groups, g)
			}
		}
	}
}

// Source returns calls_gen.go.
func (c *Contract) Source(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	c.machine(&b)
	for _, g := range c.Groups {
		c.group(&b, g)
	}
	b.WriteString("// handlers are the calls that a Server makes.\nvar handlers = map[string]handler{\n")
	for _, g := range c.Groups {
		for _, name := range g.Interfaces {
			for _, m := range c.Interfaces[name] {
				m.handler(&b, g.Field, name)
			}
		}
	}
	b.WriteString("}\n\n// newsKinds are the types of news by name.\nvar newsKinds = map[string]func(json.RawMessage) (news.News, error){\n")
	for _, n := range c.News {
		fmt.Fprintf(&b, "%q: decodeNews[news.%s],\n", n, n)
	}
	b.WriteString("}\n")
	source, err := format.Source(append(c.head("wire", b.String()), b.Bytes()...))
	require.NoError(t, err)
	return source
}

// head returns the beginning of a file with some source.
func (c *Contract) head(pkg, source string) []byte {
	head := bytes.NewBufferString("// Code generated from the interfaces of the port by go generate; DO NOT EDIT.\n\npackage " + pkg + "\n\nimport (\n")
	for _, group := range []string{"", ".", "ccbot/"} {
		for name, path := range c.imports {
			if strings.Contains(source, name+".") && importGroup(path) == group {
				fmt.Fprintf(head, "%q\n", path)
			}
		}
		head.WriteString("\n")
	}
	return append(head.Bytes(), ")\n\n"...)
}

// importGroup returns the block of an import: of the standard library, of others or of this module.
func importGroup(path string) string {
	switch {
	case strings.HasPrefix(path, "ccbot/"):
		return "ccbot/"
	case strings.Contains(path, "."):
		return "."
	}
	return ""
}

// machine writes the client as a machine.
func (c *Contract) machine(b *bytes.Buffer) {
	b.WriteString("// Machine returns the machine that the client makes calls on.\nfunc (c *Client) Machine() *machine.Machine {\nreturn &machine.Machine{\n")
	for _, g := range c.Groups {
		parts := each(g.Interfaces, func(name string) string {
			if slices.Contains(mirrored, name) {
				return "&mirror{Client: c}"
			}
			return unexported(name) + "Client{c}"
		})
		if len(parts) == 1 {
			fmt.Fprintf(b, "%s: %s,\n", g.Field, parts[0])
		} else {
			fmt.Fprintf(b, "%s: all%s{%s},\n", g.Field, g.Field, strings.Join(parts, ", "))
		}
	}
	b.WriteString("}\n}\n\n")
}

// group writes the client of a field, and of its interfaces.
func (c *Contract) group(b *bytes.Buffer, g Group) {
	if name := g.Interfaces[0]; len(g.Interfaces) > 1 {
		fmt.Fprintf(b, "type all%s struct {\n%sClient\n}\n\n", g.Field, strings.Join(each(g.Interfaces, unexported), "Client\n"))
	} else if slices.Contains(mirrored, name) {
		return
	}
	for _, name := range g.Interfaces {
		fmt.Fprintf(b, "type %sClient struct{ *Client }\n\n", unexported(name))
		for _, m := range c.Interfaces[name] {
			m.client(b, name)
		}
	}
}

func each(names []string, do func(string) string) (all []string) {
	for _, name := range names {
		all = append(all, do(name))
	}
	return all
}

func unexported(name string) string { return strings.ToLower(name[:1]) + name[1:] }

func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// client writes the method of a client.
func (m Method) client(b *bytes.Buffer, of string) {
	ctx, params, in := "client.Context", []string(nil), []string(nil)
	if m.Context {
		ctx, params = "ctx", []string{"ctx context.Context"}
	}
	for i, name := range m.Names {
		dots := ""
		if m.variadic && i == len(m.Names)-1 {
			dots = "..."
		}
		params, in = append(params, name+" "+dots+m.types[i]), append(in, fmt.Sprintf("%q: %s", name, name))
	}
	results, given, into := []string(nil), []string(nil), []string(nil)
	for i, of := range m.Results {
		results, given, into = append(results, fmt.Sprintf("r%d %s", i, of)), append(given, fmt.Sprintf("r%d", i)), append(into, fmt.Sprintf(", &r%d", i))
	}
	lost := "_ = "
	if m.failed {
		results, given, lost = append(results, "err error"), append(given, "err"), "err = "
	}
	fmt.Fprintf(b, "func (client %sClient) %s(%s) (%s) {\n", unexported(of), m.Name, strings.Join(params, ", "), strings.Join(results, ", "))
	fmt.Fprintf(b, "%sclient.call(%s, %q, %s, args{%s}%s)\n", lost, ctx, of+"."+m.Name, cmp.Or(m.Session, "uuid.Nil"), strings.Join(in, ", "), strings.Join(into, ""))
	if len(given) > 0 {
		fmt.Fprintf(b, "return %s\n", strings.Join(given, ", "))
	}
	b.WriteString("}\n\n")
}

// handler writes the entry of a method in the table of a server.
func (m Method) handler(b *bytes.Buffer, field, of string) {
	var fields, in []string
	if m.Context {
		in = append(in, "ctx")
	}
	for i, name := range m.Names {
		kind, dots := m.types[i], ""
		if m.variadic && i == len(m.Names)-1 {
			kind, dots = "[]"+kind, "..."
		}
		fields, in = append(fields, exported(name)+" "+kind), append(in, "in."+exported(name)+dots)
	}
	var results []string
	for i := range m.Results {
		results = append(results, fmt.Sprintf("r%d", i))
	}
	call := fmt.Sprintf("m.%s.%s(%s)", field, m.Name, strings.Join(in, ", "))
	if m.failed {
		call = strings.Join(append(slices.Clone(results), "err"), ", ") + " := " + call
	} else if len(results) > 0 {
		call = strings.Join(results, ", ") + " := " + call
	}
	failed := "nil"
	if m.failed {
		failed = "err"
	}
	fmt.Fprintf(b, "%q: method(func(ctx context.Context, m *machine.Machine, in struct{ %s }) ([]any, error) {\n%s\nreturn []any{%s}, %s\n}),\n",
		of+"."+m.Name, fieldsOf(fields), call, strings.Join(results, ", "), failed)
}

// fieldsOf are the fields of a struct; several are in a line each.
func fieldsOf(all []string) string {
	if len(all) > 1 {
		return "\n" + strings.Join(all, "\n") + "\n"
	}
	return strings.Join(all, "")
}
