package release

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"ccbot/internal/lazyregexp"
)

// Release holds the marks of a program.
type Release struct {
	Version  string // empty: the build was not given one
	Platform string // such as "linux/amd64"
	Folder   int    // the version of the state folder that it knows
	Records  int    // the version of the records that it writes
}

// Platform is that of this program.
const Platform = runtime.GOOS + "/" + runtime.GOARCH

// State is the mark of this program: the version of the state folder that it knows, and of the
// records that it writes. A test compares the figures.
const State = "<<ccbot folder 2 records 2 " + Platform + ">>"

var (
	versionPattern = lazyregexp.New(`<<ccbot version ([0-9A-Za-z.+_-]{1,100})>>`)
	statePattern   = lazyregexp.New(`<<ccbot folder (\d{1,9}) records (\d{1,9}) ([0-9a-z]{1,20}/[0-9a-z]{1,20})>>`)
)

// Version is the version in a mark that a build was given; a text without a mark is the version.
func Version(mark string) string {
	if found := versionPattern.FindStringSubmatch(mark); found != nil {
		return found[1]
	}
	return mark
}

// Built is the version that Go has noted in a program.
func Built(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return info.Main.Version
}

// mostBytes bounds a program.
const mostBytes = 256 << 20

// errNone says that a file is something else.
var errNone = errors.New("is no ccbot")

// Find returns the file for a name: the file itself, or of a folder the program in it, or its only
// archive for a platform.
func Find(name, goos, goarch string) (string, error) {
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return name, err
	}
	program := filepath.Join(name, "ccbot")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	archives, _ := filepath.Glob(filepath.Join(name, "ccbot*"+goos+"*"+goarch+"*.tar.gz"))
	if len(archives) != 1 {
		return "", fmt.Errorf("%s has neither a ccbot nor one archive for %s/%s", name, goos, goarch)
	}
	return archives[0], nil
}

// Read reads a program, or the one in an archive.
func Read(name string) (Release, error) {
	data, err := program(name)
	if err != nil {
		return Release{}, fmt.Errorf("%s: %w", name, err)
	}
	r, ok := Of(data)
	if !ok {
		return Release{}, fmt.Errorf("%s %w", name, errNone)
	}
	return r, nil
}

// Of returns the marks in a program; ok reports whether it is a ccbot.
func Of(program []byte) (r Release, ok bool) {
	found := statePattern.FindSubmatch(program)
	if found == nil {
		return Release{}, false
	}
	r.Folder, _ = strconv.Atoi(string(found[1]))
	r.Records, _ = strconv.Atoi(string(found[2]))
	r.Platform = string(found[3])
	if found := versionPattern.FindSubmatch(program); found != nil {
		r.Version = string(found[1])
	}
	return r, true
}

func program(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if !strings.HasSuffix(name, ".gz") && !strings.HasSuffix(name, ".tgz") {
		return bounded(f)
	}
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	archive := tar.NewReader(unzipped)
	for {
		entry, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, errNone
		}
		if err != nil {
			return nil, err
		}
		if path.Base(entry.Name) == "ccbot" && entry.Typeflag == tar.TypeReg {
			return bounded(archive)
		}
	}
}

func bounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err == nil && len(data) > mostBytes {
		err = errNone
	}
	return data, err
}

// Order compares two versions: below 0 if a is older. known is false if the order is unknown, as
// for commits.
func Order(a, b string) (order int, known bool) {
	if a == b {
		return 0, true
	}
	one, other := parse(a), parse(b)
	if one == nil || other == nil {
		return 0, false
	}
	for i := range one {
		if order := cmp.Compare(one[i], other[i]); order != 0 {
			return order, true
		}
	}
	return 0, false // such as two trees with changes that no commit has
}

// described matches a version, and the output of `git describe` for a commit after one.
var described = lazyregexp.New(`^v?(\d+)\.(\d+)\.(\d+)(?:-rc\.?(\d+))?(?:-(\d+)-g[0-9a-f]+)?(?:-dirty)?$`)

// parse returns the numbers of a version, nil if it has none. A candidate comes before its release.
func parse(version string) (numbers []int) {
	found := described.FindStringSubmatch(version)
	if found == nil {
		return nil
	}
	for i, text := range found[1:] {
		n, err := strconv.Atoi(text)
		if text == "" && i == 3 {
			n = int(^uint(0) >> 1)
		} else if text != "" && err != nil {
			return nil
		}
		numbers = append(numbers, n)
	}
	return numbers
}
