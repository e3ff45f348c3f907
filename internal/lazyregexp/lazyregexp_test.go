package lazyregexp

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestExpressionIsCompiledAtFirstUse outside of tests; in a test a broken one panics at once.
func TestExpressionIsCompiledAtFirstUse(t *testing.T) {
	assert.Panics(t, func() { New(`(`) })

	inTest = false
	t.Cleanup(func() { inTest = true })
	broken := New(`(`)
	assert.Panics(t, func() { broken.MatchString("") })
	word := New(`(\w)(\w*)`)
	for range 2 {
		assert.Equal(t, []string{"one", "o", "ne"}, word.FindStringSubmatch("one two"))
	}
	assert.Same(t, word.compiled(), word.compiled())
}
