package i18n

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestRussianAgreesWithItsBlanks: a predicate agrees with a noun that the sentence has, and not
// with a name, whose gender is unknown.
func TestRussianAgreesWithItsBlanks(t *testing.T) {
	t.Parallel()
	begin := `(?:^|[.!?:⚠] ?|пока )\{\{\.(?:Dir|Name|Path|Process|Processes|Window)\}\}`
	predicate := regexp.MustCompile(begin + `,? (?:возможно, )?(?:не |уже |с тех пор |больше нигде не )*(?:\p{L}+(?:ла|ло|лась|лось|лся|на|но|та|то|ан|ен|ён|ет ли она)(?:$|[ ,.:])|\{\{\.State\}\})`)
	for key, f := range catalogue(t, "ru") {
		for _, text := range f {
			assert.NotRegexp(t, predicate, text, key)
		}
	}
}
