package claude

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"ccbot/agent/claude/claudeask"
	"ccbot/agent/claude/prices"
	"ccbot/agent/claude/slashcommand"
	"ccbot/agent/claude/transcript"
	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/port/talk"
)

// FirstID returns the id of the first line.
func (Transcripts) FirstID(path string) string { return transcript.FirstID(path) }

// Image decodes the image while it is read.
func (Transcripts) Image(at talk.Cursor, image talk.Image) (history.Content, error) {
	p, err := jsonl.OpenImage(at, image)
	if err != nil {
		return history.Content{}, err
	}
	return history.Content{Body: p, Size: p.Size}, nil
}

// Outcome finds the call by its input: a request does not have the call's id.
func (Transcripts) Outcome(ctx context.Context, q talk.Request, a *talk.Answer) (o talk.RequestOutcome, found bool, err error) {
	o, found, err = transcript.FindOutcome(ctx, transcript.Sought{Path: q.Transcript, Subagent: q.SubagentID, From: q.Offset,
		Tool: q.Tool, Input: q.Input, At: q.RequestedAt})
	if errors.Is(err, fs.ErrNotExist) {
		return talk.RequestOutcome{}, false, nil
	}
	o.Half = o.Denial == transcript.UserRejected && o.ByHook == "" && (!o.Interrupted || q.Tool == transcript.PlanTool)
	o.Quoted = a != nil && claudeask.Quotes(o.Text, q, *a)
	return o, found, err
}

// HasCommand looks into the settings of the folder and of the person.
func (t Transcripts) HasCommand(dir, name string) bool {
	return slashcommand.Has(filepath.Dir(t.Projects), dir, name)
}

// InFolder reads one folder of projects.
func (t Transcripts) InFolder(ctx context.Context, dir string, see func(history.Conversation) bool) error {
	return transcript.InFolder(ctx, t.Projects, dir, see)
}

// Folder is projects.
func (t Transcripts) Folder() string { return t.Projects }

// Conversation takes the second name of a path: a session's subagents write in a folder that is
// named like its file.
func (Transcripts) Conversation(below string) string {
	if filepath.Ext(below) != suffix {
		return ""
	}
	name := below
	if parts := strings.Split(below, string(filepath.Separator)); len(parts) > 1 {
		name = parts[1]
	}
	return strings.TrimSuffix(name, suffix)
}

// suffix ends the name of each transcript.
const suffix = ".jsonl"

// Answers reads the lines with tokens.
func (Transcripts) Answers(ctx context.Context, path string, from int64, see func(history.Answer)) (int64, error) {
	return transcript.Answers(ctx, path, from, see)
}

// Prices are the list prices of Anthropic's models.
func (Transcripts) Prices(file string) (history.Prices, error) {
	table, err := prices.Open(file)
	return history.Prices{Date: table.Date, Source: table.Source, Table: priced(table)}, err
}

// priced is the history.Table of a list of prices.
type priced prices.Table

// Cost takes the price of the model without what clouds and dates add to its name.
func (p priced) Cost(model string, t history.Tokens) (float64, bool) {
	price, known := prices.Table(p).Of(model)
	return price.Cost(prices.Use{Input: t.Input, Output: t.Output, Write5m: t.Write5m, Write1h: t.Write1h, Read: t.CacheRead, Searches: t.Searches}), known
}

// Name returns "Opus 5.5".
func (priced) Name(model string) string { return prices.Name(model) }
