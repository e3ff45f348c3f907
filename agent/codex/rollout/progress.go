package rollout

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/internal/clip"
	"ccbot/internal/lazyregexp"
	"ccbot/port"
	"ccbot/port/talk"
)

// Advance reads the new lines of the file, of a long file that is new the last 8 MiB.
func (f Files) Advance(p history.Progress, path string) (history.Progress, error) {
	p, err := f.Form.Advance(p, path, func(p *history.Progress) (func([]byte), func()) {
		return func(text []byte) { take(p, text) }, nil
	})
	if p.Failed.Kind == talk.FailedLimit && p.Failed.Until.IsZero() {
		p.Failed.Until = f.limitEnd(talk.Cursor{Path: path, Offset: p.Offset})
	}
	return p, err
}

// progressMarks are in the lines that change a progress. Outputs of tools, which may be long, have
// other types.
var progressMarks = [][]byte{mark(turnContext), mark(usageRecord), mark("task_started"), mark("task_complete"), mark("turn_aborted"),
	mark("function_call"), mark("custom_tool_call"), mark("AgentMessage"), mark("UserMessage"), mark(goalUpdated), []byte(personsGoal)}

// isMarked reports whether the beginning of a line, where its types are, has one of the marks.
func isMarked(text []byte, marks [][]byte) bool {
	head := text[:min(len(text), maxHead)]
	return slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Contains(head, m) })
}

// take adds a line to a progress.
func take(p *history.Progress, text []byte) {
	if !isMarked(text, progressMarks) {
		return
	}
	l, err := read(text)
	if err != nil {
		return // a broken line must not stop a session
	}
	switch {
	case l.Type == turnContext:
		p.Model, p.PermissionMode = clip.Runes(l.Payload.Model, maxText), clip.Runes(l.Payload.ApprovalPolicy, maxText)
		p.RequestedModel = p.Model
	case l.Type == usageRecord && l.response() != p.LastMessage:
		u := l.Payload.Usage.tokens()
		p.LastMessage = l.response()
		p.Tokens.Input += u.Input
		p.Tokens.CacheCreation += u.Write5m
		p.Tokens.CacheRead += u.CacheRead
		p.Tokens.Output += u.Output
	case l.Type == event && l.Payload.Type == "task_started":
		p.OpenTurn = &history.Turn{At: l.Timestamp.UTC()}
	case l.Type == event && l.Payload.Type == goalUpdated:
		p.Pursues = l.Payload.Goal.Status == goalActive
	case l.Type == responseItem && l.Payload.Type == "message":
		if status, is := l.goal(); is {
			p.Pursues = status == goalActive
		}
	case l.Type == responseItem && l.Payload.Name == "update_plan":
		plan(p, l.Payload.Arguments)
	default:
		items, _ := l.items() // an unknown item changes nothing
		for _, i := range items {
			i.Time = l.Timestamp.UTC()
			see(p, i)
		}
	}
}

const (
	goalUpdated = "thread_goal_updated"
	goalActive  = "active"
	goalPaused  = "paused"
	personsGoal = `source=\"user_goal\"` // is in the line of a message about the goal
)

// goalWords matches what Codex says to the model when a person has changed the goal.
var goalWords = lazyregexp.New(`^<codex_internal_context source="user_goal">\n(?s:.*)User (?:set goal status: "(\w+)"|cleared the goal)\.\n</codex_internal_context>$`)

