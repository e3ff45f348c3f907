package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
)

// FileRefusal says why a file is not sent. Its text is for the program that
// asked, which is an agent's.
type FileRefusal struct {
	Text string
	Err  error // the reason, if it is not in the text
}

func (e *FileRefusal) Error() string { return e.Text }

func (e *FileRefusal) Unwrap() error { return e.Err }

// errSlow ends an upload that takes too long.
var errSlow = errors.New("the upload takes too long")

func refuseFile(format string, args ...any) error {
	return &FileRefusal{Text: fmt.Sprintf(format, args...)}
}

// SendFile sends a file of a session's directory into its chat and returns when
// Telegram took it. For one that lies elsewhere a person is asked there: asked is
// true then, and nothing is sent before a tap. Errors: *FileRefusal, or what the
// outbox fails with.
func (b *Bot) SendFile(ctx context.Context, id uuid.UUID, path, caption string) (asked bool, err error) {
	r, ok := b.Records.Get(id)
	switch {
	case !ok || !r.State.Live():
		return false, refuseFile("the session is over")
	case !b.MayShow(r.Conversation):
		return false, refuseFile("nobody is allowed any more in the chat that the session is shown in")
	case render.Plain(caption).Length() > outbox.MaxCaption:
		return false, refuseFile("the caption has more than %d characters", outbox.MaxCaption)
	}
	f, err := b.openFile(path, r.Dir)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if !f.inside {
		return true, b.offerFile(ctx, r, f, caption)
	}
	return false, b.upload(ctx, r, r.Conversation, f, caption)
}

// uploadFor bounds a file's way into the chat: what comes after it waits.
const uploadFor = 10 * time.Minute

// upload sends the file that was checked: by its descriptor, not by its name.
func (b *Bot) upload(ctx context.Context, r session.Record, to session.Conversation, f foundFile, caption string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, uploadFor, errSlow)
	defer cancel()
	_, err := b.Sender.SendFile(ctx, outbox.File{To: to, Name: shownFileName(f.path), Caption: b.captionText(r, caption),
		Body: f.File, Size: f.info.Size(), Session: r.ID})
	refused := (*outbox.Refused)(nil)
	switch {
	case errors.As(err, &refused):
		return &FileRefusal{Text: "Telegram does not take it: " + refused.Err.Error(), Err: err}
	case errors.Is(err, errSlow):
		return &FileRefusal{Text: "Telegram did not take it in ten minutes, and I gave up", Err: err}
	}
	return err
}

// captionText is the caption, below the session's name where it is not plain
// whose file it is.
func (b *Bot) captionText(r session.Record, caption string) render.Text {
	text := render.Plain(caption)
	if headed := render.Join(b.answers.heading(r), text); headed.Length() <= outbox.MaxCaption {
		return headed
	}
	return text
}

// shownFileName is the name that the chat shows: the last part of the path, with
// nothing in it hidden.
func shownFileName(path string) string {
	name := filepath.Base(path)
	if render.Plain(name).Blank() {
		return "file"
	}
	return strings.TrimSpace(glyph.Name(name))
}

// fileOffer is a file outside of its session's directory that a person was asked
// about. It is kept in memory only: after a restart the agent asks again.
type fileOffer struct {
	session uuid.UUID
	to      session.Conversation
	path    string
	caption string
	until   time.Time
	sending bool // a person has said yes
}

const (
	offerFor  = 10 * time.Minute
	maxOffers = 5 // open at once, of one session: an agent must not flood the chat
)

// offerFile asks in the chat whether to send a file. While a question about the
// very same file is open there is no second one.
func (b *Bot) offerFile(ctx context.Context, r session.Record, f foundFile, caption string) error {
	o := fileOffer{session: r.ID, to: r.Conversation, path: f.path, caption: caption, until: b.Now().Add(offerFor)}
	mark := o.mark(f.info)
	fresh, err := b.files.put(mark, o, b.Now())
	if err != nil || !fresh {
		return err
	}
	shown := shownPath(b.FromHome(f.path))
	args := i18n.Args{"Name": r.Name, "Path": shown, "Size": bytesText(f.info.Size())}
	err = b.For(r.ID).Post(ctx, o.to, chat.Marked(b.words.Say(i18n.FileAsk, args), shown), chat.Rows(2,
		b.Button(i18n.ButtonSendIt, "snd:"+mark, outbox.Primary), b.Button(i18n.ButtonNo, "snx:"+mark, "")))
	if err != nil {
		b.files.drop(mark)
	}
	return err
}

