package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// licenceFile matches the names of files with the terms of a module.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|ofl)([.-].*)?$`)

// notices returns the licences of all that is linked into the programs: Go's standard library, the
// modules, and the fonts that are part of ccbot. A module without a licence is an error.
func (r release) notices(platforms []string) ([]byte, error) {
	modules, err := r.modules(platforms)
	if err != nil {
		return nil, err
	}
	root, err := r.run(r.root, nil, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	parts := []part{{"Go's standard library, " + runtime.Version(), strings.TrimSpace(string(root))}}
	fonts, err := filepath.Glob(filepath.Join(r.root, "internal", "*", "fonts", "LICENSE"))
	if err != nil {
		return nil, err
	}
	for _, name := range fonts {
		parts = append(parts, part{"the fonts of ccbot's pictures", filepath.Dir(name)})
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "ccbot's own licence: %s.\n\nccbot contains the following, each under its own terms.\n", projectLicence)
	for _, one := range append(parts, modules...) {
		text, err := licence(one.folder)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n", strings.Repeat("=", 80), one.name, text)
	}
	return b.Bytes(), nil
}

// part is something with a licence, and the folder that contains it.
type part struct{ name, folder string }

// modules returns the modules that are linked on any of the platforms.
func (r release) modules(platforms []string) (all []part, err error) {
	const form = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`
	for _, platform := range platforms {
		goos, arch, _ := strings.Cut(platform, "/")
		out, err := r.run(r.root, nil, []string{"GOOS=" + goos, "GOARCH=" + arch}, "go",
			append([]string{"list", "-deps", "-f", form}, mainPackages()...)...)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(out)) {
			if name, folder, found := strings.Cut(strings.TrimSpace(line), "\t"); found {
				all = append(all, part{name, folder})
			}
		}
	}
	slices.SortFunc(all, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return slices.Compact(all), nil
}

// licence returns the texts of a folder's licence files.
func licence(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	var texts strings.Builder
	for _, e := range entries {
		if !e.Type().IsRegular() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&texts, "\n-- %s\n\n%s\n", e.Name(), bytes.TrimSpace(data))
	}
	if texts.Len() == 0 {
		return "", fmt.Errorf("no licence in %s", folder)
	}
	return texts.String(), nil
}