// goal returns the state that a message gives the goal, empty if it is cleared; false: it says nothing
// about that.
func (l line) goal() (status string, is bool) {
	if len(l.Payload.Content) != 1 {
		return "", false
	}
	m := goalWords.FindStringSubmatch(l.Payload.Content[0].Text)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// see takes an item. It makes a new Turn, because an earlier progress may hold the old one.
func see(p *history.Progress, i jsonl.Item) {
	step := ""
	switch i.Kind {
	case jsonl.UserPrompt, jsonl.Text:
		p.Failed = talk.Failure{}
	case jsonl.ToolUse:
		step = i.Tool.Step()
	case jsonl.TurnEnd:
		p.TurnsWell++
		p.Failed = talk.Failure{}
	case jsonl.APIError:
		p.Failed = i.Failure
	}
	switch {
	case i.Ends() != jsonl.Runs:
		p.Turns++
		p.LastTurnAt, p.OpenTurn = i.Time, nil
	case i.Begins() && p.OpenTurn != nil:
		p.OpenTurn = &history.Turn{At: i.Time, Step: cmp.Or(step, p.OpenTurn.Step)}
	case i.Begins():
		p.OpenTurn = &history.Turn{At: i.Time, Step: step}
	}
}

// maxTasks is the number of steps of a plan that are kept.
const maxTasks = 100

// plan replaces the to-do items by the steps of a plan.
func plan(p *history.Progress, arguments string) {
	var given struct {
		Plan []struct{ Step, Status string }
	}
	if json.Unmarshal([]byte(arguments), &given) != nil {
		return
	}
	p.Tasks = nil
	for _, s := range given.Plan[:min(len(given.Plan), maxTasks)] {
		p.Tasks = append(p.Tasks, port.Task{Text: clip.Runes(s.Step, maxText), Status: clip.Runes(s.Status, maxText)})
	}
}

// mostTokens is more than any response has.
const mostTokens = 1 << 30

func (u usage) tokens() history.Tokens {
	count := func(n int64) int64 {
		if n < 0 || n > mostTokens {
			return 0
		}
		return n
	}
	cached := min(count(u.Cached), count(u.Input))
	return history.Tokens{Input: count(u.Input) - cached, CacheRead: cached, Write5m: count(u.CacheWrite), Output: count(u.Output)}
}

// response identifies the response of a usage record by its place in the conversation, which a copy
// keeps: providers exist whose responses have no id, or one for all.
func (l line) response() string {
	place := l.Payload.ThreadUsage.Total
	if place == 0 {
		place = l.Timestamp.UnixNano()
	}
	return clip.Runes(fmt.Sprint(place, " ", l.Payload.TurnID, " ", l.Payload.ResponseID), maxText)
}

// Answers takes each response of the API as an answer. Its model is the one of the turn.
func (f Files) Answers(ctx context.Context, path string, from int64, see func(history.Answer)) (int64, error) {
	in := f.before(ctx, path, from, turnContext)
	next, err := f.Lines(talk.Cursor{Path: path, Offset: from}, false, func(text []byte) bool {
		head := text[:min(len(text), 512)]
		isContext, isUsage := bytes.Contains(head, mark(turnContext)), bytes.Contains(head, mark(usageRecord))
		if !isContext && !isUsage {
			return ctx.Err() == nil
		}
		l, err := read(text)
		switch {
		case err != nil, l.Timestamp.IsZero():
		case isContext:
			in = l
		default:
			see(history.Answer{ID: l.response(), Session: idOf(path), Model: cmp.Or(in.Payload.Model, "?"), Dir: in.Payload.Cwd,
				At: l.Timestamp, Tokens: l.Payload.Usage.tokens()})
		}
		return ctx.Err() == nil
	})
	return next, cmp.Or(err, ctx.Err())
}

// before returns the last line of a type before an offset; the zero line: none.
func (f Files) before(ctx context.Context, path string, offset int64, kind string) (found line) {
	if offset == 0 {
		return line{}
	}
	_ = f.LinesBefore(ctx, path, offset, func(text []byte) bool { // what cannot be read has none
		if !bytes.Contains(text[:min(len(text), 512)], mark(kind)) {
			return true
		}
		l, err := read(text)
		if err != nil || l.Type != kind && l.Payload.Type != kind {
			return true
		}
		found = l
		return false
	})
	return found
}

// limits are the used parts of an account's limits.
type limits struct{ Primary, Secondary *window }

type window struct {
	Percent float64 `json:"used_percent"`
	Minutes int64   `json:"window_minutes"`
	Resets  int64   `json:"resets_at"` // Unix seconds
}

// end returns when the window begins anew; zero: it is unknown.
func (w window) end() time.Time {
	at := time.Unix(w.Resets, 0).UTC()
	if w.Resets <= 0 || at.Year() > 9999 { // such a time cannot be stored
		return time.Time{}
	}
	return at
}

// windows returns the limits that were known before an offset.
func (f Files) windows(ctx context.Context, path string, before int64) (all []window) {
	known := f.before(ctx, path, before, "token_count").Payload.RateLimits
	if known == nil {
		return nil
	}
	for _, w := range []*window{known.Primary, known.Secondary} {
		if w != nil {
			all = append(all, *w)
		}
	}
	return all
}

// Limits returns the account's limits as a rollout shows them last.
func (f Files) Limits(ctx context.Context, path string) (all []talk.Limit) {
	for _, w := range f.windows(ctx, path, history.End) {
		l := talk.Limit{Percent: min(max(w.Percent, 0), 100), Resets: w.end()}
		switch w.Minutes {
		case 5 * 60:
			l.Window = talk.FiveHours
		case 7 * 24 * 60:
			l.Window = talk.Week
		default:
			continue // people know no other
		}
		all = append(all, l)
	}
	return all
}

// limitEnd returns when no window is used up any more that was so before a place; zero: none was, and
// the limit is another one.
func (f Files) limitEnd(at talk.Cursor) (end time.Time) {
	for _, w := range f.windows(context.Background(), at.Path, at.Offset) {
		if w.Percent >= 100 && w.end().After(end) {
			end = w.end()
		}
	}
	return end
}
