package each

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAs(t *testing.T) {
	assert.Equal(t, []string{"2", "1", "2"}, As([]int{2, 1, 2}, strconv.Itoa))
	assert.Nil(t, As([]int{}, strconv.Itoa), "what is kept as JSON stays null")
}
