// Faults runs the trials of faults of the machine, prints their outcomes, and writes them into
// testdata/outcomes.md:
//
//	go run -C tools ./faults ROOT
//
// The trials are in tools/faults/trials.txt. A trial that this machine or user cannot make is
// listed as not run, with the reason.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// trial is a row of trials.txt.
type trial struct {
	name, fault string
	tests       []string // package.Name
	without     string   // why there is no test
}

// outcome is the result of a test.
type outcome struct {
	passed bool
	notRun string // the reason; empty: it ran
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: faults ROOT")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	data, err := os.ReadFile(filepath.Join(root, "tools/faults/trials.txt"))
	if err != nil {
		return err
	}
	trials := parse(string(data))
	outcomes := make(map[string]outcome)
	packages := byPackage(trials)
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintln(os.Stderr, "==", pkg, strings.Join(packages[pkg], " "))
		maps.Copy(outcomes, testsOf(root, pkg, packages[pkg]))
	}
	text := table(trials, outcomes)
	fmt.Print(text)
	page := filepath.Join(root, "tools/faults/testdata/outcomes.md")
	if err := os.WriteFile(page, []byte(preface+text), 0o644); err != nil { //nolint:gosec // for everybody to read
		return err
	}
	for test, o := range outcomes {
		if !o.passed && o.notRun == "" {
			err = errors.Join(err, fmt.Errorf("%s failed", test))
		}
	}
	return err
}

func parse(table string) (all []trial) {
	for line := range strings.Lines(table) {
		cells := strings.SplitN(strings.TrimSpace(line), " | ", 3)
		if strings.HasPrefix(line, "#") || len(cells) < 3 {
			continue
		}
		t := trial{name: cells[0], fault: cells[1]}
		if why, none := strings.CutPrefix(cells[2], "- "); none {
			t.without = why
		} else {
			t.tests = strings.Split(cells[2], ", ")
		}
		all = append(all, t)
	}
	return all
}

func byPackage(trials []trial) map[string][]string {
	all := make(map[string][]string)
	for _, t := range trials {
		for _, test := range t.tests {
			dot := strings.LastIndexByte(test, '.')
			all[test[:dot]] = append(all[test[:dot]], test[dot+1:])
		}
	}
	return all
}

// testsOf runs the tests of a package. A test that go test does not report has failed.
func testsOf(root, pkg string, names []string) map[string]outcome {
	cmd := exec.Command("go", "test", "-json", "-count=1", "-timeout=20m", "-run", "^("+strings.Join(names, "|")+")$", "./"+pkg)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, _ := cmd.Output() // a failed test is in the output
	all := make(map[string]outcome)
	for _, name := range names {
		all[pkg+"."+name] = outcome{}
	}
	reasons := make(map[string]string)
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct{ Action, Test, Output string }
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Test == "" {
			continue
		}
		test, _, _ := strings.Cut(event.Test, "/")
		if _, why, ok := strings.Cut(event.Output, "SKIPPED: "); ok {
			reasons[test] = strings.TrimSpace(why)
		}
		if test != event.Test {
			continue
		}
		switch event.Action {
		case "pass":
			all[pkg+"."+test] = outcome{passed: true}
		case "skip":
			why := reasons[test]
			if why == "" {
				why = "the test skips itself"
			}
			all[pkg+"."+test] = outcome{notRun: why}
		}
	}
	return all
}

// table returns the outcomes as Markdown: a row for each fault.
func table(trials []trial, outcomes map[string]outcome) string {
	var b strings.Builder
	b.WriteString("| trial | fault | tests | outcome |\n|---|---|---|---|\n")
	for _, t := range trials {
		var names, ends []string
		for _, test := range t.tests {
			names = append(names, "`"+test[strings.LastIndexByte(test, '.')+1:]+"`")
			ends = append(ends, outcomes[test].String())
		}
		if t.without != "" {
			ends = []string{"not run: " + t.without}
		}
		if len(slices.Compact(slices.Clone(ends))) == 1 {
			ends = ends[:1]
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.name, t.fault, strings.Join(names, " "), strings.Join(ends, ", "))
	}
	return b.String()
}

func (o outcome) String() string {
	switch {
	case o.passed:
		return "passed"
	case o.notRun != "":
		return "not run: " + o.notRun
	}
	return "**failed**"
}

const preface = `# Faults of the machine

Written by ` + "`make faults`" + `. D: a fault of the disk, the network, tmux or the machine; U: of an upgrade, of use or of removal. Each of
these once cost a message or an answer; "held" never did.

`
