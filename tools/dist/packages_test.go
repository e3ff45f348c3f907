package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/blakesmith/ar"
)

// TestPackageVersion compares versions with their order: each is newer than the one before it.
func TestPackageVersion(t *testing.T) {
	for version, want := range map[string]string{"ce8ee875": "0~ce8ee875", "unknown": "0~unknown", "ce8ee875-dirty": "0~ce8ee875.dirty",
		"v1.4.0": "1.4.0", "v1.4.0-3-gabcdef": "1.4.0+3.gabcdef", "v1.4.0-3-gabcdef-dirty": "1.4.0+3.gabcdef.dirty"} {
		if got := packageVersion(version); got != want {
			t.Errorf("packageVersion(%q) = %q, want %q", version, got, want)
		}
	}
}

// TestDebContents reads a package back: its fields, its paths and modes, and a compressed man page.
func TestDebContents(t *testing.T) {
	all := map[string]file{"README.md": {[]byte("readme"), 0o644}, "docs/setup.md": {[]byte("setup"), 0o644}, "NOTICES": {[]byte("terms"), 0o644},
		"man/ccbot.1": {[]byte("page"), 0o644}, "systemd/ccbot.service": {[]byte("[Unit]"), 0o644}, "systemd/ccbot-hub.service": {[]byte("[Hub]"), 0o644}}
	for _, name := range []string{"ccbot", "ccbot-codex", "ccbot-hook", "ccbot-hub", "ccbot-try"} {
		all[name] = file{[]byte(name), 0o755}
	}
	for _, name := range []string{"ccbot.bash", "ccbot.fish", "_ccbot"} {
		all["completions/"+name] = file{[]byte(name), 0o644}
	}
	r := release{version: "v1.4.0", at: time.Unix(1700000000, 0).UTC()}
	made, err := r.packages(t.TempDir(), "arm64", all)
	if err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(made)); !slices.Equal(got, []string{"ccbot-v1.4.0-linux-arm64.deb",
		"ccbot-v1.4.0-linux-arm64.pkg.tar.zst", "ccbot-v1.4.0-linux-arm64.rpm"}) {
		t.Errorf("packages are %q", got)
	}
	deb := made["ccbot-v1.4.0-linux-arm64.deb"]
	control := string(unpack(t, deb, "control.tar.gz")["./control"].data)
	for _, line := range []string{"Version: 1.4.0-1", "Architecture: arm64", "Depends: tmux (>= 3.2), ca-certificates", "Recommends: git"} {
		if !strings.Contains(control, line+"\n") {
			t.Errorf("no %q in\n%s", line, control)
		}
	}
	files := unpack(t, deb, "data.tar.gz")
	for name, want := range map[string]file{"usr/bin/ccbot": {[]byte("ccbot"), 0o755}, "usr/bin/ccbot-hook": {[]byte("ccbot-hook"), 0o755},
		"usr/bin/ccbot-try":                              {[]byte("ccbot-try"), 0o755},
		"usr/bin/ccbot-codex":                            {[]byte("ccbot-codex"), 0o755},
		"usr/bin/ccbot-hub":                              {[]byte("ccbot-hub"), 0o755},
		"usr/lib/systemd/user/ccbot.service":             {[]byte("[Unit]"), 0o644},
		"usr/lib/systemd/user/ccbot-hub.service":         {[]byte("[Hub]"), 0o644},
		"usr/share/doc/ccbot/copyright":                  {[]byte("terms"), 0o644},
		"usr/share/doc/ccbot/docs/setup.md":              {[]byte("setup"), 0o644},
		"usr/share/zsh/vendor-completions/_ccbot":        {[]byte("_ccbot"), 0o644},
		"usr/share/fish/vendor_completions.d/ccbot.fish": {[]byte("ccbot.fish"), 0o644}} {
		if got := files["./"+name]; string(got.data) != string(want.data) || got.mode != want.mode {
			t.Errorf("%s is %q with mode %o", name, got.data, got.mode)
		}
	}
	page, err := gzip.NewReader(bytes.NewReader(files["./usr/share/man/man1/ccbot.1.gz"].data))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(page); err != nil || string(text) != "page" {
		t.Errorf("the man page is %q, %v", text, err)
	}
}

// unpack returns the files of a part of a deb package.
func unpack(t *testing.T, deb []byte, part string) map[string]file {
	t.Helper()
	parts := ar.NewReader(bytes.NewReader(deb))
	for {
		header, err := parts.Next()
		if err != nil {
			t.Fatalf("%s: %v", part, err)
		}
		if strings.TrimSuffix(header.Name, "/") == part {
			break
		}
	}
	plain, err := gzip.NewReader(parts)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]file)
	for packed := tar.NewReader(plain); ; {
		header, err := packed.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(packed)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = file{data, header.Mode}
	}
}

// TestNoticesNameEachModule: each module that is linked has its licence in the notices.
func TestNoticesNameEachModule(t *testing.T) {
	env, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	r := release{root: "../..", env: env}
	platforms := []string{"linux/amd64", "darwin/arm64"}
	modules, err := r.modules(platforms)
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) < 20 {
		t.Fatalf("only %d modules", len(modules))
	}
	text, err := r.notices(platforms)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range append(modules, part{name: "Go's standard library"}, part{name: "the fonts of ccbot's pictures"}) {
		if !bytes.Contains(text, []byte("\n"+one.name)) {
			t.Errorf("no licence of %s", one.name)
		}
	}
}
