package doctor

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A server that can crash while a program connects takes all agents with it: whoever looks for the reason finds it here.
func TestOldTmuxIsNamed(t *testing.T) {
	for version, named := range map[string]bool{"3.3a": true, "3.6b": true, "next-3.7": false, "3.7c": false, "3.10": false, "4.0": false, "master": false} {
		f := goodTmux(version, true)
		assert.Equal(t, OK, f.Status, version)
		assert.Equal(t, named, f.Detail != "", version)
	}
}
