package bot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// Transcriber writes down what is said in a recording; name is that of its file.
type Transcriber interface {
	Text(ctx context.Context, name string, recording []byte) (string, error)
}

// maxRecording is the longest recording that is written down, in bytes: many hours.
// A longer one is only a file.
const maxRecording = 20 << 20

// speech is the source of what is said in a voice message.
const speech = "Transcript of a voice message"

var errSaidNothing = errors.New("it wrote nothing")

// receiveSpeech is receive for a voice message, and gives its text, too. What is said
// is written down from what Telegram gave, before the agent's machine has the file.
func (b *Bot) receiveSpeech(ctx context.Context, in incoming, r session.Record, a attachment,
	caption string) (_ incoming, text string, err error) {
	if a.size > b.Downloader.Limit() {
		return in, "", b.tooBig(a)
	}
	b.Sender.Typing(ctx, in.To)
	var recording bytes.Buffer
	name, err := b.download(ctx, a, &recording)
	if err != nil {
		return in, "", err
	}
	if text, err = b.withSpeech(ctx, in, name, recording.Bytes(), caption); err != nil {
		return in, "", err
	}
	in, err = b.put(in, r, func(to io.Writer) (string, error) {
		_, err := to.Write(recording.Bytes())
		return name, err
	})
	return in, text, err
}

// withSpeech is the text of a voice message: its caption, and what is said in it as a
// quotation, for a program has written that down. Where the program fails, the agent
// gets the file alone, and the person is told.
func (b *Bot) withSpeech(ctx context.Context, in incoming, name string, recording []byte,
	caption string) (string, error) {
	said, err := b.Voice.Text(ctx, name, recording)
	said = strings.TrimSpace(said)
	if err == nil && said == "" {
		err = errSaidNothing
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		b.Log.Warn("voice_not_written_down", "error", err.Error())
		return caption, b.Warn(ctx, in.To, in.MessageID, render.Plain(b.words.Say(i18n.VoiceFailed)), nil)
	case caption == "":
		return quotation(speech, said), nil
	}
	return caption + "\n" + quotation(speech, said), nil
}
