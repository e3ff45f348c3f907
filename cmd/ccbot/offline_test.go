package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/refusal"
)

// A name may have signs that mean something to the shell.
func TestCommandToCopyIsQuoted(t *testing.T) {
	dir := stateWith(t, one(1, "a$(x)", func(r *session.Record) { r.State = session.Archived }))
	code, _, errs := ccbot([]string{"HOME=" + dir, "CCBOT_DIR=" + dir}, "attach", "a$(x)")
	assert.Equal(t, exit.Failure, code)
	assert.Contains(t, errs, "`ccbot resume 'a$(x)'` brings it back")
	d, err := offline.Open([]string{"HOME=" + dir, "CCBOT_DIR=" + dir}, os.Stderr)
	require.NoError(t, err)
	open := offline.ChatError(d.Words(), port.Session{ID: idOf(1), Name: "a$(x)"}, &refusal.Error{Code: refusal.WrongState, Open: true})
	assert.ErrorContains(t, open, "ccbot attach 'a$(x)'")
}

func TestBrokenPriceFileIsNamed(t *testing.T) {
	dir := stateWith(t)
	file := filepath.Join(dir, "prices.json")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	environ := []string{"HOME=" + dir, "CCBOT_DIR=" + dir}
	code, out, errs := ccbot(environ, "usage")
	assert.Equal(t, exit.OK, code, errs)
	assert.Contains(t, out, "~/prices.json cannot be read as a price list, so the built-in prices count.")
	assert.Contains(t, errs, "prices_unusable")
	_, out, _ = ccbot(environ, "usage", "--json")
	assert.Contains(t, out, `"broken_prices": "`+file+`"`)
}
