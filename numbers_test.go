package ccbot_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plainNumbers are the functions of bot that write a number, a time or a duration without the
// chat's language, each with its reason.
var plainNumbers = map[string]string{
	"bot/answer.Answers.pictures":      keyOrName,
	"bot/ask.Viewer.answers":           rowNumber,
	"bot/ask.answerTap":                keyOrName,
	"bot/ask.Viewer.page":              rowNumber,
	"bot/attachment.Attachments.bring": keyOrName,
	"bot/attachment.fileOf":            keyOrName,
	"bot/browse.Browser.number":        rowNumber,
	"bot/browse.Browser.talk":          rowNumber,
	"bot/card.button.data":             keyOrName,
	"bot/card.record.postName":         keyOrName,
	"bot/changes.words.list":           rowNumber,
	"bot/chat.Chat.LinkTo":             idOrCode,
	"bot/chat.NewsOf":                  keyOrName,
	"bot/chat.OfLaunch":                keyOrName,
	"bot/chat.Phrases.ProcessText":     idOrCode,
	"bot/conversation.nameOf":          keyOrName,
	"bot/dialog.choices":               rowNumber,
	"bot/files.Files.send":             "an answer to an agent",
	"bot/groups.args":                  idOrCode,
	"bot/health.chats":                 idOrCode,
	"bot/history.drawing.find":         rowNumber,
	"bot/history.drawing.list":         rowNumber,
	"bot/hosts.Hosts.report":           keyOrName,
	"bot/inbox.Intake.takeTap":         keyOrName,
	"bot/inbox.UpdateKey":              keyOrName,
	"bot/inbox.poller.call":            idOrCode,
	"bot/inbox.poller.read":            idOrCode,
	"bot/limit.plan.name":              keyOrName,
	"bot/loops.Loops.draw":             keyOrName,
	"bot/loops.Loops.drawList":         rowNumber,
	"bot/loops.noteKey":                keyOrName,
	"bot/schedules.Schedules.command":  keyOrName,
	"bot/schedules.Schedules.draw":     rowNumber,
	"bot/moves.Moves.reportGroups":     idOrCode,
	"bot/outbox.Outbox.DropButtons":    keyOrName,
	"bot/outbox.Outbox.React":          keyOrName,
	"bot/outbox.Outbox.Typing":         keyOrName,
	"bot/outbox.Outbox.addSideCall":    keyOrName,
	"bot/outbox.key":                   keyOrName,
	"bot/outbox.postStore.write":       keyOrName,
	"bot/prompt.Prompts.reportIgnored": keyOrName,
	"bot/questions.Questions.drawLine": keyOrName,
	"bot/render.address":               documentMark,
	"bot/render.codeFile":              documentMark,
	"bot/render.grid.file":             documentMark,
	"bot/render.init":                  documentMark,
	"bot/render.markdown.items":        documentMark,
	"bot/render.marker":                documentMark,
	"bot/render.referenceTo":           documentMark,
	"bot/budget.Budget.show":           keyOrName,
	"bot/budget.costs.accounts":        keyOrName,
	"bot/settings.budgetOf":            keyOrName,
	"bot/settings.hours":               "hours as /quiet takes them",
	"bot/settings.init":                keyOrName,
	"bot/settings.quietExtra":          keyOrName,
	"bot/settings.quietText":           keyOrName,
	"bot/status.archive.list":          rowNumber,
	"bot/textlist.number":              rowNumber,
	"bot/turn.words.waiting":           rowNumber,
	"bot/usage.usage.warn":             keyOrName,
	"bot/waiting.words.list":           rowNumber,
	"cmd/ccbot/running.withGroup":      idOrCode,
}

// units are the blanks whose numbers have a unit, which the text leaves out.
var units = map[string]bool{`"Age"`: true, `"Cost"`: true, `"Free"`: true, `"Limit"`: true, `"Missing"`: true, `"Own"`: true, `"Percent"`: true, `"Size"`: true, `"Took"`: true, `"Total"`: true}

// Reasons of plainNumbers.
const (
	keyOrName    = "a key, or the name of a file"
	rowNumber    = "the number of a row and of its button"
	idOrCode     = "an id, an address or a code"
	documentMark = "a mark of a document, which is the same in every language"
)

