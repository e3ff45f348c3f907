package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersionNamesCommit(t *testing.T) {
	assert.Equal(t, "ccbot v1.2.3, commit 0123456789ab of 2026-05-04,", withCommit("ccbot v1.2.3", "0123456789ab of 2026-05-04"))
	assert.Equal(t, "ccbot v1.2.3", withCommit("ccbot v1.2.3", ""))
}
