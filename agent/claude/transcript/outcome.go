package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"ccbot/agent/jsonl"
	"ccbot/internal/lazyregexp"
	"ccbot/port/talk"
)

// Sought is a tool call as a permission hook describes it: without its id.
type Sought struct {
	Path     string // of the session's transcript
	Subagent string // id of the subagent that made the call; a subagent's calls are in a separate file
	From     int64  // size of Path when the hook ran, in bytes
	Tool     string
	Input    json.RawMessage
	At       time.Time // when the hook ran
}

const (
	// searchBack is the distance before Sought.From at which the search begins: the call may have
	// been written before the hook ran, followed by other calls of the same message that waited for
	// their turn.
	searchBack = 1 << 20
	// mostRead bounds how much of a transcript is read from the beginning of the search on; whole
	// sessions are smaller.
	mostRead = 256 << 20
	// callSlack is the time by which the line of a call may be dated later than its hook.
	callSlack = time.Second
)

// errFar ends a search that has read enough.
var errFar = errors.New("too far after the call")

var subagentID = lazyregexp.New(`^[A-Za-z0-9_-]{1,128}$`)

// FindOutcome searches a transcript for the outcome of a tool call. found is false when the
// transcript has no such call, or not yet (Claude Code writes lines some 100 ms late), or when
// there is no transcript. If several equal calls exist, it takes the one that had no result when
// the hook ran. The question comes from a client that is not trusted: only a regular file is read,
// no more than 256 MiB of it, and no longer than ctx allows.
//
// Claude Code 2.1.328 writes a hook's decision together with the result, so an allowed command that
// still runs looks like an unanswered one. A hook's decision also leaves no trace if the person
// interrupted the command later.
func FindOutcome(ctx context.Context, s Sought) (o talk.RequestOutcome, found bool, err error) {
	if s.Subagent != "" && !subagentID.MatchString(s.Subagent) {
		return talk.RequestOutcome{}, false, fmt.Errorf("find outcome: subagent id %q", s.Subagent)
	}
	search := search{tool: s.Tool, byID: map[string]*call{}}
	if json.Unmarshal(s.Input, &search.input) != nil {
		return talk.RequestOutcome{}, false, errors.New("find outcome: the input is not JSON")
	}
	from, err := s.begin()
	if err != nil {
		return talk.RequestOutcome{}, false, fmt.Errorf("find outcome: %w", err)
	}
	r := Form().Open(from)
	r.Loose, r.Allow = from.Offset > 0, within(ctx, from.Offset+mostRead)
	defer func() { err = errors.Join(err, r.Close()) }()
	err = r.Items(func(item jsonl.Item) bool {
		search.see(item)
		return true
	})
	if err != nil && !errors.Is(err, errFar) {
		return talk.RequestOutcome{}, false, fmt.Errorf("find outcome: %w", err)
	}
	o, found = search.best(s.At)
	if found && s.Tool == PlanTool && o.ByHook == "" && (!o.Done || o.Denial != "") && goesOnElsewhere(s.Path, s.At) {
		o = talk.RequestOutcome{ToolID: o.ToolID, Done: true}
	}
	return o, found, nil
}

// PlanTool is the tool that asks whether a plan is approved.
const PlanTool = "ExitPlanMode"

// goesOnElsewhere reports whether the plan of a conversation was approved with an empty context. Its call then has no result, or
// is called rejected and interrupted (2.1.328), but a new conversation next to it begins with the plan and names the file of this one.
func goesOnElsewhere(path string, since time.Time) (does bool) {
	beside, _ := os.ReadDir(filepath.Dir(path)) // an unreadable folder proves nothing
	for _, entry := range beside {
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(entry.Name()) != suffix || info.ModTime().Before(since) {
			continue
		}
		_ = Form().Each(talk.Cursor{Path: filepath.Join(filepath.Dir(path), entry.Name())}, false, func(item jsonl.Item) bool {
			does = does || item.Kind == jsonl.PlanBegun && strings.Contains(item.Text, filepath.Base(path))
			return false
		})
	}
	return does
}

// within lets a reader continue until ctx ends or an offset is reached.
func within(ctx context.Context, end int64) func(int64) error {
	return func(at int64) error {
		if at > end {
			return errFar
		}
		return ctx.Err()
	}
}

