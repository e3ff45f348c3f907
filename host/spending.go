package host

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/hooks"
	"ccbot/internal/disk"
	"ccbot/internal/each"
	"ccbot/internal/hookwire"
	"ccbot/internal/ledger"
	"ccbot/internal/logkey"
	"ccbot/internal/watch"
	"ccbot/port/talk"
)

// PricesFile is the file in ccbot's folder with a person's own prices.
const PricesFile = "prices.json"

// Spending counts what the agents of this machine use. It implements the chat's port.
type Spending struct {
	Ledger  *ledger.Ledger
	Agents  agent.Agents
	Dir     string // ccbot's own
	Records AllRecords
	Watch   *watch.Watcher
	Now     func() time.Time
	Log     *slog.Logger

	once  sync.Once
	lines *watch.Watch // the folder of the status lines
}

var _ talk.Spending = (*Spending)(nil)

// Spent implements [talk.Spending].
func (s *Spending) Spent(ctx context.Context, budget time.Duration) (talk.Report, error) {
	limited, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	book, left, err := s.Ledger.Read(limited)
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return talk.Report{}, err
	}
	c := s.counting()
	rep := c.Report
	rep.Days, rep.Unread, rep.Incomplete = make([]float64, talk.ReportDays), left, left > 0 && limited.Err() != nil
	if c.broken != nil {
		s.Log.Warn("prices_unusable", logkey.File, rep.Broken, logkey.Error, c.broken)
	}
	now := s.Now().Local()
	for n := range talk.ReportDays {
		c.starts = append(c.starts, time.Date(now.Year(), now.Month(), now.Day()-n, 0, 0, 0, 0, now.Location()).Unix())
	}
	for range talk.ReportSpans() {
		c.spans = append(c.spans, span{models: make(map[string]*talk.Line), sessions: make(map[string]*talk.Line)})
	}
	book.Each(c.answer)
	rep.Spans = each.As(c.spans, func(one span) talk.Span {
		return talk.Span{All: one.all, Models: largest(one.models), Sessions: largest(one.sessions)}
	})
	return *rep, nil
}

// Since returns what a session has used since a time, within the time that the ledger keeps.
func (s *Spending) Since(ctx context.Context, id uuid.UUID, since time.Time) (sum talk.Sum, err error) {
	book, _, err := s.Ledger.Read(ctx)
	if err == nil {
		err = book.Unread(s.agentOf(id))
	}
	if err != nil {
		return sum, err
	}
	c := s.counting() // the faults of the prices are in the report
	book.Each(func(f *ledger.File, model string, a ledger.Answer) {
		if c.owners[f.Session()].Session == id && a.At >= since.Unix() {
			add(&sum, sumOf(c.table(f), model, a))
		}
	})
	return sum, nil
}

// agentOf returns the name of a session's agent, "" for the default one.
func (s *Spending) agentOf(id uuid.UUID) string {
	for _, r := range s.Records.Shared() {
		if r.ID == id {
			return r.AgentName
		}
	}
	return ""
}

// owners are the sessions of ccbot by the conversations that they have had. A conversation of
// several sessions belongs to the session that has it now.
func (s *Spending) owners() map[string]talk.Line {
	earlier, now := make(map[string]talk.Line), make(map[string]talk.Line)
	for _, r := range s.Records.Shared() {
		line := talk.Line{Name: r.Name, Session: r.ID}
		for _, id := range r.EarlierSessionIDs {
			earlier[id.String()] = line
		}
		for _, c := range r.Cursors {
			earlier[s.Agents.Of(r.AgentName).Usage.Conversation(filepath.Base(c.Path))] = line
		}
		now[r.AgentSessionID.String()] = line
	}
	maps.Copy(earlier, now)
	return earlier
}

// counting returns a count with the owners and the prices of all agents. The report names the
// default agent's.
func (s *Spending) counting() *counting {
	path := filepath.Join(s.Dir, PricesFile)
	c := counting{tables: make(map[string]history.Table), owners: s.owners(), Report: new(talk.Report)}
	for name, by := range s.Agents {
		list, err := by.Usage.Prices(path)
		if c.tables[name] = list.Table; name == agent.Default {
			c.Prices, c.Source = list.Date, list.Source
		}
		if err != nil {
			c.broken, c.Broken = err, path
		}
	}
	return &c
}

// counting puts answers into the spans of a report.
type counting struct {
	*talk.Report
	tables map[string]history.Table // by agent
	broken error                    // of a person's file of prices
	starts []int64                  // of days, today first
	owners map[string]talk.Line
	spans  []span
}

type span struct {
	all              talk.Sum
	models, sessions map[string]*talk.Line
}

