package host

import (
	"context"
	"errors"
	"log/slog"

	"ccbot/bot/port/talk"
	"ccbot/internal/transcript"
)

// Transcripts reads the transcripts of this machine. It implements the chat's port.
type Transcripts struct{ Log *slog.Logger }

// Follow opens a transcript. The stream holds one inotify instance once it waits.
func (t Transcripts) Follow(from talk.Cursor) talk.Stream {
	return stream{transcript.NewFollower(transcript.Cursor(from), t.Log)}
}

// Said reads what was said between two cursors, or the last answer.
func (Transcripts) Said(from *talk.Cursor, before talk.Cursor) ([]talk.Item, error) {
	var items []transcript.Item
	var err error
	if from == nil {
		items, err = transcript.LastAnswer(transcript.Cursor(before))
	} else {
		items, err = transcript.Said(transcript.Cursor(*from), transcript.Cursor(before))
	}
	var said []talk.Item
	for _, item := range items {
		said = append(said, itemOf(item))
	}
	return said, err
}

// End finds the present end of a transcript.
func (Transcripts) End(of talk.Cursor) (talk.Cursor, error) {
	end, err := transcript.End(of.Path)
	return talk.Cursor(end), err
}

// stream is a follower with the errors of the port.
type stream struct{ *transcript.Follower }

func (s stream) Next(ctx context.Context) (talk.Item, error) {
	item, err := s.Follower.Next(ctx)
	return itemOf(item), portError(err)
}

func (s stream) Now() (talk.Item, bool, error) {
	item, ok, err := s.Follower.Now()
	return itemOf(item), ok, portError(err)
}

func portError(err error) error {
	if errors.Is(err, transcript.ErrTruncated) {
		return errors.Join(talk.ErrReplaced, err)
	}
	return err
}

// kinds are the kinds of items that the chat looks at.
var kinds = map[transcript.Kind]talk.Kind{
	transcript.Text: talk.Text, transcript.Thinking: talk.Thinking, transcript.ToolUse: talk.ToolUse,
	transcript.ToolResult: talk.ToolResult, transcript.Interrupt: talk.Interrupt, transcript.APIError: talk.APIError,
	transcript.TurnEnd: talk.TurnEnd, transcript.LocalOutput: talk.LocalOutput, transcript.PermissionDecision: talk.PermissionDecision,
}

func itemOf(item transcript.Item) talk.Item {
	shown := talk.Item{At: talk.Cursor(item.At), Next: talk.Cursor(item.Next), Kind: kinds[item.Kind], Time: item.Time,
		Sidechain: item.Sidechain, Meta: item.Meta, Text: item.Text}
	if item.Kind == transcript.LocalOutput && item.Command == "!" {
		shown.Bash = transcript.BashCommand(item.At)
	}
	for _, image := range item.Images {
		shown.Images = append(shown.Images, talk.Image(image))
	}
	return shown
}
