package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRowsAreJoined(t *testing.T) {
	numbers := func(from, to int) (rows []string) {
		for n := from; n <= to; n++ {
			rows = append(rows, fmt.Sprint(n))
		}
		return rows
	}
	for _, tt := range []struct {
		name       string
		seen, now  []string
		above      int
		want       []string
		isTheSame  bool
		beginsWith string
	}{
		{name: "nothing yet"},
		{name: "all is shown", seen: numbers(1, 2), now: numbers(1, 4), want: numbers(1, 4)},
		{name: "the end is shown", seen: numbers(1, 4), now: numbers(3, 6), above: 3, want: numbers(1, 6)},
		{name: "the same again", seen: numbers(1, 4), now: numbers(2, 4), above: 2, want: numbers(1, 4)},
		{name: "some were not seen", seen: numbers(1, 2), now: numbers(5, 7), above: 5, want: append(append(numbers(1, 2), outputGap), numbers(5, 7)...)},
		{name: "the beginning was not seen", now: numbers(5, 7), above: 4, want: append([]string{outputGap}, numbers(5, 7)...)},
		{name: "many", seen: numbers(1, growRows), now: numbers(growRows-1, growRows+3), above: growRows,
			want: append([]string{outputGap}, numbers(5, growRows+3)...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := strings.Join(tt.seen, " ")
			assert.Equal(t, tt.want, joinRows(tt.seen, tt.now, tt.above))
			assert.Equal(t, before, strings.Join(tt.seen, " "))
		})
	}
}
