package toy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccbot/agent/history"
	"ccbot/port/talk"
)

// part returns the lines of a transcript up to an offset, and whether a line ends there.
func part(path string, before int64) (all []Line, err error) {
	all, err = lines(talk.Cursor{Path: path})
	if err != nil || before == history.End {
		return all, err
	}
	n := slices.IndexFunc(all, func(l Line) bool { return l.from == before })
	if n < 0 && (len(all) == 0 || all[len(all)-1].next != before) {
		return nil, history.ErrTruncated
	}
	if n >= 0 {
		all = all[:n]
	}
	return all, nil
}

// entries joins the lines of each answer.
func entries(all []Line) (out []history.Entry) {
	for _, l := range all {
		if l.Kind == Result || l.Kind == End {
			continue
		}
		e := history.Entry{At: l.from, Kind: talk.EntryAnswer}
		if last := len(out) - 1; l.Kind == Prompt {
			e.Kind = talk.EntryPrompt
		} else if last >= 0 && out[last].Kind == talk.EntryAnswer {
			e, out = out[last], out[:last]
		}
		e.End, e.Time, e.Interrupted = l.next, l.At, e.Interrupted || l.Kind == Stop
		switch l.Kind {
		case Call:
			e.Calls = append(e.Calls, "Run")
		case Prompt, Words, Error:
			e.Texts = append(e.Texts, l.Text)
		}
		out = append(out, e)
	}
	return out
}

// Older reads all.
func (Transcripts) Older(_ context.Context, path string, before int64, see func(history.Entry) bool) error {
	all, err := part(path, before)
	for _, e := range slices.Backward(entries(all)) {
		if !see(e) {
			break
		}
	}
	return err
}

// Newer reads all.
func (Transcripts) Newer(_ context.Context, path string, from int64, see func(history.Entry) bool) error {
	if _, err := part(path, from); err != nil {
		return err
	}
	all, err := lines(talk.Cursor{Path: path, Offset: from})
	for _, e := range entries(all) {
		if !see(e) {
			break
		}
	}
	return err
}

// Search searches each line.
func (Transcripts) Search(_ context.Context, path string, before int64, word string, see func(history.Found) bool) (int64, error) {
	all, err := part(path, before)
	for _, l := range slices.Backward(all) {
		for _, e := range entries([]Line{l}) {
			text := strings.Join(e.Texts, "")
			at := strings.Index(strings.ToLower(text), strings.ToLower(word)) // the toy's words are ASCII
			if at >= 0 && !see(history.Found{At: e.At, Kind: e.Kind, Time: e.Time, Text: text, From: at, To: at + len(word)}) {
				return e.At, nil
			}
		}
	}
	return 0, err
}

// Days looks at each line.
func (Transcripts) Days(_ context.Context, path string, before int64, in *time.Location, see func(history.Day) bool) (int64, error) {
	all, err := part(path, before)
	for i, l := range slices.Backward(all) {
		day := l.At.In(in).Format(time.DateOnly)
		if i > 0 && all[i-1].At.In(in).Format(time.DateOnly) == day {
			continue
		}
		if !see(history.Day{At: l.from, Time: l.At.In(in)}) {
			return l.from, nil
		}
	}
	return 0, err
}

// FirstID is the first line.
func (Transcripts) FirstID(path string) string {
	all, err := lines(talk.Cursor{Path: path})
	if err != nil || len(all) == 0 {
		return ""
	}
	return all[0].String()
}

// Between reads the words between two cursors.
func (Transcripts) Between(_ context.Context, from *talk.Cursor, before talk.Cursor, see func(talk.Item, talk.Failure)) (cut bool, err error) {
	all, err := part(before.Path, before.Offset)
	for i, l := range all {
		last := from == nil && !slices.ContainsFunc(all[i+1:], func(l Line) bool { return l.Kind == Words })
		if l.Kind == Words && (last || from != nil && l.from >= from.Offset) {
			see(itemOf(l, before), talk.Failure{})
		}
	}
	return false, err
}

var errNone = errors.New("the toy's transcripts have no images and no long texts")

// Image has none.
func (Transcripts) Image(talk.Cursor, talk.Image) (history.Content, error) {
	return history.Content{}, errNone
}

// Words has none.
func (Transcripts) Words(talk.Cursor, talk.Rest, bool) (history.Content, error) {
	return history.Content{}, errNone
}

// Outcome has none: the toy asks only in its terminal.
func (Transcripts) Outcome(context.Context, talk.Request, *talk.Answer) (o talk.RequestOutcome, found bool, err error) {
	return o, false, nil
}

// HasCommand reports false: the toy has no commands.
func (Transcripts) HasCommand(string, string) bool { return false }

// InFolder finds none: a transcript does not have its folder.
func (Transcripts) InFolder(context.Context, string, func(history.Conversation) bool) error {
	return nil
}

// Conversation is the file's name.
func (Transcripts) Conversation(below string) string {
	name, is := strings.CutSuffix(filepath.Base(below), suffix)
	if !is {
		return ""
	}
	return name
}

// Answers counts a letter as a token.
func (Transcripts) Answers(_ context.Context, path string, from int64, see func(history.Answer)) (int64, error) {
	if _, err := part(path, from); err != nil {
		return from, err
	}
	all, err := lines(talk.Cursor{Path: path, Offset: from})
	for _, l := range all {
		if from = l.next; l.Kind == Words {
			see(history.Answer{ID: l.String(), Model: Program, At: l.At, Tokens: history.Tokens{Output: int64(len(l.Text))}})
		}
	}
	return from, err
}

// Prices knows none.
func (Transcripts) Prices(string) (history.Prices, error) { return history.Prices{Table: free{}}, nil }

type free struct{}

func (free) Cost(string, history.Tokens) (float64, bool) { return 0, false }
func (free) Name(model string) string                    { return fmt.Sprintf("the %s", model) }