// begin returns a place some way before the one where the hook ran. A subagent's own file is read
// as a whole.
func (s Sought) begin() (talk.Cursor, error) {
	if s.Subagent != "" {
		folder := strings.TrimSuffix(s.Path, suffix)
		return talk.Cursor{Path: filepath.Join(folder, "subagents", "agent-"+s.Subagent+suffix)}, nil
	}
	info, err := os.Stat(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return talk.Cursor{Path: s.Path}, nil
	}
	if err != nil {
		return talk.Cursor{}, err
	}
	return talk.Cursor{Path: s.Path, Offset: max(0, min(s.From, info.Size())-searchBack)}, nil
}

// search collects the calls that may be the sought one.
type search struct {
	tool    string
	input   any
	calls   []*call
	byID    map[string]*call
	message string // id of the last message of the assistant
}

// call is one call with the sought tool and input.
type call struct {
	talk.RequestOutcome
	message string
	at      time.Time
	done    time.Time // of the result
	left    bool      // the conversation continued without a result, as it does after a crash
}

func (s *search) see(item jsonl.Item) {
	switch item.Kind {
	case jsonl.Text, jsonl.Thinking, jsonl.APIError:
		s.answer(item.MessageID)
	case jsonl.ToolUse:
		s.answer(item.MessageID)
		// As values: the order of keys, and different spellings of a number or a letter, do not
		// matter. Numbers are 64-bit floats, as they are for Claude Code.
		var input any
		if item.Tool.Name == s.tool && item.Tool.ID != "" && json.Unmarshal(item.Tool.Input, &input) == nil && reflect.DeepEqual(input, s.input) {
			c := &call{RequestOutcome: talk.RequestOutcome{ToolID: item.Tool.ID}, message: item.MessageID, at: item.Time}
			s.calls, s.byID[c.ToolID] = append(s.calls, c), c
		}
	case jsonl.PermissionDecision:
		if c := s.byID[item.Tool.ID]; c != nil && (item.Text == "allow" || item.Text == "deny") { // another word decides nothing
			c.ByHook = item.Text
		}
	case jsonl.ToolResult:
		if c := s.byID[item.Tool.ID]; c != nil && !c.Done {
			c.Done, c.done, c.left, c.Text = true, item.Time, false, item.Text
			c.Denial, c.Interrupted, c.Unclear = ended(s.tool, item)
		}
	case jsonl.Interrupt:
		for _, c := range s.calls {
			// A call that was done before the interrupt stays done.
			c.Interrupted = c.Interrupted || c.message == s.message && (!c.Done || c.Denial == UserRejected)
		}
	}
}

// ended reads a result: why the call was denied, whether the person interrupted it, and whether its
// words say neither that nor that it ran. Claude Code 2.1.128 writes no kind of a denial; there the text
// of the result tells, except for a tool of an MCP server, whose own text may be anything.
func ended(tool string, result jsonl.Item) (denial string, interrupted, unclear bool) {
	byText := result.Tool.IsError && denials.MatchString(result.Text)
	switch kind := result.Tool.Denial; kind {
	case "":
		switch {
		case byText && strings.HasPrefix(tool, "mcp__"):
			return "", false, true
		case byText && strings.HasPrefix(result.Text, byPerson):
			return UserRejected, false, false
		case byText:
			return "permission-rule", false, false
		}
		return "", false, false
	case UserRejected, "permission-rule", "automode-blocked", "automode-unavailable", "automode-parsing-error":
		return kind, false, false
	case "interrupted", "cancelled": // while it ran, or asked
		return "", true, false
	}
	return "", false, true
}

// UserRejected is the kind of a person's denial at the terminal.
const UserRejected = "user-rejected"

// byPerson begins the result of such a denial, and denials match that of any denial (2.1.128).
const byPerson = "The user doesn't want to proceed with this tool use"

var denials = lazyregexp.New(`^(?:` + byPerson + `|Permission to use .* has been denied|Permission for this (?:tool use was|action has been) denied)`)

// answer notes a message of the assistant. A message comes only when every call of the previous one
// has its result.
func (s *search) answer(message string) {
	if message == s.message {
		return
	}
	s.message = message
	for _, c := range s.calls {
		c.left = c.left || !c.Done
	}
}

// best is the first call that existed without a result when the hook ran. If there is none, best is
// the last call that a crash left without a result.
func (s *search) best(at time.Time) (talk.RequestOutcome, bool) {
	at = at.Truncate(time.Millisecond) // transcripts have no finer times
	for _, c := range s.calls {
		if !c.left && !c.at.After(at.Add(callSlack)) && (!c.Done || !c.done.Before(at)) {
			return c.RequestOutcome, true
		}
	}
	for _, c := range slices.Backward(s.calls) {
		if c.left && !c.at.After(at.Add(callSlack)) {
			return c.RequestOutcome, true
		}
	}
	return talk.RequestOutcome{}, false
}
