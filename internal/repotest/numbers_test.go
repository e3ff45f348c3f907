package repotest

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"
	"testing"
)

// numberTexts matches the functions that make a text of a number or a time in one form for all
// languages.
var numberTexts = regexp.MustCompile(`^strconv\.(Itoa|Format(Int|Uint|Float))$|^fmt\.Sprintf$`)

// TestShownNumbersAreInTheLanguage: what is shown has its numbers and times from i18n.Words, which
// writes them in the language of the chat. Keys, values of buttons and numbers of rows are not
// looked at: they are made elsewhere.
func TestShownNumbersAreInTheLanguage(t *testing.T) {
	bot := func(text string) map[string]string {
		return map[string]string{"bot/x.go": "package bot\n\n" + text + "\n"}
	}
	holds(t, shownNumbersAreInTheLanguage,
		wrong{bot(`var _ = render.Plain("+" + strconv.Itoa(n))`), "bot/x.go:3:28: strconv.Itoa"},
		wrong{bot(`var _ = i18n.Args{"Size": fmt.Sprintf("%d KB", n)}`), "fmt.Sprintf"},
		wrong{bot(`var _ = card.Option{Text: strconv.FormatInt(n, 10)}`), "strconv.FormatInt"},
		wrong{bot(`var _ = w.Say(i18n.X, i18n.Args{"At": at.Format("15:04")})`), "at.Format"})
}

func shownNumbersAreInTheLanguage(t *tree) (faults []string) {
	for _, s := range t.product() {
		if !isChat(s.pkg) || s.pkg == "bot/render" {
			continue
		}
		look := func(shown ast.Node) {
			ast.Inspect(shown, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || types.ExprString(call.Fun) == "render.Code" { // a code has no language
					return !ok
				}
				if fun := types.ExprString(call.Fun); numberTexts.MatchString(fun) || strings.HasSuffix(fun, ".Format") {
					faults = append(faults, t.at(call)+": "+fun+" writes a number in one form for all languages; use a method of i18n.Words, such as Number")
				}
				return true
			})
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if fun := types.ExprString(n.Fun); strings.HasPrefix(fun, "render.") && fun != "render.Code" {
					for _, arg := range n.Args {
						look(arg)
					}
				}
			case *ast.CompositeLit:
				of := ""
				if n.Type != nil {
					of = types.ExprString(n.Type)
				}
				for _, e := range n.Elts {
					if pair, ok := e.(*ast.KeyValueExpr); ok && (of == "i18n.Args" || of == "card.Option" && types.ExprString(pair.Key) == "Text") {
						look(pair.Value)
					}
				}
			}
			return true
		})
	}
	return faults
}
