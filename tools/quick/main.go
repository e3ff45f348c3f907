// Command quick names the packages whose tests answer a change within a minute: those that the change touches, the packages
// that import them directly, and the rules of the tree. What it leaves out, it says; `make quick` runs what it prints.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

const module = "ccbot"

// many is the number of importers above which only the package and the tests of the whole chat run: those of all importers take
// as long as `make test`.
const many = 40

// slow are the packages that are left out unless they are touched, because each takes most of a minute.
var slow = []string{"e2e", "cmd/ccbot"}

// rules are the packages that hold the rules of the tree.
var rules = []string{"internal/repotest", "internal/process", "i18n", "port", "internal/session", "fleet/wire", "bot/chat/chattest"}

// pkg is one package of `go list`.
type pkg struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// choice is what runs, and what does not, with the reason.
type choice struct {
	run  []string
	left []string
}

// choose decides which packages a change of files concerns.
func choose(files []string, packages []pkg) (c choice) {
	importers := make(map[string][]string)
	known := make(map[string]bool)
	for _, p := range packages {
		name := folder(p.ImportPath)
		known[name] = true
		for _, to := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if to := folder(to); to != name && !slices.Contains(importers[to], name) {
				importers[to] = append(importers[to], name)
			}
		}
	}
	var touched []string
	for _, file := range files {
		at := owner(file, known)
		if at == "" && !strings.HasSuffix(file, ".md") { // the rules read the documents
			c.left = append(c.left, file+" belongs to no package of the module")
		} else if at != "" && !slices.Contains(touched, at) {
			touched = append(touched, at)
		}
	}
	add := func(to *[]string, name string) {
		if !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for _, name := range append(slices.Clone(touched), rules...) {
		if known[name] {
			add(&c.run, name)
		}
	}
	for _, name := range touched {
		direct := importers[name]
		if len(direct) > many {
			c.left = append(c.left, fmt.Sprintf("%d packages import %s: of their tests only those of ./bot run", len(direct), name))
			direct = []string{"bot"}
		}
		for _, one := range direct {
			if slices.Contains(slow, one) && !slices.Contains(touched, one) {
				add(&c.left, "./"+one+" imports "+name+", and its tests take too long")
			} else {
				add(&c.run, one)
			}
		}
	}
	return c
}

// owner is the package that a file belongs to: its folder, or the next one above it, such as that of test data.
func owner(file string, known map[string]bool) string {
	for at := path.Dir(file); at != "."; at = path.Dir(at) {
		if known[at] {
			return at
		}
	}
	return ""
}

func folder(importPath string) string { return strings.TrimPrefix(importPath, module+"/") }

// changed are the files that differ from a commit, new ones included; without a commit and without a change those of the last
// commit.
func changed(base string) ([]string, error) {
	now, err := lines("git", "diff", "--name-only", "--no-renames", "-z", cmp.Or(base, "HEAD"))
	if err != nil {
		return nil, err
	}
	untracked, err := lines("git", "ls-files", "--others", "--exclude-standard", "-z")
	if now = append(now, untracked...); err != nil || len(now) > 0 || base != "" {
		return now, err
	}
	return lines("git", "diff", "--name-only", "--no-renames", "-z", "HEAD~")
}

// lines runs a command that ends each name with a zero byte.
func lines(name string, args ...string) ([]string, error) {
	var said bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 }), nil
}

func list() (all []pkg, err error) {
	out, err := exec.Command(cmp.Or(os.Getenv("GO"), "go"), "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

func run(base string, out, errors io.Writer) error {
	files, err := changed(base)
	if err != nil {
		return err
	}
	packages, err := list()
	if err != nil {
		return err
	}
	c := choose(files, packages)
	fmt.Fprintf(errors, "%d files have changed: %d packages run\n", len(files), len(c.run))
	for _, why := range c.left {
		fmt.Fprintln(errors, "left out:", why)
	}
	for _, name := range c.run {
		fmt.Fprintln(out, "./"+name)
	}
	return nil
}

// quick FOLDER [COMMIT]
func main() {
	err := os.Chdir(os.Args[1])
	if err == nil {
		err = run(strings.Join(os.Args[2:], ""), os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quick:", err)
		os.Exit(1)
	}
}
