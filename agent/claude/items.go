package claude

import (
	"context"
	"log/slog"

	"ccbot/agent"
	"ccbot/agent/claude/transcript"
	"ccbot/internal/watch"
	"ccbot/port/talk"
)

// items reads a transcript of Claude Code.
type items struct{ *transcript.Follower }

// Follow watches the folder of the transcript only after a call has waited.
func (Transcripts) Follow(from talk.Cursor, folders *watch.Watcher, log *slog.Logger) agent.Items {
	return items{transcript.NewFollower(from, folders, log)}
}

// Now is transcript.Follower.Now.
func (i items) Now() (shown talk.Item, failed talk.Failure, ok bool, err error) {
	item, ok, err := i.Follower.Now()
	if ok {
		shown, failed = ItemOf(item)
	}
	return shown, failed, ok, err
}

// Next is transcript.Follower.Next.
func (i items) Next(ctx context.Context) (shown talk.Item, failed talk.Failure, err error) {
	item, err := i.Follower.Next(ctx)
	if err == nil {
		shown, failed = ItemOf(item)
	}
	return shown, failed, err
}

// ItemOf returns an item as the chat takes it, and the failure that it shows.
func ItemOf(item transcript.Item) (talk.Item, talk.Failure) {
	shown := talk.Item{At: item.At, Next: item.Next, Kind: item.Kind, Time: item.Time,
		Sidechain: item.Sidechain, Meta: item.Meta, FromPerson: item.IsFromPerson(), Begins: item.Begins(), Ends: item.Ends(),
		Last: item.Last, Text: item.Text, Images: item.Images, Size: item.Size}
	if item.Kind == transcript.LocalOutput && item.Command == "!" {
		shown.Bash = transcript.BashCommand(item.At)
	}
	if r := item.Rest; r != nil {
		shown.Rest = &talk.Rest{Offset: r.Offset, Length: r.Length, Raw: r.Raw}
		if !r.Raw {
			shown.Rest.Most = transcript.Budget()
		}
	}
	if t := item.Tool; t != nil {
		shown.Tool = &talk.Tool{ID: t.ID, Name: t.Name, Failed: t.IsError, Denied: t.Denial != ""}
		if item.Kind == transcript.ToolUse {
			shown.Tool.Step = t.Step()
		}
		shown.Tool.Background = item.StartsTask()
	}
	if call, failed, ok := item.EndsTask(); ok {
		shown.Kind, shown.Tool = talk.TaskEnded, &talk.Tool{ID: call, Failed: failed}
	}
	return shown, item.Failure
}
