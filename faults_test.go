package ccbot_test

import (
	"go/ast"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/i18n"
	"ccbot/internal/sysfault"
)

// TestInternalErrorIsForProgramErrors counts the uses of "Something went wrong": the last resort
// for an error without a sentence, and two that follow a panic. Other faults have separate
// sentences.
func TestInternalErrorIsForProgramErrors(t *testing.T) {
	uses := make(map[string]int)
	for _, s := range product(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if use, ok := n.(*ast.SelectorExpr); ok && use.Sel.Name == "InternalError" {
				uses[s.pkg]++
			}
			return true
		})
	}
	assert.Equal(t, map[string]int{"bot/chat": 1, "bot": 1, "bot/ask": 1}, uses)
}

// TestSystemFaultsHaveSentences compares the table of faults with the sentences of each language.
func TestSystemFaultsHaveSentences(t *testing.T) {
	words := i18n.Load(func(string) string { return "" })
	for _, kind := range sysfault.Kinds() {
		for _, lang := range i18n.Languages() {
			said := words.For(lang).Say(i18n.SystemKey.Of(string(kind)), i18n.Args{"Dir": "/x"})
			assert.NotContains(t, said, "system_", lang)
			assert.NotEmpty(t, said, lang)
		}
	}
}
