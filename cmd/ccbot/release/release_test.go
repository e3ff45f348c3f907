package release

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/longtest"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
)

func TestMarkHasFiguresOfProgram(t *testing.T) {
	this, ok := Of([]byte("\x00x" + State + "<<"))
	assert.True(t, ok)
	assert.Equal(t, Release{Platform: runtime.GOOS + "/" + runtime.GOARCH, Folder: statefolder.Format, Records: session.Version}, this)
}

func TestOrder(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		order int
		known bool
	}{
		{"v1.2.3", "v1.2.3", 0, true},
		{"abcdef0", "abcdef0", 0, true},
		{"v1.2.3", "v1.10.0", -1, true},
		{"1.2.3", "v1.2.4", -1, true},
		{"v1.2.3", "v1.2.3-4-gabcdef0", -1, true},
		{"v1.2.3-11-gabcdef0", "v1.2.3-4-g0abcde0-dirty", 1, true},
		{"v2.0.0-rc.1", "v2.0.0", -1, true},
		{"v2.0.0-rc1", "v1.9.9", 1, true},
		{"v1.2.3-dirty", "v1.2.3", 0, false},
		{"abcdef0", "v1.2.3", 0, false},
		{"abcdef0", "fedcba0", 0, false},
		{"v1.2.99999999999999999999", "v1.2.3", 0, false},
		{"", "v1.2.3", 0, false},
	} {
		order, known := Order(tt.a, tt.b)
		back, knownBack := Order(tt.b, tt.a)
		assert.Equal(t, []any{tt.order, tt.known, -tt.order, tt.known}, []any{order, known, back, knownBack}, "%s, %s", tt.a, tt.b)
	}
}

// A program with marks is recognised stripped, as a file and in an archive.
func TestProgramIsReadAndNotRun(t *testing.T) {
	longtest.Mark(t, "compiles the standard library for macOS")
	dir := t.TempDir()
	source := filepath.Join(dir, "cmd", "ccbot")
	require.NoError(t, os.MkdirAll(source, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module x\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(source, "main.go"), []byte(`package main

import "os"

var version string

func main() {
	if len(os.Args) > 5 {
		println(version, "<<ccbot folder 3 records 4 darwin/arm64>>")
	}
	os.WriteFile("ran", nil, 0o600)
}
`), 0o600))
	file := filepath.Join(dir, "ccbot")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", `-s -w -X "main.version=<<ccbot version v9.8.7>>"`, "-o", file, "./cmd/ccbot")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "GOFLAGS=", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	want := Release{Version: "v9.8.7", Platform: "darwin/arm64", Folder: 3, Records: 4}
	got, err := Read(file)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	archive := filepath.Join(dir, "ccbot-darwin-arm64.tar.gz")
	pack(t, archive, file, "ccbot-v9.8.7/ccbot")
	got, err = Read(archive)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	found, err := Find(dir, "darwin", "arm64")
	require.NoError(t, err)
	assert.Equal(t, file, found)
	require.NoError(t, os.Remove(file))
	found, err = Find(dir, "darwin", "arm64")
	require.NoError(t, err)
	assert.Equal(t, archive, found)
	_, err = Find(dir, "linux", "arm64")
	require.ErrorContains(t, err, "neither a ccbot nor one archive for linux/arm64")
	assert.NoFileExists(t, filepath.Join(dir, "ran"))
}

func pack(t *testing.T, archive, file, as string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	f, err := os.Create(archive)
	require.NoError(t, err)
	defer f.Close()
	zipped := gzip.NewWriter(f)
	entries := tar.NewWriter(zipped)
	require.NoError(t, entries.WriteHeader(&tar.Header{Name: as, Mode: 0o755, Size: int64(len(data)), Typeflag: tar.TypeReg}))
	_, err = entries.Write(data)
	require.NoError(t, err)
	require.NoError(t, entries.Close())
	require.NoError(t, zipped.Close())
}

func TestForeignFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	text, empty := filepath.Join(dir, "text"), filepath.Join(dir, "x.tar.gz")
	require.NoError(t, os.WriteFile(text, []byte("hello"), 0o600))
	pack(t, empty, text, "README")
	for _, file := range []string{text, empty, programtest.Require(t, "go")} {
		_, err := Read(file)
		assert.ErrorIs(t, err, errNone, file)
	}
	_, err := Read(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(empty, []byte("no gzip"), 0o600))
	_, err = Read(empty)
	require.Error(t, err)
}

func TestChecksum(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ccbot.tar.gz")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	right := fmt.Sprintf("%x", sha256.Sum256([]byte("x")))
	for list, want := range map[string]Sum{
		right + "  ccbot.tar.gz\n":                     SumRight,
		right + " *ccbot.tar.gz\n":                     SumRight,
		"0000  other\n" + right + "  ccbot.tar.gz\n":   SumRight,
		"00" + right[2:] + "  ccbot.tar.gz\n":          SumWrong,
		"nonsense  ccbot.tar.gz\n":                     SumWrong,
		right + "  other.tar.gz\nccbot.tar.gz\n\n a b": SumNone,
		"": SumNone,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(list), 0o600))
		got, err := Checksum(file)
		require.NoError(t, err)
		assert.Equal(t, want, got, list)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "SHA256SUMS")))
	got, err := Checksum(file)
	require.NoError(t, err)
	assert.Equal(t, SumNone, got)
}