// TestNumbersAreWrittenByLanguage finds each function of bot that makes a text of a number, a time
// or a duration itself, by fmt, strconv or a method: i18n.Words does that in the language of the
// chat. Keys of the log and values of buttons are not texts.
func TestNumbersAreWrittenByLanguage(t *testing.T) {
	found := make(map[string][]string)
	for _, p := range slices.Concat(typedPackages(t, "./bot/..."), typedPackages(t, "./cmd/ccbot/running")) {
		for _, file := range p.files {
			for _, d := range file.Decls {
				name := strings.TrimPrefix(p.path, module) + "." + declared(d)
				for _, n := range p.numbers(d) {
					found[name] = append(found[name], p.fset.Position(n.Pos()).String()[len(p.dir)+1:])
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		assert.Contains(t, plainNumbers, name, "%v", found[name])
	}
	for name := range plainNumbers {
		assert.Contains(t, found, name, "the exception is not needed")
	}
}

// typed is a package with the types of its expressions.
type typed struct {
	path, dir string
	fset      *token.FileSet
	files     []*ast.File
	info      *types.Info
}

// typedPackages type-checks packages of the product, with those that they import.
func typedPackages(t *testing.T, pattern string) (all []typed) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,DepOnly", pattern).Output()
	require.NoError(t, err)
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		DepOnly                 bool
	}
	exports, wanted := make(map[string]string), []listed(nil)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var one listed
		if err := d.Decode(&one); errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if exports[one.ImportPath] = one.Export; !one.DepOnly && !isSupport(strings.TrimPrefix(one.ImportPath, module)) {
			wanted = append(wanted, one)
		}
	}
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, one := range wanted {
		p := typed{path: one.ImportPath, dir: one.Dir, fset: fset, info: &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object)}}
		for _, name := range one.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(one.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			p.files = append(p.files, file)
		}
		_, err := (&types.Config{Importer: from}).Check(one.ImportPath, fset, p.files, p.info)
		require.NoError(t, err)
		all = append(all, p)
	}
	require.NotEmpty(t, all)
	return all
}

// numbers returns the expressions of a declaration that make a text of a number, a time or a
// duration.
func (p typed) numbers(d ast.Decl) (all []ast.Expr) {
	fill := func(blank, value ast.Expr) {
		if name := p.info.Types[blank].Value; p.isNumber(value) && (!p.isWhole(value) || name == nil || units[name.ExactString()]) {
			all = append(all, value)
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if p.isArgs(n) {
				for _, e := range n.Elts {
					fill(e.(*ast.KeyValueExpr).Key, e.(*ast.KeyValueExpr).Value)
				}
			}
			if typ := p.info.Types[n].Type.String(); typ == module+"bot/card.Option" {
				n.Elts = slices.DeleteFunc(n.Elts, func(e ast.Expr) bool { return isField(e, "Value") }) // the meaning of the button
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if blank, ok := left.(*ast.IndexExpr); ok && p.isArgs(blank.X) && len(n.Rhs) == len(n.Lhs) {
					fill(blank.Index, n.Rhs[i])
				}
			}
		case *ast.CallExpr:
			if p.isLog(n) {
				return false
			}
			if p.writesNumber(n) {
				all = append(all, n)
			}
		}
		return true
	})
	return all
}

// isArgs reports whether an expression has the blanks of a text.
func (p typed) isArgs(e ast.Expr) bool {
	typ := p.info.Types[e].Type
	return typ != nil && typ.String() == module+"i18n.Args"
}

// isField reports whether an expression sets a field of a struct.
func isField(e ast.Expr, name string) bool {
	pair, ok := e.(*ast.KeyValueExpr)
	if !ok {
		return false
	}
	key, ok := pair.Key.(*ast.Ident)
	return ok && key.Name == name
}

// isLog reports whether a call writes to the log.
func (p typed) isLog(call *ast.CallExpr) bool {
	f := p.callee(call)
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == "log/slog"
}

// callee returns the function that a call calls; nil for a conversion, a variable or a built-in
// function.
func (p typed) callee(call *ast.CallExpr) *types.Func {
	var name *ast.Ident
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f
	case *ast.SelectorExpr:
		name = f.Sel
	default:
		return nil
	}
	f, _ := p.info.Uses[name].(*types.Func)
	return f
}

// writesNumber reports whether a call makes a text of a number, a time or a duration.
func (p typed) writesNumber(call *ast.CallExpr) bool {
	f := p.callee(call)
	if f == nil || f.Pkg() == nil {
		return false
	}
	switch name := f.Name(); f.Pkg().Path() {
	case "strconv":
		return name == "Itoa" || strings.HasPrefix(name, "Format") && name != "FormatBool" || strings.HasPrefix(name, "AppendInt")
	case "time":
		return name == "Format" || name == "AppendFormat" || name == "String"
	case "fmt":
		return name != "Errorf" && !strings.Contains(name, "can") && slices.ContainsFunc(call.Args, p.isNumber)
	}
	return false
}

// isNumber reports whether an expression is a number, a time or a duration.
func (p typed) isNumber(e ast.Expr) bool {
	typ := p.info.Types[e].Type
	if typ == nil {
		return false
	}
	basic, ok := typ.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsNumeric != 0 || fmt.Sprint(typ) == "time.Time"
}

// isWhole reports whether an expression is a whole number without a unit: Say writes it in the
// language.
func (p typed) isWhole(e ast.Expr) bool {
	basic, ok := p.info.Types[e].Type.(*types.Basic)
	return ok && basic.Info()&types.IsInteger != 0
}
