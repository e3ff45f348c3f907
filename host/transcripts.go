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
func (t Transcripts) Follow(from transcript.Cursor) talk.Stream {
	return stream{transcript.NewFollower(from, t.Log)}
}

// Said reads what was said between two cursors, or the last answer.
func (Transcripts) Said(from *transcript.Cursor, before transcript.Cursor) ([]transcript.Item, error) {
	if from == nil {
		return transcript.LastAnswer(before)
	}
	return transcript.Said(*from, before)
}

// End finds the present end of a transcript.
func (Transcripts) End(of transcript.Cursor) (transcript.Cursor, error) {
	return transcript.End(of.Path)
}

// stream is a follower with the errors of the port.
type stream struct{ *transcript.Follower }

func (s stream) Next(ctx context.Context) (transcript.Item, error) {
	item, err := s.Follower.Next(ctx)
	return item, portError(err)
}

func (s stream) Now() (transcript.Item, bool, error) {
	item, ok, err := s.Follower.Now()
	return item, ok, portError(err)
}

func portError(err error) error {
	if errors.Is(err, transcript.ErrTruncated) {
		return errors.Join(talk.ErrReplaced, err)
	}
	return err
}
