package main

import (
	"io"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersionNamesCommit(t *testing.T) {
	assert.Equal(t, "ccbot v1.2.3, commit 0123456789ab of 2026-05-04,", withCommit("ccbot v1.2.3", "0123456789ab of 2026-05-04"))
	assert.Equal(t, "ccbot v1.2.3", withCommit("ccbot v1.2.3", ""))
}

// TestVersionOfPlainBuild is the commit that Go has noted, if it has.
func TestVersionOfPlainBuild(t *testing.T) {
	info := debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}
	assert.Equal(t, "(devel)", built(&info))
	info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}}
	assert.Equal(t, "0123456789ab", built(&info))
}

func TestVersionRefusesArguments(t *testing.T) {
	assert.Equal(t, 2, run([]string{"version", "a"}, []string{"HOME=" + t.TempDir()}, io.Discard, io.Discard))
}
