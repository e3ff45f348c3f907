package show

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/archive"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/each"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/recovery"
)

// Account is the result of a recovery or of a dry run: the output of `ccbot recover --json`. Times
// are RFC 3339 in UTC, spans are seconds.
type Account struct {
	DryRun bool `json:"dry_run"`
	// Bot is the process of a bot that runs during a dry run. Sessions that this bot holds then
	// have the action "keep".
	Bot int `json:"bot_pid,omitempty"`
	// Tmux is the server of a dry run.
	Tmux    string    `json:"tmux,omitempty"`
	At      time.Time `json:"at"`
	Took    float64   `json:"took_seconds"`
	Records int       `json:"records"`
	// States and Ages count the sessions after the recovery. Ages count the open sessions, by the
	// time since the last sign of life.
	States map[session.State]int `json:"states,omitempty"`
	Ages   []age                 `json:"ages,omitempty"`
	// Actions are the actions that were done, or would be. Those that change nothing are included.
	Actions []Action `json:"actions"`
	Notices []Notice `json:"notices"`
	Purge   []Purge  `json:"purge,omitempty"`  // expired records that were removed, or would be
	Backup  string   `json:"backup,omitempty"` // of the records as they were before
}

// age counts sessions up to an age; without a bound it counts the ones older than all
// bounds.
type age struct {
	UpTo  float64 `json:"up_to_seconds,omitempty"`
	Count int     `json:"count"`
}

// Action is one thing done with one record.
type Action struct {
	Do       string    `json:"do"`
	Changes  bool      `json:"changes"`
	ID       uuid.UUID `json:"id"`
	Name     string    `json:"name,omitempty"`
	Window   string    `json:"window,omitempty"`
	Closed   string    `json:"closed_reason,omitempty"`
	Why      string    `json:"why"`
	Evidence string    `json:"evidence,omitempty"`
	Took     float64   `json:"took_seconds,omitempty"`
	Error    string    `json:"error,omitempty"`
	Ended    []string  `json:"ended,omitempty"` // processes, and how
}

// Notice is something that was noticed and left as it is.
type Notice struct {
	Kind   string    `json:"kind"`
	ID     uuid.UUID `json:"id,omitzero"`
	Name   string    `json:"name,omitempty"` // of the session, else of the window
	Window string    `json:"window,omitempty"`
	File   string    `json:"file,omitempty"` // of a record that cannot be read
	Why    string    `json:"why"`
}

// Purge is a record that is old enough to be removed.
type Purge struct {
	ID    uuid.UUID `json:"id"`
	Name  string    `json:"name"`
	Ended time.Time `json:"ended_at"`
	Age   float64   `json:"age_seconds"`
	Why   string    `json:"why"`
}

// AccountOf turns a report into an account for people and programs; name returns the name of a
// record, empty when the record is gone.
func AccountOf(r recovery.Report, name func(uuid.UUID) string) Account {
	a := Account{At: r.At.UTC(), Took: r.Took.Seconds(), Records: r.Records, States: r.States, Backup: r.Backup,
		Actions: []Action{}, Notices: NoticesOf(r.Notices, name)}
	for _, bucket := range r.Ages {
		a.Ages = append(a.Ages, age{bucket.UpTo.Seconds(), bucket.Count})
	}
	for _, result := range r.Results {
		did := ActionOf(result.Action, name)
		did.Took = result.Took.Seconds()
		if result.Err != nil {
			did.Error = result.Err.Error()
		}
		did.Ended = each.As(result.Ended, EndingText)
		a.Actions = append(a.Actions, did)
	}
	return a
}

// ActionOf returns one action, without its outcome.
func ActionOf(a recovery.Action, name func(uuid.UUID) string) Action {
	did := Action{Do: string(a.Do), Changes: a.Do.Changes(), ID: a.Record, Name: name(a.Record), Closed: a.Closed,
		Why: a.Why, Evidence: a.Evidence}
	if a.Pane.Window.Valid() {
		did.Window = a.Pane.Window.String()
	}
	return did
}

// NoticesOf are the notices; the list is never nil.
func NoticesOf(all []recovery.Notice, name func(uuid.UUID) string) []Notice {
	notices := []Notice{}
	for _, n := range all {
		one := Notice{Kind: string(n.Kind), ID: n.Record, Name: name(n.Record), Window: n.Window, File: n.File, Why: n.Why}
		if n.Pane.Window.Valid() {
			one.Window, one.Name = n.Pane.Window.String(), cmp.Or(one.Name, n.Pane.WindowName)
		}
		notices = append(notices, one)
	}
	return notices
}

