package procstat

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBootNamesItsClock(t *testing.T) {
	const id = "6a1c2b3d-0000-4000-8000-0123456789ab"
	for _, tt := range []struct{ name, offsets, want string }{
		{"kernel without time namespaces", "", id},
		{"the machine's own clock", "monotonic           0         0\nboottime            0         0\n", id},
		{"another monotonic clock only", "monotonic        5000         1\nboottime            0         0\n", id},
		{"a clock ahead", "monotonic           0         0\nboottime            1         5\n", id + "-3b9aca05"},
		{"a clock behind", "monotonic           0         0\nboottime           -1 999999999\n", id + "-ffffffffffffffff"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			boot, err := Boot([]byte(id+"\n"), []byte(tt.offsets))
			require.NoError(t, err)
			assert.Equal(t, tt.want, boot)
			assert.True(t, SameBoot(boot, id))
			assert.True(t, SameBoot(id, boot))
			assert.False(t, SameBoot(boot, "7"+id[1:]))
			assert.False(t, SameBoot(boot, ""))
		})
	}
	for _, bad := range []string{"boottime\n", "boottime x 0\n", "\n"} {
		_, err := Boot([]byte(id), []byte(bad))
		assert.Error(t, err, bad)
	}
	assert.False(t, SameBoot("", id))
}
