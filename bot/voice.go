package bot

import (
	"context"
	"errors"
	"path"
	"strings"

	"ccbot/bot/port/files"
	"ccbot/i18n"
)

// Transcriber writes down what is said in a recording.
type Transcriber interface {
	Text(ctx context.Context, file string) (string, error)
}

// speech is the source of what is said in a voice message.
const speech = "Transcript of a voice message"

var errSaidNothing = errors.New("it wrote nothing")

// withSpeech is the text of a voice message: its caption, and what is said in it as a
// quotation, for a program has written that down.
// Where that cannot be had, the agent gets the file alone, and the person is told.
func (b *Bot) withSpeech(ctx context.Context, in incoming, caption string) (string, error) {
	said, err := b.Voice.Text(ctx, path.Join(in.dir, files.Folder, in.files[0]))
	said = strings.TrimSpace(said)
	if err == nil && said == "" {
		err = errSaidNothing
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		b.Log.Warn("voice_not_written_down", "error", err.Error())
		return caption, b.warn(ctx, in.to, in.message, plain(b.words.Say(i18n.VoiceFailed)), nil)
	case caption == "":
		return quotation(speech, said), nil
	}
	return caption + "\n" + quotation(speech, said), nil
}
