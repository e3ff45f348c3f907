package process

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArgvHash(t *testing.T) {
	assert.Empty(t, ArgvHash(nil))
	assert.Equal(t, hashOf("claude\x00--resume\x00x\x00"), ArgvHash([]string{"claude", "--resume", "x"}))

	different := [][]string{{""}, {"", ""}, {"a"}, {"a", ""}, {"", "a"}, {"a b"}, {"a", "b"}, {"b", "a"}, {"ab"}}
	seen := make(map[string][]string)
	for _, args := range different {
		hash := ArgvHash(args)
		assert.Len(t, hash, 64)
		assert.Nil(t, seen[hash], "%q and %q", args, seen[hash])
		seen[hash] = args
	}
}

// It is the hash of what the kernel shows, so that anyone can check it by hand.
func TestArgvHashOfALivingProcess(t *testing.T) {
	table, err := NewTable()
	require.NoError(t, err)
	self, err := table.Inspect(os.Getpid())
	require.NoError(t, err)
	assert.Equal(t, ArgvHash(os.Args), ArgvHash(self.Args))
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
