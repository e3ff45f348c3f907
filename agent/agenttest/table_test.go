package agenttest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTableKeepsColumns(t *testing.T) {
	columns := []*Column{nil, {Name: "a"}}
	assert.Contains(t, Table(columns...), "| case | a |")
	assert.Equal(t, []*Column{nil, {Name: "a"}}, columns)
}
