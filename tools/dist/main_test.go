package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Neither the environment nor `go env -w` changes a program.
func TestBuildIgnoresBuildersSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte("GOARM64=v9.0\nGOFLAGS=-tags=b\nGOPROXY=https://proxy.example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	for name, value := range map[string]string{"GOENV": file, "GOAMD64": "v3", "GOFLAGS": "-tags=a", "GOEXPERIMENT": "nogreenteagc", "CGO_ENABLED": "1",
		"GOOS": "darwin", "GOFIPS140": "latest", "GOWORK": filepath.Join(cache, "go.work"), "GOCACHE": cache, "GOPROXY": ""} {
		t.Setenv(name, value)
	}
	if err := os.Unsetenv("GOPROXY"); err != nil { // t.Setenv has noted what it was
		t.Fatal(err)
	}
	env, err := environment()
	if err != nil {
		t.Fatal(err)
	}
	got, err := release{env: env}.run(t.TempDir(), nil, []string{"GOARCH=amd64"}, "go", "env",
		"GOAMD64", "GOARM64", "GOFLAGS", "GOEXPERIMENT", "CGO_ENABLED", "GOFIPS140", "GOWORK", "GOPROXY", "GOCACHE")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{"v1", "", "", "", "0", "off", "off", "https://proxy.example", cache, ""}, "\n")
	if string(got) != want {
		t.Errorf("go env is\n%swant\n%s", got, want)
	}
}

// A user of the archive does not have the sources, and no pages for developers.
func TestArchiveLinksLeadToFiles(t *testing.T) {
	files, err := release{root: filepath.Join("..", "..")}.documents()
	if err != nil {
		t.Fatal(err)
	}
	if _, there := files["docs/manual.md"]; !there {
		t.Error("no manual")
	}
	link := regexp.MustCompile(`(?:\]\(|<img src=")([^:#)"]+)[#)"]`)
	for name, page := range files {
		if strings.HasPrefix(name, "docs/dev/") || name == "CONTRIBUTING.md" {
			t.Errorf("%s is for developers", name)
		}
		if path.Ext(name) != ".md" {
			continue
		}
		for _, to := range link.FindAllStringSubmatch(string(page.data), -1) {
			if _, there := files[path.Join(path.Dir(name), to[1])]; !there {
				t.Errorf("%s leads to %s, which is not in the archive", name, to[1])
			}
		}
	}
}
