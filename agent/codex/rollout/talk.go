package rollout

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/claude/transcript"
	"ccbot/agent/history"
	"ccbot/internal/watch"
	"ccbot/port/talk"
)

// Unsaid takes an unreadable file as one that may hold a text.
func (Files) Unsaid(c talk.Cursor, before int64) bool { return form().Unsaid(c, before) }

// Reply finds the text as Trace does.
func (Files) Reply(mark talk.Cursor, since time.Time, text string) func() (talk.Reply, error) {
	return form().FollowReply(mark, since, text)
}

// HasOthers counts a repetition of the text as another prompt.
func (Files) HasOthers(mark talk.Cursor, since time.Time, text string) (bool, error) {
	return form().HasOthers(mark, since, text)
}

// Follow watches the folder of the rollout only after a call has waited.
func (Files) Follow(from talk.Cursor, folders *watch.Watcher, log *slog.Logger) agent.Items {
	return form().Items(from, folders, log)
}

// Matches folds white space.
func (Files) Matches(submitted, sent string, whole bool) bool {
	if whole {
		return transcript.Same(submitted, sent)
	}
	return transcript.Contains(submitted, sent)
}

// Trace reads also a line in which offset stands.
func (Files) Trace(path string, offset int64, since time.Time, text string) (agent.Trace, error) {
	return form().Trace(path, offset, since, text)
}

// HasInterrupt looks for a turn that was aborted.
func (Files) HasInterrupt(from talk.Cursor) bool { return form().HasInterrupt(from) }

// Grew looks for an item: Codex also writes settings when a conversation is only opened.
func (Files) Grew(path string, offset int64) (grew bool, err error) {
	err = form().Each(talk.Cursor{Path: path, Offset: offset}, true, func(transcript.Item) bool {
		grew = true
		return false
	})
	return grew, err
}

// LastPrompt reads the file backwards.
func (Files) LastPrompt(ctx context.Context, path string) string { return form().LastPrompt(ctx, path) }

// receiptSpan is the end of a rollout in which a receipt is searched for.
const receiptSpan = 64 << 20

// HasReceipt looks for the prompt with an id. Codex notes the id of a client with the prompt.
func (f Files) HasReceipt(conversation, id uuid.UUID) (has bool, err error) {
	path, err := f.Find(conversation)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // the file is made at the first prompt
	}
	if err != nil {
		return false, err
	}
	end, err := f.End(path)
	if err != nil {
		return false, err
	}
	begin := talk.Cursor{Path: path, Offset: max(0, end.Offset-receiptSpan)}
	_, err = form().Lines(begin, true, func(text []byte) bool {
		if !bytes.Contains(text, []byte(id.String())) {
			return true
		}
		items, _ := parse(text) // a broken line proves nothing
		for _, i := range items {
			has = has || i.Kind == transcript.UserPrompt && i.MessageID == id.String()
		}
		return !has
	})
	return has, err
}

// Older reads backwards.
func (Files) Older(ctx context.Context, path string, before int64, see func(history.Entry) bool) error {
	return form().Older(ctx, path, before, see)
}

// Newer reads on.
func (Files) Newer(ctx context.Context, path string, from int64, see func(history.Entry) bool) error {
	return form().Newer(ctx, path, from, see)
}

// Search searches before it parses: most lines do not have the word.
func (Files) Search(ctx context.Context, path string, before int64, word string, see func(history.Found) bool) (int64, error) {
	return form().Search(ctx, path, before, transcript.NewWord(word), see)
}

// Days reads the times of lines only.
func (Files) Days(ctx context.Context, path string, before int64, in *time.Location, see func(history.Day) bool) (int64, error) {
	return form().Days(ctx, path, before, in, see)
}

// Between reads at most 32 MiB.
func (Files) Between(from *talk.Cursor, before talk.Cursor, see func(talk.Item, talk.Failure)) error {
	return form().Said(from, before, see)
}

// Image has none: no item of a rollout is shown with its images.
func (Files) Image(talk.Cursor, talk.Image) (history.Content, error) {
	return history.Content{}, fs.ErrNotExist
}

// Words decodes the text while it is read.
func (Files) Words(at talk.Cursor, rest talk.Rest, beyond bool) (history.Content, error) {
	return transcript.OpenPart(at, rest, beyond)
}

// Outcome has none: the server reports what was decided.
func (Files) Outcome(context.Context, talk.Request, *talk.Answer) (o talk.RequestOutcome, found bool, err error) {
	return o, false, nil
}

// HasCommand reports false: Codex' own commands are not files of a folder.
func (Files) HasCommand(string, string) bool { return false }

// Prices knows none.
func (Files) Prices(string) (history.Prices, error) { return history.Prices{Table: unpriced{}}, nil }

type unpriced struct{}

// Cost is unknown.
func (unpriced) Cost(string, history.Tokens) (float64, bool) { return 0, false }

// Name is the id.
func (unpriced) Name(model string) string { return model }