// shownPath is a path as a person is asked about it: all that is in it is seen.
func shownPath(path string) string { return inOneLine.Replace(ask.Visible(path)) }

// inOneLine is for what Visible leaves as it is.
var inOneLine = strings.NewReplacer("\n", "⟨U+000A⟩", "\t", "⟨U+0009⟩")

// tapSendFile sends a file that was asked about, if it is still the very same.
// The question keeps its buttons until it is known what became of it: a stop in
// the middle leaves no message behind that says for ever that it is under way.
func (b *Bot) tapSendFile(_ context.Context, t chat.Tap) (chat.Answer, error) {
	o, mark, state := b.offered(t)
	if state != offerOpen {
		return b.noOffer(t, state)
	}
	r, ok := b.Records.Get(o.session)
	if !ok {
		b.files.drop(mark)
		return b.staleSaying(t, i18n.FileStale)
	}
	return chat.Answer{Text: b.words.Say(i18n.FileSending), Then: func(ctx context.Context) error {
		defer b.files.drop(mark)
		return b.fileAnswered(context.WithoutCancel(ctx), t, b.sendOffered(ctx, t.To, r, o, mark))
	}}, nil
}

// sendOffered sends a file that was asked about and says what became of it.
func (b *Bot) sendOffered(ctx context.Context, to session.Conversation, r session.Record, o fileOffer, mark string) string {
	f, err := b.openFile(o.path, r.Dir)
	if err != nil {
		return b.fileNotSent(r, err)
	}
	defer f.Close()
	if f.path != o.path || o.mark(f.info) != mark {
		return b.words.Say(i18n.FileChanged)
	}
	if err := b.upload(ctx, r, to, f, o.caption); err != nil {
		return b.fileNotSent(r, err)
	}
	return b.words.Say(i18n.FileSent)
}

// tapLeaveFile answers the question about a file with no.
func (b *Bot) tapLeaveFile(_ context.Context, t chat.Tap) (chat.Answer, error) {
	_, mark, state := b.offered(t)
	if state != offerOpen {
		return b.noOffer(t, state)
	}
	b.files.drop(mark)
	return chat.Do(func(ctx context.Context) error { return b.fileAnswered(ctx, t, b.words.Say(i18n.FileLeft)) })
}

// offered takes the offer that a button names: it can be answered once.
func (b *Bot) offered(t chat.Tap) (o fileOffer, mark string, state offerState) {
	if len(t.Args) == 0 {
		return fileOffer{}, "", offerGone
	}
	o, state = b.files.take(t.Args[0], t.To, b.Now())
	return o, t.Args[0], state
}

// noOffer answers a tap on a question that cannot be answered any more.
func (b *Bot) noOffer(t chat.Tap, state offerState) (chat.Answer, error) {
	if state == offerTaken {
		return b.toast(i18n.FileSending)
	}
	return b.staleSaying(t, i18n.FileStale)
}

// fileNotSent says why a file was not sent after all.
func (b *Bot) fileNotSent(r session.Record, err error) string {
	if refusal := (*FileRefusal)(nil); errors.As(err, &refusal) {
		return b.words.Say(i18n.FileFailed, i18n.Args{"Reason": refusal.Text})
	}
	b.Log.Error("file_not_sent", "session_id", r.ID.String(), "error", err.Error())
	return b.words.Say(i18n.FileUnsure)
}

// fileAnswered says below a question what became of it.
func (b *Bot) fileAnswered(ctx context.Context, t chat.Tap, what string) error {
	return b.replace(ctx, t, t.Text+"\n\n"+what)
}

// fileReason is what the system says of a file that cannot be had.
func fileReason(err error) error {
	text := reason(err)
	if errors.Is(err, fs.ErrNotExist) {
		text = "there is no such file"
	}
	return &FileRefusal{Text: text, Err: err}
}
