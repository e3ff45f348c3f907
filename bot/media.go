package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/port/files"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Downloader fetches files that people send from the Bot API server.
type Downloader interface {
	// Download writes a file and returns the ending of its name on the server, such
	// as ".jpg". ErrFileTooBig is for good; any other error may pass.
	Download(ctx context.Context, fileID string, to io.Writer) (ending string, err error)
	// Limit is how many bytes a file may have.
	Limit() int64
}

// ErrFileTooBig says that the Bot API server does not give a file, for its size.
var ErrFileTooBig = errors.New("the file is too big for the Bot API server")

// attachment is the file of a message.
type attachment struct {
	id     string // Telegram's
	name   string // as its sender calls it, else as we do
	ending string // of that name where it has none and the server knows none either
	size   int64  // in bytes, 0: not known
	spoken bool
}

// attached finds the file of a message. What has a name keeps it; the others are
// called by their kind and message, so that none is like an earlier one.
func attached(m *models.Message) (a attachment, ok bool) {
	own := func(kind string) string { return fmt.Sprintf("%s-%d", kind, m.ID) }
	or := func(name, kind string) string {
		if strings.TrimSpace(name) == "" {
			return own(kind)
		}
		return name
	}
	switch {
	case len(m.Photo) > 0:
		p := slices.MaxFunc(m.Photo, func(a, b models.PhotoSize) int { return a.Width*a.Height - b.Width*b.Height })
		return attachment{id: p.FileID, name: own("photo"), ending: ".jpg", size: int64(p.FileSize)}, true
	case m.Animation != nil: // it comes as a document, too
		f := m.Animation
		return attachment{id: f.FileID, name: or(f.FileName, "animation"), ending: ".mp4", size: f.FileSize}, true
	case m.Video != nil:
		f := m.Video
		return attachment{id: f.FileID, name: or(f.FileName, "video"), ending: ".mp4", size: f.FileSize}, true
	case m.VideoNote != nil:
		f := m.VideoNote
		return attachment{id: f.FileID, name: own("video-note"), ending: ".mp4", size: int64(f.FileSize)}, true
	case m.Audio != nil:
		f := m.Audio
		return attachment{id: f.FileID, name: or(f.FileName, "audio"), ending: ".mp3", size: f.FileSize}, true
	case m.Voice != nil:
		f := m.Voice
		return attachment{id: f.FileID, name: own("voice"), ending: ".ogg", size: f.FileSize, spoken: true}, true
	case m.Document != nil:
		f := m.Document
		return attachment{id: f.FileID, name: or(f.FileName, "file"), size: f.FileSize}, true
	}
	return attachment{}, false
}

// called is the attachment's name with an ending.
func (a attachment) called(ending string) string {
	if path.Ext(a.name) != "" {
		return a.name
	}
	if ending == "" {
		ending = a.ending
	}
	return a.name + ending
}

// shown is its name in a sentence.
func (a attachment) shown() string {
	return chat.Tail(glyph.Name(path.Base(a.called(""))), maxShownName)
}

const maxShownName = 80 // letters

// media takes a message that is no text. Its file goes into the directory of the
// session that it is for, and the prompt names it there.
func (b *Bot) media(ctx context.Context, in incoming, m *models.Message) error {
	a, ok := attached(m)
	if !ok {
		return b.Fail(ctx, in.To, in.MessageID, render.Plain(b.words.Say(i18n.MediaUnknown)), nil)
	}
	r, ok, err := b.addressee(ctx, in)
	if err != nil || !ok {
		return err
	}
	text := textOf(m)
	if a.spoken && b.Voice != nil && a.size <= maxRecording {
		in, text, err = b.receiveSpeech(ctx, in, r, a, text)
	} else {
		in, err = b.receive(ctx, in, r, a)
	}
	if problem := (*fileProblem)(nil); errors.As(err, &problem) {
		return b.Fail(ctx, in.To, in.MessageID, render.Plain(problem.text+"\n"+b.words.Say(i18n.NotDelivered)), nil)
	}
	if err != nil {
		return err
	}
	return b.prompt(ctx, in, text)
}

// addressee is the session that a message goes to: one that can take it, now or
// when it is back. Where there is none that is told, before anything is fetched.
func (b *Bot) addressee(ctx context.Context, in incoming) (r session.Record, ok bool, err error) {
	r, ok, err = b.addressed(in)
	switch {
	case err != nil:
		return session.Record{}, false, err
	case !ok:
		return session.Record{}, false, b.notDelivered(ctx, in, b.nowhereText(in), nil)
	case !takesFiles(r):
		return session.Record{}, false, b.agentGone(ctx, in, r)
	}
	return r, true, nil
}

func takesFiles(r session.Record) bool { return r.State.Live() || r.Resumable() }

// addressed is the session that a message goes to: the one that its files lie with,
// or that goes on with that one's conversation.
func (b *Bot) addressed(in incoming) (session.Record, bool, error) {
	if in.session == uuid.Nil {
		return b.Target(in.Message)
	}
	r, ok := b.Records.Get(in.session)
	return b.Successor(r), ok, nil
}

// fileProblem is why a file is not passed on: a sentence for who sent it.
type fileProblem struct{ text string }

func (p *fileProblem) Error() string { return p.text }

// fetchError is a download that failed; another try may succeed.
type fetchError struct {
	name string
	err  error
}