// PurgesOf describes records that are due after that time, or were removed because of their age.
func PurgesOf(all []archive.DueRecord, records []session.Record, now time.Time, after time.Duration, what, next string) (purges []Purge) {
	names := make(map[uuid.UUID]string)
	for _, r := range records {
		names[r.ID] = r.Name
	}
	for _, aged := range all {
		old := now.Sub(aged.Ended)
		purges = append(purges, Purge{ID: aged.ID, Name: names[aged.ID], Ended: aged.Ended, Age: old.Seconds(),
			Why: fmt.Sprintf("%s: ended %s ago (ARCHIVE_PURGE_AFTER %s)%s", what, terminal.Age(old), terminal.Age(after), next)})
	}
	return purges
}

// EndingText describes the end of a process.
func EndingText(e ending.Ending) string {
	who := fmt.Sprintf("process %d", e.Process.PID)
	if e.Process.Comm != "" {
		who += " (" + e.Process.Comm + ")"
	}
	switch {
	case e.Ended && e.Verified:
		return fmt.Sprintf("%s ended (%s), verified gone", who, cmp.Or(string(e.How), "by itself"))
	case e.Ended:
		return fmt.Sprintf("%s was ended (%s), not proven gone", who, e.How)
	}
	return fmt.Sprintf("%s was spared: %s", who, e.Spared)
}

// count counts the actions for which is returns true.
func (a Account) count(is func(Action) bool) (n int) {
	for _, did := range a.Actions {
		if is(did) {
			n++
		}
	}
	return n
}

// Failed is the number of actions that could not be done.
func (a Account) Failed() int {
	return a.count(func(did Action) bool { return did.Error != "" })
}

// Print prints the account like a plan: first the changes, then the actions that change nothing,
// then the notices, and a line that sums up.
func (a Account) Print(p *terminal.Printer) {
	if a.Bot != 0 {
		p.Line("ccbot runs as process %d and manages its sessions; `ccbot recover` would make it do this now", a.Bot)
	}
	if a.Tmux != "" {
		p.Line("looked at %s", a.Tmux)
	}
	for _, changes := range []bool{true, false} {
		for _, did := range a.Actions {
			if did.Changes == changes {
				did.print(p)
			}
		}
	}
	for _, n := range a.Notices {
		p.Line("%s", n.text())
	}
	for _, gone := range a.Purge {
		p.Line("%s (%s): %s", terminal.Printable(gone.Name), naming.ShortID(gone.ID), gone.Why)
	}
	p.Line("%s", a.sum())
}

func (a Action) print(p *terminal.Printer) {
	who := fmt.Sprintf("%s (%s): %s", terminal.Printable(cmp.Or(a.Name, "no name")), naming.ShortID(a.ID), a.Do)
	if !a.Changes && a.Error == "" { // most sessions after most starts
		p.Line("%s: %s", who, terminal.Printable(a.Why)+terminal.Words(" (", terminal.Printable(a.Evidence), ")"))
		return
	}
	p.Line("%s", who)
	p.Line("    why:      %s%s", terminal.Printable(a.Why), terminal.Words(" (", a.Closed, ")"))
	if a.Evidence != "" {
		p.Line("    evidence: %s", terminal.Printable(a.Evidence))
	}
	for _, e := range a.Ended {
		p.Line("    %s", terminal.Printable(e))
	}
	if a.Error != "" {
		p.Line("    FAILED:   %s", terminal.Printable(a.Error))
	}
}

func (n Notice) text() string {
	words := []string{n.Kind}
	if n.Window != "" {
		words = append(words, n.Window)
	}
	if n.Name != "" {
		words = append(words, terminal.Printable(n.Name))
	}
	switch {
	case n.File != "":
		words = append(words, terminal.Printable(n.File))
	case n.ID != uuid.Nil:
		words = append(words, "("+naming.ShortID(n.ID)+")")
	}
	return strings.Join(words, " ") + ": " + terminal.Printable(n.Why)
}

func (a Account) sum() string {
	notices := terminal.Several(len(a.Notices), "notice")
	if a.DryRun {
		changes := a.count(func(did Action) bool { return did.Changes })
		sum := fmt.Sprintf("%d to change, ", changes)
		aside := 0
		for _, n := range a.Notices {
			if n.Kind == string(recovery.Unreadable) {
				aside++
			}
		}
		if aside > 0 {
			sum += fmt.Sprintf("%d to set aside, ", aside)
		}
		return sum + notices + "; nothing was changed"
	}
	changed := a.count(func(did Action) bool { return did.Changes && did.Error == "" })
	sum := fmt.Sprintf("%d changed, %d failed, %s", changed, a.Failed(), notices)
	if a.Backup != "" {
		sum += "; the records as they were: ccbot recover --restore " + a.Backup
	}
	return sum
}