// answer counts one answer. One of later than now, by a clock that was set back, is of today.
func (c *counting) answer(f *ledger.File, model string, a ledger.Answer) {
	day := slices.IndexFunc(c.starts, func(start int64) bool { return a.At >= start })
	if day < 0 {
		return
	}
	table := c.table(f)
	sum := sumOf(table, model, a)
	c.Days[talk.ReportDays-1-day] += sum.Cost
	name := table.Name(model)
	id := f.Session()
	owner, ours := c.owners[id]
	if !ours {
		owner.Dir = f.Dir
		owner.Session, _ = uuid.Parse(id) // a file of another name has none
	} else {
		id = owner.Session.String()
	}
	for i, days := range talk.ReportSpans() {
		if day < days {
			one := &c.spans[i]
			add(&one.all, sum)
			add(&lineOf(one.models, name, talk.Line{Name: name}).Sum, sum)
			add(&lineOf(one.sessions, id, owner).Sum, sum)
		}
	}
}

// table returns the prices of a file's agent.
func (c *counting) table(f *ledger.File) history.Table {
	return c.tables[cmp.Or(f.Agent, agent.Default)]
}

func sumOf(table history.Table, model string, a ledger.Answer) talk.Sum {
	cost, known := table.Cost(model, a.Tokens)
	return talk.Sum{Input: a.Input, Output: a.Output, CacheRead: a.CacheRead, CacheWrite: a.Write5m + a.Write1h, Unpriced: !known, Cost: cost}
}

func lineOf(all map[string]*talk.Line, key string, fresh talk.Line) *talk.Line {
	if all[key] == nil {
		all[key] = &fresh
	}
	return all[key]
}

func add(to *talk.Sum, s talk.Sum) {
	to.Input, to.Output, to.CacheRead, to.CacheWrite = to.Input+s.Input, to.Output+s.Output, to.CacheRead+s.CacheRead, to.CacheWrite+s.CacheWrite
	to.Cost, to.Unpriced = to.Cost+s.Cost, to.Unpriced || s.Unpriced
}

// largest are the lines that cost most first.
func largest(all map[string]*talk.Line) (lines []talk.Line) {
	for _, l := range all {
		lines = append(lines, *l)
	}
	slices.SortFunc(lines, func(x, y talk.Line) int {
		return cmp.Or(cmp.Compare(y.Cost, x.Cost), cmp.Compare(y.Tokens(), x.Tokens()), cmp.Compare(x.Name, y.Name), strings.Compare(x.Session.String(), y.Session.String()))
	})
	return lines
}

// newestStatuses is the number of status lines that are read for the limits, which are the same for
// all sessions of an agent.
const newestStatuses = 20

// Limits implements [talk.Spending], for the account of the default agent: a forgotten session
// counts as one of it. The present window is the one that was reported last. In
// it only more can be used: of what several status lines say the largest is true.
func (s *Spending) Limits(context.Context) (all []talk.Limit, err error) {
	var statuses []hookwire.Status
	for _, id := range s.newest() {
		if st, err := hooks.Status(s.Dir, id); err == nil { // half written, or of another version
			statuses = append(statuses, st)
		}
	}
	slices.SortStableFunc(statuses, func(x, y hookwire.Status) int { return y.At.Compare(x.At) })
	known := make(map[talk.LimitWindow]talk.Limit)
	for _, st := range statuses {
		for window, l := range map[talk.LimitWindow]hookwire.Limit{talk.FiveHours: st.FiveHours, talk.Week: st.Week} {
			one := talk.Limit{Window: window, Percent: l.UsedPercent, Resets: time.Unix(l.ResetsAt, 0)}
			if !one.Resets.After(s.Now()) {
				continue
			}
			last, statuses := known[window]
			if !statuses || one.Percent > last.Percent && one.Resets.Sub(last.Resets).Abs() < talk.LimitsApart {
				known[window] = one
			}
		}
	}
	for _, window := range []talk.LimitWindow{talk.FiveHours, talk.Week} {
		if l, ok := known[window]; ok {
			all = append(all, l)
		}
	}
	return all, nil
}

// newest are the launches whose status lines were written last.
func (s *Spending) newest() (ids []uuid.UUID) {
	entries, err := disk.ReadDir(s.statuses())
	if err != nil {
		return nil // not written yet
	}
	var infos []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			infos = append(infos, info)
		}
	}
	slices.SortFunc(infos, func(x, y fs.FileInfo) int { return y.ModTime().Compare(x.ModTime()) })
	for _, info := range infos[:min(len(infos), newestStatuses)] {
		if id, err := uuid.Parse(strings.TrimSuffix(info.Name(), ".json")); err == nil && s.agentOf(id) == "" {
			ids = append(ids, id)
		}
	}
	return ids
}

func (s *Spending) statuses() string { return filepath.Join(s.Dir, hookwire.StatusFolder) }

// LimitsChange implements [talk.Spending].
func (s *Spending) LimitsChange(ctx context.Context) error {
	s.once.Do(func() {
		s.lines = s.Watch.Watch(s.statuses(), func(name string, _ bool) bool { return filepath.Ext(name) == ".json" })
	})
	_, err := s.lines.Wait(ctx)
	return err
}
