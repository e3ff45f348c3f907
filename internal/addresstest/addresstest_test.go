package addresstest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddressIsFreeAndGivenOnce(t *testing.T) {
	seen := make(map[string]bool)
	for range 50 {
		addr := Free(t)
		assert.False(t, seen[addr], addr)
		seen[addr] = true
		for range 2 { // also a program that is started again can listen there
			l, err := net.Listen("tcp", addr)
			require.NoError(t, err)
			require.NoError(t, l.Close())
		}
	}
}
