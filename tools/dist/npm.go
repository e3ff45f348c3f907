package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// npmLauncher is the program of the package ccbot.
//
//go:embed npm.js
var npmLauncher []byte

// npmPlatform returns npm's name of a processor, and the package of its platform. npm names systems
// as Go does.
func npmPlatform(goos, arch string) (cpu, name string) {
	if cpu = arch; arch == "amd64" {
		cpu = "x64"
	}
	return cpu, "ccbot-" + goos + "-" + cpu
}

// npmManifest is a package.json. No package has a script, so npm runs nothing when it installs.
type npmManifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Licence     string            `json:"license"`
	System      []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
}

// npmOf returns the package with the programs of a platform, which all has.
func (r release) npmOf(goos, arch string, all map[string]file) ([]byte, error) {
	cpu, name := npmPlatform(goos, arch)
	manifest := npmManifest{Name: name, System: []string{goos}, CPU: []string{cpu}, Description: "the programs of ccbot for " + goos + "/" + arch}
	files := map[string]file{"LICENSE": all["LICENSE"], "NOTICES": all["NOTICES"]}
	for _, program := range programNames {
		files[program] = all[program]
	}
	return r.npm(manifest, files)
}

// npmCcbot returns the package that people install: a launcher, which depends on the packages of the
// platforms.
func (r release) npmCcbot(platforms []string, all map[string]file) ([]byte, error) {
	manifest := npmManifest{Name: "ccbot", Description: summary, Bin: map[string]string{"ccbot": "ccbot.js"}, Optional: make(map[string]string)}
	for _, platform := range platforms {
		goos, arch, _ := strings.Cut(platform, "/")
		_, name := npmPlatform(goos, arch)
		manifest.Optional[name] = npmVersion(r.version)
	}
	return r.npm(manifest, map[string]file{"ccbot.js": {npmLauncher, 0o755}, "LICENSE": all["LICENSE"], "NOTICES": all["NOTICES"]})
}

func (r release) npm(manifest npmManifest, files map[string]file) ([]byte, error) {
	manifest.Version, manifest.Licence = npmVersion(r.version), projectLicence
	data, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return nil, err
	}
	files["package.json"] = file{append(data, '\n'), 0o644}
	return r.pack("package", files)
}

// afterTag is what Git says of a commit after a tag.
var afterTag = regexp.MustCompile(`^v(\d+\.\d+)\.(\d+)-(\d+)-(g.*)$`)

// npmVersion returns a version of npm. There a version with a hyphen is older than the same without,
// so a commit after v1.4.0 is on the way to 1.4.1.
func npmVersion(version string) string {
	if m := afterTag.FindStringSubmatch(version); m != nil {
		patch, _ := strconv.Atoi(m[2])
		return fmt.Sprintf("%s.%d-%s.%s", m[1], patch+1, m[3], m[4])
	}
	if number, found := strings.CutPrefix(version, "v"); found {
		return number
	}
	return "0.0.0-g" + version // a number may not begin with 0
}