func (e *fetchError) Error() string { return "fetch a file: " + e.err.Error() }

func (e *fetchError) Unwrap() error { return e.err }

// receive puts a message's file into a session's folder, once for each message
// however often it is handled. Errors: *fileProblem, *fetchError.
func (b *Bot) receive(ctx context.Context, in incoming, r session.Record, a attachment) (incoming, error) {
	if a.size > b.Downloader.Limit() {
		return in, b.tooBig(a)
	}
	b.Sender.Typing(ctx, in.To)
	return b.put(in, r, func(to io.Writer) (string, error) { return b.download(ctx, a, to) })
}

// put puts the file that fill writes into a session's folder. Errors: *fileProblem,
// or fill's own.
func (b *Bot) put(in incoming, r session.Record, fill func(io.Writer) (string, error)) (incoming, error) {
	id := fmt.Sprintf("%s-%d", in.Key, in.Sent.Unix()) // an update's id may come again after a quiet week
	got, err := b.Files.Put(r.ID, id, fill)
	if err == nil {
		in.files, in.session, in.dir = []string{got.Name}, r.ID, got.Dir
		return in, nil
	}
	refused, ok := errors.AsType[*files.PutError](err)
	if !ok {
		return in, err
	}
	folder := path.Join(r.Dir, files.Folder)
	if refused.Code == files.NotOurs {
		return in, &fileProblem{b.words.Say(i18n.InboxNotOurs, i18n.Args{"Path": folder})}
	}
	b.Log.Error("file_not_kept", "session_id", r.ID.String(), "error", err.Error())
	args := i18n.Args{"Path": folder, "Reason": refused.Reason}
	return in, &fileProblem{b.words.Say(i18n.InboxUnwritable, args)}
}

// download fetches a file and says how it is to be called. Errors: *fileProblem,
// *fetchError.
func (b *Bot) download(ctx context.Context, a attachment, to io.Writer) (name string, err error) {
	ending, err := b.Downloader.Download(ctx, a.id, to)
	switch {
	case errors.Is(err, ErrFileTooBig):
		return "", b.tooBig(a)
	case err != nil:
		return "", &fetchError{name: a.shown(), err: err}
	}
	return a.called(ending), nil
}

func (b *Bot) tooBig(a attachment) error {
	return &fileProblem{b.words.Say(i18n.FileTooBig, i18n.Args{"Name": a.shown()})}
}

// withLinks is a text with the addresses of its links, which Telegram keeps
// beside it: each behind the words that it is under. Offsets count UTF-16 units;
// what is not in the text is passed over. Nobody sees an address before it is
// typed, so one that would act is passed over, too, and a command gets none.
func withLinks(text string, entities []models.MessageEntity) string {
	var links []models.MessageEntity
	for _, e := range entities {
		if e.Type == models.MessageEntityTypeTextLink && e.URL != "" {
			links = append(links, e)
		}
	}
	if _, class, _ := lifecycle.Normalise(text); len(links) == 0 || class != lifecycle.ClassPrompt {
		return text
	}
	slices.SortStableFunc(links, func(a, b models.MessageEntity) int { return a.Offset + a.Length - b.Offset - b.Length })
	units := utf16.Encode([]rune(text))
	var out []uint16
	done := 0
	for _, e := range links {
		end := e.Offset + e.Length
		if e.Offset < 0 || e.Length <= 0 || end > len(units) || string(utf16.Decode(units[e.Offset:end])) == e.URL ||
			strings.ContainsFunc(e.URL, unicode.IsSpace) || inert(e.URL) != e.URL || within16(units, end) {
			continue
		}
		out = append(append(out, units[done:end]...), utf16.Encode([]rune(" ("+e.URL+")"))...)
		done = end
	}
	return string(utf16.Decode(append(out, units[done:]...)))
}

// within16 says whether a place in a text is within a character of two units.
func within16(units []uint16, at int) bool {
	return at > 0 && at < len(units) && utf16.IsSurrogate(rune(units[at-1])) &&
		utf16.DecodeRune(rune(units[at-1]), rune(units[at])) != unicode.ReplacementChar
}

// withFiles is a prompt that names the files that came with it, one per line. The
// words are for the agent: they are the same in every language.
func (b *Bot) withFiles(text string, names []string) string {
	var all []string
	if text != "" {
		all = []string{text}
	}
	for _, f := range names {
		if !path.IsAbs(f) {
			f = files.Folder + "/" + f
		}
		all = append(all, "Attached file: "+f)
	}
	return strings.Join(all, "\n")
}

// filesFor are the files of a message as a session finds them: by their whole path
// where it is not in the directory that they came to, because its conversation has
// moved meanwhile.
func (in incoming) filesFor(r session.Record) []string {
	if in.dir == r.Dir || in.dir == "" {
		return in.files
	}
	var all []string
	for _, f := range in.files {
		all = append(all, path.Join(in.dir, files.Folder, f))
	}
	return all
}

// Awaited are the names of files that a prompt has which is not typed yet, or not
// proven: they are not cleaned away.
func (b *Bot) Awaited() (map[string]bool, error) {
	entries, err := b.Entries.List()
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool)
	for _, e := range entries {
		for _, f := range e.Files {
			names[path.Base(f)] = true
		}
	}
	return names, nil
}
