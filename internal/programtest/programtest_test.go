package programtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder keeps the end of a test.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(args ...any) {
	r.end = "skip: " + fmt.Sprint(args...)
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.end = "fail: " + fmt.Sprint(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }

func TestMissingProgramNamesItsPackage(t *testing.T) {
	const shell = "chromium-headless-shell is not installed (Debian package chromium-headless-shell)"
	for _, tt := range []struct{ name, program, installed, require, want string }{
		{"missing", "chromium-headless-shell", "", "", "skip: SKIPPED: " + shell},
		{"missing and required", "chromium-headless-shell", "", "all", "fail: " + shell + ", and CCBOT_REQUIRE is all"},
		{"another name", "chromium-headless-shell", "chromium", "all", "found chromium"},
		{"no row", "teleporter", "teleporter", "", "fail: internal/programtest/programs.txt has no row for teleporter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			t.Setenv("CCBOT_REQUIRE", tt.require)
			if tt.installed != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, tt.installed), nil, 0o700)) //nolint:gosec // it is a program
			}
			r := &recorder{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				r.end = "found " + filepath.Base(Require(r, tt.program))
			}()
			<-done
			assert.Equal(t, tt.want, r.end)
		})
	}
}
