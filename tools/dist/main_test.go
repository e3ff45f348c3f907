package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
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
		if strings.HasPrefix(name, "docs/") && path.Dir(name) != "docs" || path.Ext(name) == ".txt" || name == "CONTRIBUTING.md" {
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

// Documents, helps and examples name the files that a release has.
func TestTextsNameFilesOfRelease(t *testing.T) {
	root := filepath.Join("..", "..")
	named := regexp.MustCompile(`\bccbot[-_][\w.-]*(?:linux|darwin|amd64|arm64|x86_64)[\w.-]*`)
	platform := regexp.MustCompile(`-(linux|darwin)-(amd64|arm64)`)
	found := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case d.IsDir() || strings.HasSuffix(name, "_test.go") || !slices.Contains([]string{".md", ".go", ".txt", ".json"}, path.Ext(name)):
			return nil
		}
		data, err := os.ReadFile(name)
		for _, text := range named.FindAllString(string(data), -1) {
			found++
			m := platform.FindStringSubmatch(text)
			if m == nil {
				t.Errorf("%s names %s, which has no platform of a release", name, text)
				continue
			}
			for _, version := range []string{"VERSION", "v1.4.0", "v1.5.0"} {
				if strings.Contains(text, version) {
					m = append(m, version)
				}
			}
			if len(m) != 4 {
				t.Errorf("%s names %s, which has no version", name, text)
				continue
			}
			known := []string{".tar.gz", ".npm.tgz", ""}
			if m[1] == "linux" {
				for _, f := range formats {
					known = append(known, f.ending)
				}
			}
			made := release{version: m[3]}.name(m[1], m[2])
			if !slices.ContainsFunc(known, func(ending string) bool { return text == made+ending }) {
				t.Errorf("%s names %s; a release has %s", name, text, made)
			}
		}
		return err
	})
	if err != nil || found < 4 {
		t.Errorf("found %d names: %v", found, err)
	}
}
