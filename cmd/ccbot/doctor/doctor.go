package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"ccbot/cmd/ccbot/terminal"
)

// Status is the severity of a finding.
type Status string

// The statuses. Only Fail is a failure.
const (
	OK      Status = "ok"
	Warn    Status = "warn"
	Fail    Status = "fail"
	Unknown Status = "unknown" // it cannot be seen
	Skip    Status = "skip"    // there is nothing to look at
)

// Finding is the outcome of a check. A check that finds several faults has several.
type Finding struct {
	ID      string `json:"id"` // of the check
	Status  Status `json:"status"`
	Code    Code   `json:"code,omitempty"` // of a fault
	Summary string `json:"summary"`
	Detail  string `json:"detail,omitempty"`
	Fix     string `json:"fix,omitempty"` // a command, or what a person can do
}

func good(id, format string, args ...any) Finding {
	return Finding{ID: id, Status: OK, Summary: fmt.Sprintf(format, args...)}
}

func skipped(id, why string) Finding { return Finding{ID: id, Status: Skip, Summary: why} }

func unseen(id string, err error) Finding {
	return Finding{ID: id, Status: Unknown, Summary: "it cannot be seen", Detail: terminal.Plain(err)}
}

// Report is the output of `ccbot doctor --json`.
type Report struct {
	Schema  int       `json:"schema"`
	Version string    `json:"version"`
	Checks  []Finding `json:"checks"`
}

// Examine makes all checks, one after the other. Of a folder that others could have written it says
// that alone.
func Examine(ctx context.Context, w *World) Report {
	r := Report{Schema: 1, Version: w.Version, Checks: []Finding{}}
	if w.refused != nil {
		remedy := ""
		if strings.Contains(w.refused.Error(), "`") {
			remedy = inSummary
		}
		r.Checks = append(r.Checks, found("folder_refused", remedy, "%v", w.refused))
		return r
	}
	for _, check := range []func(context.Context, *World) []Finding{machine, settings, fonts, folder, bot, terminals, claude, codexAgent, hook, telegram, unit} {
		r.Checks = append(r.Checks, check(ctx, w)...)
	}
	for i := range r.Checks {
		f := &r.Checks[i]
		f.Summary, f.Detail, f.Fix = w.Token.Clean(f.Summary), w.Token.Clean(f.Detail), w.Token.Clean(f.Fix)
	}
	return r
}

// Count counts the findings of a status.
func (r Report) Count(s Status) (n int) {
	for _, f := range r.Checks {
		if f.Status == s {
			n++
		}
	}
	return n
}

// Print prints a report for people, the worst last: there a person who has called it looks.
func (r Report) Print(p *terminal.Printer) {
	for _, status := range []Status{OK, Skip, Unknown, Warn, Fail} {
		for _, f := range r.Checks {
			if f.Status == status {
				f.print(p)
			}
		}
	}
	p.Line("%d ok, %s, %d fail", r.Count(OK), terminal.Several(r.Count(Warn), "warning"), r.Count(Fail))
}

// PrintFaults prints the findings that fail.
func (r Report) PrintFaults(p *terminal.Printer) {
	for _, f := range r.Checks {
		if f.Status == Fail {
			f.print(p)
		}
	}
}

// Preventing returns the number of findings with which ccbot does not start.
func (r Report) Preventing() (n int) {
	for _, f := range r.Checks {
		if slices.Contains(preventsStart, f.Code) {
			n++
		}
	}
	return n
}

func (f Finding) print(p *terminal.Printer) {
	sign := map[Status]string{OK: "ok", Skip: "-", Unknown: "?", Warn: "warn", Fail: "FAIL"}[f.Status]
	text := f.Summary
	if f.Code != "" {
		text += " [" + string(f.Code) + "]"
	}
	p.Hanging(fmt.Sprintf("%-5s %-9s ", sign, f.ID), terminal.Printable(text))
	indent := strings.Repeat(" ", 16)
	if f.Detail != "" {
		for line := range strings.Lines(f.Detail) {
			p.Hanging(indent, terminal.Printable(strings.TrimRight(line, "\n")))
		}
	}
	if f.Fix != "" {
		p.Hanging(indent+"-> ", terminal.Printable(f.Fix))
	}
}
