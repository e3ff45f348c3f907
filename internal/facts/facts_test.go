package facts_test

import (
	"log/slog"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/disk"
	"ccbot/internal/facts"
	"ccbot/internal/spool"
)

// TestUnsavedChangeIsWrittenByNext though the next call changes nothing.
func TestUnsavedChangeIsWrittenByNext(t *testing.T) {
	folder := spool.Folder{Path: t.TempDir()}
	open := func() *facts.File[int] {
		return facts.Open[int](folder, "f.json", t.TempDir(), slog.New(slog.DiscardHandler))
	}
	f := open()
	heal := disk.Fail(func(string, string) error { return syscall.ENOSPC })
	defer heal()
	f.Change(func(all map[string]int) bool { all["a"] = 1; return true })
	heal()
	_, has := open().Get("a")
	assert.False(t, has)
	f.Change(func(map[string]int) bool { return false })
	v, _ := open().Get("a")
	assert.Equal(t, 1, v)
}
