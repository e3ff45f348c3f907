package flockers

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLockersOfKernel(t *testing.T) {
	assert.Equal(t, []int{7, 9}, lockers([]byte(`1: POSIX  ADVISORY  WRITE 5 00:1b:10391 128 128
2: FLOCK  ADVISORY  WRITE 7 00:1b:8060 0 EOF
2: -> FLOCK  ADVISORY  WRITE 8 00:1b:8060 0 EOF
3: FLOCK  ADVISORY  READ 6 00:1b:8061 0 EOF
4: FLOCK  ADVISORY  WRITE 9 00:1b:8062 0 EOF
5: FLOCK  ADVISORY  WRITE 0 00:1b:8063 0 EOF
`)))
}
