package disktest

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed calls.txt
var calls string

// Class is the required effect of a failed call.
type Class string

// The classes. Scenarios make the calls of the first three fail.
const (
	Retried  Class = "retried"  // accepted work: it is done within HealTime after the fault
	Reported Class = "reported" // a person or a program asks for it now, and gets the failure
	Repeated Class = "repeated" // the next turn does it, or nothing is lost without it
	Start    Class = "start"    // made before the bot accepts anything: a start may refuse
	// made by a verb, the hook or a build for tests, which try nothing again
	Verb  Class = "verb"
	Other Class = "other" // the file is not in the state folder
)

// Classes are all classes.
var Classes = []Class{Retried, Reported, Repeated, Start, Verb, Other}

// Runs reports whether the running bot makes the call in its state folder.
func (c Class) Runs() bool { return c == Retried || c == Reported || c == Repeated }

// Row is a row of the table of calls: the call of Callee in Caller. Both may end with *, for all
// with that beginning.
type Row struct {
	Caller, Callee string
	Class          Class
	// the test that makes the call fail, with its package; the reason for any other class
	Why  string
	Used bool // for the caller
}

func (r Row) String() string {
	return fmt.Sprintf("%s %s", r.Caller, r.Callee)
}

// Has reports whether the row is about a call, which is a caller and a callee.
func (r Row) Has(call string) bool {
	caller, callee, _ := strings.Cut(call, " ")
	return matches(r.Caller, caller) && matches(r.Callee, callee)
}

func matches(pattern, name string) bool {
	begin, isPrefix := strings.CutSuffix(pattern, "*")
	return pattern == name || isPrefix && strings.HasPrefix(name, begin)
}

// IsDirect reports whether the call goes around package disk.
func (r Row) IsDirect() bool {
	pkg, _, _ := strings.Cut(r.Callee, ".")
	return !slices.ContainsFunc(layers, func(l string) bool { return path.Base(l) == pkg }) || pkg == "ownfile"
}

// Rows returns the table.
func Rows() []Row { return Parse(calls) }

// Parse reads a table.
func Parse(table string) (rows []Row) {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		cells := append(strings.Split(strings.TrimSpace(line), " | "), "", "", "")
		rows = append(rows, Row{Caller: cells[0], Callee: cells[1], Class: Class(cells[2]), Why: cells[3]})
	}
	return rows
}

// Table writes a table that has exactly these calls: it keeps the rows that are used, and adds rows
// without a class.
func Table(rows []Row, calls []string) string {
	var lines []string
	for _, r := range rows {
		if slices.ContainsFunc(calls, r.Has) {
			lines = append(lines, strings.Join([]string{r.Caller, r.Callee, string(r.Class), r.Why}, " | "))
		}
	}
	for _, call := range calls {
		if !slices.ContainsFunc(rows, func(r Row) bool { return r.Has(call) }) {
			caller, callee, _ := strings.Cut(call, " ")
			lines = append(lines, strings.Join([]string{caller, callee, "?", "?"}, " | "))
		}
	}
	slices.Sort(lines)
	return header + strings.Join(lines, "\n") + "\n"
}

const header = `# All calls of ccbot that reach files, written by "go generate ./internal/repotest" from the source; class and reason are written by hand.
# caller | call | class | the test that makes it fail (package.Name), or the reason why the call is in this class
`
