// Dist packs a release: an archive and a package of npm for each platform, packages of Debian, of RPM
// and of Arch Linux for each Linux platform, and the checksums of all, in SHA256SUMS.
//
//	go run -C tools ./dist ROOT OUT VERSION COMMIT SECONDS OS/ARCH...
//
// ROOT is the folder of the sources and SECONDS the time that all files of the archives get. The
// same sources, Go and arguments give the same bytes, wherever ROOT is and whoever builds.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) < 7 {
		fmt.Fprintln(os.Stderr, "usage: dist ROOT OUT VERSION COMMIT SECONDS OS/ARCH...")
		os.Exit(2)
	}
	seconds, err := strconv.ParseInt(os.Args[5], 10, 64)
	var env []string
	if err == nil {
		env, err = environment()
	}
	if err == nil {
		r := release{root: os.Args[1], out: os.Args[2], version: os.Args[3], commit: os.Args[4], at: time.Unix(seconds, 0).UTC(), env: env}
		err = r.make(os.Args[6:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

type release struct {
	root, out, version, commit string
	at                         time.Time
	env                        []string // of all commands
}

// environment is the builder's own without what would change the programs, such as GOFLAGS and
// GOAMD64, in the environment, in the file of `go env -w` or in a go.work above. Only the places
// where Go finds and keeps modules are the builder's.
func environment() ([]string, error) {
	places := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GONOPROXY", "GOSUMDB", "GONOSUMDB", "GOINSECURE", "GOAUTH", "GOTOOLCHAIN"}
	values, err := exec.Command("go", append([]string{"env"}, places...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GO") })
	for i, value := range strings.Split(strings.TrimSuffix(string(values), "\n"), "\n") {
		env = append(env, places[i]+"="+value)
	}
	return append(env, "GOENV=off", "GOWORK=off", "CGO_ENABLED=0"), nil
}

// file is one of an archive.
type file struct {
	data []byte
	mode int64
}

func (r release) make(platforms []string) error {
	scratch, err := os.MkdirTemp("", "ccbot-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	common, err := r.common(scratch)
	if err != nil {
		return err
	}
	notices, err := r.notices(platforms)
	if err != nil {
		return err
	}
	common["NOTICES"] = file{notices, 0o644}
	// An archive of an earlier version would be a second one for its platform.
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	launcher, err := r.npmCcbot(platforms, common)
	if err != nil {
		return err
	}
	var sums strings.Builder
	if err := r.write(map[string][]byte{"ccbot-" + r.version + ".npm.tgz": launcher}, &sums); err != nil {
		return err
	}
	for _, platform := range platforms {
		goos, arch, found := strings.Cut(platform, "/")
		if !found {
			return fmt.Errorf("%s is no platform such as linux/amd64", platform)
		}
		programs, err := r.build(filepath.Join(scratch, goos+"-"+arch), "GOOS="+goos, "GOARCH="+arch)
		if err != nil {
			return err
		}
		maps.Copy(programs, common)
		name := r.name(goos, arch)
		packed, err := r.pack(name, withInstall(programs))
		if err != nil {
			return err
		}
		npm, err := r.npmOf(goos, arch, programs)
		if err != nil {
			return err
		}
		made := map[string][]byte{name + ".tar.gz": packed, name + ".npm.tgz": npm}
		if goos == "linux" {
			packages, err := r.packages(scratch, arch, programs)
			if err != nil {
				return err
			}
			maps.Copy(made, packages)
		}
		if err := r.write(made, &sums); err != nil {
			return err
		}
	}
	fmt.Print(sums.String())
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// write writes files of the release, and their checksums.
func (r release) write(made map[string][]byte, sums io.Writer) error {
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if err := os.WriteFile(filepath.Join(r.out, name), made[name], 0o644); err != nil {
			return err
		}
		fmt.Fprintf(sums, "%x  %s\n", sha256.Sum256(made[name]), name)
	}
	return nil
}

// installScript puts the programs of the archive below a person's home folder.
//
//go:embed install.sh
var installScript []byte

// withInstall adds to the files of an archive their checksums, and the script that checks them.
func withInstall(all map[string]file) map[string]file {
	packed := maps.Clone(all)
	packed["install"] = file{installScript, 0o755}
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(packed)) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(packed[name].data), name)
	}
	packed["SHA256SUMS"] = file{[]byte(sums.String()), 0o644}
	return packed
}

// programNames are the programs of a release.
var programNames = []string{"ccbot", "ccbot-codex", "ccbot-hook", "ccbot-hub", "ccbot-try"}

// mainPackages returns the Go packages of the programs.
func mainPackages() (all []string) {
	for _, name := range programNames {
		all = append(all, "./cmd/"+name)
	}
	return all
}

// started is the line of a unit with the program of this build.
var started = regexp.MustCompile(`(?m)^ExecStart=.*$`)

// name is the name of a platform's archive and packages, without an ending, and of the archive's
// folder.
func (r release) name(goos, arch string) string {
	return fmt.Sprintf("ccbot-%s-%s-%s", r.version, goos, arch)
}

// build returns the programs of one platform.
func (r release) build(dir string, env ...string) (map[string]file, error) {
	stamp := fmt.Sprintf("-s -w -X main.version=%s -X 'main.commit=%s'", r.version, r.commit)
	_, err := r.run(r.root, nil, env, "go", append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", stamp,
		"-o", dir + string(filepath.Separator)}, mainPackages()...)...)
	if err != nil {
		return nil, err
	}
	return read(dir, "", 0o755)
}

// archiveReadme is for people who have the archive and not the sources.
//
//go:embed archive.txt
var archiveReadme []byte

// documents returns the pages for people. The folders of docs, such as docs/dev, are for
// developers.
func (r release) documents() (map[string]file, error) {
	files, err := read(filepath.Join(r.root, "docs"), "docs", 0o644)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(files, func(name string, _ file) bool { return path.Dir(name) != "docs" || path.Ext(name) != ".md" })
	files["README.md"] = file{archiveReadme, 0o644}
	for _, name := range []string{"CHANGELOG.md", "LICENSE"} {
		data, err := os.ReadFile(filepath.Join(r.root, name))
		if err == nil {
			files[name] = file{data, 0o644}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return files, nil
}

// common returns the files of all archives: documents, completions and man pages.
func (r release) common(scratch string) (map[string]file, error) {
	files, err := r.documents()
	if err != nil {
		return nil, err
	}
	here := filepath.Join(scratch, "here")
	if _, err := r.build(here); err != nil {
		return nil, err
	}
	ccbot := filepath.Join(here, "ccbot")
	for shell, name := range map[string]string{"bash": "ccbot.bash", "zsh": "_ccbot", "fish": "ccbot.fish"} {
		script, err := r.run(scratch, nil, nil, ccbot, "completion", shell)
		if err != nil {
			return nil, err
		}
		files["completions/"+name] = file{script, 0o644}
	}
	unit, err := r.run(scratch, nil, nil, ccbot, "describe-unit")
	if err != nil {
		return nil, err
	}
	files["systemd/ccbot.service"] = file{unit, 0o644}
	if unit, err = r.run(scratch, nil, nil, filepath.Join(here, "ccbot-hub"), "unit"); err != nil {
		return nil, err
	}
	files["systemd/ccbot-hub.service"] = file{started.ReplaceAll(unit, []byte("ExecStart=/usr/bin/ccbot-hub")), 0o644}
	man := filepath.Join(scratch, "man")
	epoch := "SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.at.Unix(), 10) // the date in the pages
	for _, program := range []string{ccbot, filepath.Join(here, "ccbot-hub")} {
		commands, err := r.run(scratch, nil, nil, program, "describe-commands")
		if err != nil {
			return nil, err
		}
		if _, err := r.run(filepath.Join(r.root, "tools"), commands, []string{epoch}, "go", "run", "./man", man); err != nil {
			return nil, err
		}
	}
	pages, err := read(man, "man", 0o644)
	maps.Copy(files, pages)
	return files, err
}

// run returns the output of a command.
func (r release) run(dir string, input []byte, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, slices.Concat(r.env, env), os.Stderr
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return out, nil
}

// read returns the files of a folder, by their names in the archive. It skips hidden files, which
// editors and systems make.
func read(dir, as string, mode int64) (map[string]file, error) {
	files := make(map[string]file)
	return files, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		inside, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		files[path.Join(as, filepath.ToSlash(inside))] = file{data, mode}
		return err
	})
}

// pack returns an archive: the files in order, with one time and owner 0.
func (r release) pack(folder string, files map[string]file) ([]byte, error) {
	var packed bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		header := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + name, Mode: f.mode, Size: int64(len(f.data)), ModTime: r.at}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
