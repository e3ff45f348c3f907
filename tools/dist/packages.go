package main

import (
	"bytes"
	"compress/gzip"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/arch"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// What a package says of the project. docs/release.md lists what its owner fills in before the first one is published.
const (
	projectLicence = "MIT"
	maintainer     = "the ccbot authors <nobody@localhost>"
	summary        = "Claude Code and Codex in tmux windows, from Telegram"
)

// format is a kind of package. Its arch has the names of processors that differ from Go's.
type format struct {
	name       string // as nfpm knows it
	ending     string
	arch       map[string]string
	zsh        string // folder of the completions of zsh
	depends    []string
	recommends []string
}

var formats = []format{
	{name: "deb", ending: ".deb", zsh: "/usr/share/zsh/vendor-completions", depends: []string{"tmux (>= 3.2)", "ca-certificates"}, recommends: []string{"git"}},
	{name: "rpm", ending: ".rpm", zsh: "/usr/share/zsh/site-functions", depends: []string{"tmux >= 3.2", "ca-certificates"}, recommends: []string{"git"},
		arch: map[string]string{"amd64": "x86_64", "arm64": "aarch64"}},
	{name: "archlinux", ending: ".pkg.tar.zst", zsh: "/usr/share/zsh/site-functions", depends: []string{"tmux>=3.2", "ca-certificates"}},
}

// packages returns the packages of a Linux platform by their file names. all are the files of its
// archive.
func (r release) packages(scratch, arch string, all map[string]file) (map[string][]byte, error) {
	made := make(map[string][]byte)
	for _, f := range formats {
		placed, err := f.place(all)
		if err != nil {
			return nil, err
		}
		contents, err := stage(filepath.Join(scratch, f.name+"-"+arch), placed)
		if err != nil {
			return nil, err
		}
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "ccbot", Arch: arch, Platform: "linux", Version: packageVersion(r.version), VersionSchema: "none", Release: "1",
			Section: "utils", Priority: "optional", Maintainer: maintainer, License: projectLicence, MTime: r.at,
			Description: summary + "\nEach session runs in a window on this machine.",
			Overridables: nfpm.Overridables{Contents: contents, Depends: f.depends, Recommends: f.recommends,
				RPM: nfpm.RPM{BuildHost: "localhost"}},
		})
		packager, err := nfpm.Get(f.name)
		if err != nil {
			return nil, err
		}
		if err := nfpm.PrepareForPackager(info, f.name); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := packager.Package(info, &b); err != nil {
			return nil, err
		}
		made[r.name("linux", arch)+f.ending] = b.Bytes()
	}
	return made, nil
}

// packageVersion returns a version that all formats order as Git does: a commit after v1.4.0 is
// newer than v1.4.0, and a commit without a version is older than any version.
func packageVersion(version string) string {
	number, found := strings.CutPrefix(version, "v")
	if !found || number == "" || number[0] < '0' || number[0] > '9' {
		return "0~" + strings.ReplaceAll(version, "-", ".")
	}
	number, more, _ := strings.Cut(number, "-")
	if more == "" {
		return number
	}
	return number + "+" + strings.ReplaceAll(more, "-", ".")
}

// place returns the files of a package by their paths.
func (f format) place(all map[string]file) (map[string]file, error) {
	const doc = "/usr/share/doc/ccbot/"
	placed := map[string]file{doc + "copyright": all["NOTICES"]}
	for _, name := range []string{"ccbot.service", "ccbot-hub.service"} {
		placed["/usr/lib/systemd/user/"+name] = all["systemd/"+name]
	}
	for _, name := range programNames {
		placed["/usr/bin/"+name] = all[name]
	}
	placed["/usr/share/bash-completion/completions/ccbot"] = all["completions/ccbot.bash"]
	placed["/usr/share/fish/vendor_completions.d/ccbot.fish"] = all["completions/ccbot.fish"]
	placed[f.zsh+"/_ccbot"] = all["completions/_ccbot"]
	for name, one := range all {
		switch {
		case strings.HasPrefix(name, "man/"):
			data, err := zip(one.data)
			if err != nil {
				return nil, err
			}
			placed["/usr/share/man/man1/"+path.Base(name)+".gz"] = file{data, one.mode}
		case path.Ext(name) == ".md", strings.HasPrefix(name, "docs/"):
			placed[doc+name] = one
		}
	}
	return placed, nil
}

// stage writes files below a folder and returns the contents of a package that has them.
func stage(dir string, placed map[string]file) (contents files.Contents, err error) {
	for _, name := range slices.Sorted(maps.Keys(placed)) {
		source := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(source, placed[name].data, 0o644); err != nil {
			return nil, err
		}
		contents = append(contents, &files.Content{Source: source, Destination: name,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: os.FileMode(placed[name].mode)}})
	}
	return contents, nil
}

// zip compresses a man page. Its header has no time and no name.
func zip(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
