package i18n

import (
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// TestRussianAgreesWithItsBlanks: a predicate agrees with a noun that the sentence has, and not
// with a name, whose gender is unknown.
func TestRussianAgreesWithItsBlanks(t *testing.T) {
	t.Parallel()
	begin := `(?:^|[.!?:⚠] ?|пока )\{\{\.(?:Name|Window|Process)\}\}`
	predicate := regexp.MustCompile(begin + `,? (?:возможно, )?(?:не |уже |с тех пор |больше нигде не )*(?:\p{L}+(?:ла|ло|лась|лось|на|но|та|то|ет ли она)(?:$|[ ,.:])|\{\{\.State\}\})`)
	for key, f := range catalogue(t, "ru") {
		for _, text := range f {
			assert.NotRegexp(t, predicate, text, key)
		}
	}
}

// TestRussianButtonsFitTwoInRow: these buttons stand beside another one; a row of two has 17
// columns for each.
func TestRussianButtonsFitTwoInRow(t *testing.T) {
	t.Parallel()
	words := Load(dotted).For("ru")
	for _, key := range []Key{ButtonSendAnyway, ButtonForkInstead, ButtonDenyWith, ButtonAnswerWith, AskDesk, ButtonNewTopic, ButtonSendTo} {
		said := words.Say(key, Args{"Name": "gateway"})
		assert.LessOrEqual(t, utf8.RuneCountInString(said), 17, said)
	}
}
