package writers

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/port"
)

func TestIdentitiesTellWritersApart(t *testing.T) {
	of := func(all ...port.ID) []port.ID {
		var c conflict
		for _, one := range all {
			c.writers = append(c.writers, port.Writer{Process: port.Process{ID: one}})
		}
		return c.listed().Writers
	}
	assert.Equal(t, of("a", "b"), of("b", "a"), "in any order")
	for _, other := range [][]port.ID{nil, {"a"}, {"b"}, {"a", "a"}, {"a", "b", "b"}, {"c", "b"}} {
		assert.NotEqual(t, of("a", "b"), of(other...))
	}
}
