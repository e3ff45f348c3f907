package toy

import (
	"context"
	"log/slog"
	"path/filepath"

	"ccbot/agent"
	"ccbot/internal/watch"
	"ccbot/port/talk"
)

// Follow follows a transcript.
func (Transcripts) Follow(from talk.Cursor, folders *watch.Watcher, _ *slog.Logger) agent.Items {
	return &items{at: from, folders: folders}
}

// items are the lines of a transcript from a cursor.
type items struct {
	at      talk.Cursor
	read    []Line
	folders *watch.Watcher
	folder  *watch.Watch // since Next has waited
}

// Now returns the next item if it is there.
func (i *items) Now() (item talk.Item, failed talk.Failure, ok bool, err error) {
	if len(i.read) == 0 {
		if i.read, err = lines(i.at); err != nil || len(i.read) == 0 {
			return item, failed, false, err
		}
	}
	l := i.read[0]
	i.read = i.read[1:]
	item = itemOf(l, i.at)
	i.at = item.Next
	if l.Kind == Error {
		failed = talk.Failure{Kind: talk.FailedRequest, Text: l.Text}
	}
	return item, failed, true, nil
}

// Next waits for the next item.
func (i *items) Next(ctx context.Context) (talk.Item, talk.Failure, error) {
	for {
		item, failed, ok, err := i.Now()
		if ok || err != nil {
			return item, failed, err
		}
		if i.folder == nil {
			file := filepath.Base(i.at.Path)
			i.folder = i.folders.Watch(filepath.Dir(i.at.Path), func(name string, _ bool) bool { return name == file })
			continue // a line may have come before the watch
		}
		if _, err := i.folder.Wait(ctx); err != nil {
			return item, failed, err
		}
	}
}

// Close ends the watch.
func (i *items) Close() error {
	if i.folder != nil {
		i.folder.Close()
	}
	return nil
}

// itemOf is a line as the chat takes it.
func itemOf(l Line, at talk.Cursor) talk.Item {
	place := func(offset int64) talk.Cursor { return talk.Cursor{Path: at.Path, Offset: offset} }
	item := talk.Item{At: place(l.from), Next: place(l.next), Time: l.At, Text: l.Text}
	switch l.Kind {
	case Prompt:
		item.Kind, item.FromPerson, item.Begins = "user_prompt", true, true
	case Words:
		item.Kind, item.Begins, item.Last = talk.Text, true, true
	case Call:
		item.Kind, item.Begins, item.Tool = talk.ToolUse, true, &talk.Tool{ID: "toy", Name: "Run", Step: l.Text}
	case Result:
		item.Kind, item.Tool = talk.ToolResult, &talk.Tool{ID: "toy"}
	case Error:
		item.Kind, item.Ends = talk.APIError, talk.FailedTurn
	case Stop:
		item.Kind, item.Ends = talk.Interrupt, talk.StoppedTurn
	case End:
		item.Kind, item.Ends = talk.TurnEnd, talk.EndedTurn
	}
	return item
}
