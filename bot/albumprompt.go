package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/inbox"
	"ccbot/bot/prompt"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Words in the note of a gathered entry.
const (
	notedProblem = "problem:" // and a sentence, escaped: why its file is not there
	notedNowhere = "nowhere"  // there was no session for it
	notedTold    = "told"     // the problems of its album were told
	notedIn      = "in:"      // and a key: the entry that has it, too, once that one is gathered no more
)

func noted(e inbox.Entry, word string) (rest string, ok bool) {
	for w := range strings.FieldsSeq(e.Note) {
		if rest, ok := strings.CutPrefix(w, word); ok {
			return rest, true
		}
	}
	return "", false
}

func withNote(note, word string) string { return strings.TrimSpace(note + " " + word) }

// gather fetches the file of one message of an album and keeps it until the album
// is whole. What cannot be had is noted: the album is told of once.
func (a *albums) gather(ctx context.Context, in incoming, m *models.Message, file prompt.Attachment) error {
	k := album{in.To, m.MediaGroupID}
	a.begin(k)
	defer a.end(k)
	r, ok, err := a.home(in, k)
	if err != nil {
		return err
	}
	note := notedNowhere
	if ok {
		note = ""
		in, _, err = a.attachments.Receive(ctx, in, r, file, "")
		if problem, final := a.problem(in, err); final {
			note = notedProblem + url.PathEscape(problem)
		} else if err != nil {
			return err
		}
	}
	return a.Entries.Change(in.Key, func(e *inbox.Entry) error {
		e.State, e.Album, e.Session, e.Files = inbox.Gathered, k.id, r.ID, in.Files
		e.Conversation, e.MessageID, e.Sent = in.To, in.MessageID, prompt.SentAt(in.Incoming)
		e.Text = prompt.TextOf(m)
		e.Note = withNote(e.Note, note)
		return nil
	})
}

// home is the session that an album goes to: that of the messages of it that
// came before. A person may have switched in between.
func (a *albums) home(in incoming, k album) (r session.Record, ok bool, err error) {
	all, _, err := a.members(k)
	if err != nil {
		return session.Record{}, false, err
	}
	for _, e := range all {
		in.Session = cmp.Or(in.Session, e.Session)
	}
	r, ok, err = a.prompts.Addressed(in)
	return r, ok && prompt.Takes(r), err
}

// problem says why a file is not there, if that is for good.
func (a *albums) problem(in incoming, err error) (text string, final bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tries[in.Key]++
	tries := a.tries[in.Key]
	if err == nil || tries == fetchTries {
		delete(a.tries, in.Key)
	}
	if p, ok := errors.AsType[*prompt.FileProblem](err); ok {
		return p.Text, true
	}
	failed, ok := errors.AsType[*prompt.FetchError](err)
	if !ok || tries < fetchTries {
		return "", false
	}
	a.Log.Error("file_not_fetched", "error", err.Error())
	return a.words.Say(i18n.FileNotFetched, i18n.Args{"Name": failed.Name}), true
}

// settle makes a prompt of the gathered messages of an album and finishes them.
func (a *albums) settle(ctx context.Context, all []inbox.Entry) error {
	all, err := a.notTaken(all)
	if err != nil || len(all) == 0 {
		return err
	}
	first := all[0]
	for _, e := range all[1:] {
		if err := a.note(e.Key, notedIn+first.Key); err != nil {
			return err
		}
	}
	if err := a.promptFor(ctx, first, all); err != nil {
		return errors.Join(err, a.regather(first))
	}
	for _, e := range all { // the first one only if it went nowhere, which was told
		if err := a.finish(e.Key); err != nil {
			return err
		}
	}
	return nil
}

// notTaken finishes what is part of a prompt already: a crash has come between.
func (a *albums) notTaken(all []inbox.Entry) (left []inbox.Entry, err error) {
	for _, e := range all {
		key, marked := noted(e, notedIn)
		if !marked {
			left = append(left, e)
			continue
		}
		first, err := a.Entries.Load(key)
		switch {
		case errors.Is(err, inbox.ErrNoEntry), err == nil && first.State != inbox.Gathered && first.State != inbox.Accepted:
			err = a.finish(e.Key)
		case err == nil:
			left = append(left, e)
		}
		if err != nil {
			return nil, err
		}
	}
	return left, nil
}

// finish finishes an entry that is still gathered.
func (a *albums) finish(key string) error {
	e, err := a.Entries.Load(key)
	if errors.Is(err, inbox.ErrNoEntry) || err == nil && e.State != inbox.Gathered {
		return nil
	}
	if err != nil {
		return err
	}
	return a.Entries.Finish(key)
}

func (a *albums) note(key, word string) error {
	return a.Entries.Change(key, func(e *inbox.Entry) error {
		if _, there := noted(*e, word); !there {
			e.Note = withNote(e.Note, word)
		}
		return nil
	})
}

// regather brings the first message of an album back to what it was before a prompt
// could not be made of it. One that is a prompt stays one.
func (a *albums) regather(first inbox.Entry) error {
	err := a.Entries.Change(first.Key, func(e *inbox.Entry) error {
		if e.State != inbox.Accepted {
			return inbox.ErrNoEntry // it is a prompt
		}
		e.State, e.Text, e.Files, e.Session = inbox.Gathered, first.Text, first.Files, first.Session
		e.Note = withNote(e.Note, first.Note)
		return nil
	})
	if errors.Is(err, inbox.ErrNoEntry) {
		return nil
	}
	return err
}

// promptFor makes the prompt of an album, whose entry is that of its first message.
// Where nothing of it can be passed on that is told, and the entry stays gathered.
func (a *albums) promptFor(ctx context.Context, first inbox.Entry, all []inbox.Entry) error {
	m, err := prompt.MessageOf(first)
	if err != nil {
		return err
	}
	if !a.Hears(m.From.ID, m.Chat) {
		return nil // since a restart
	}
	in := a.incomingOf(first.Key, m)
	for _, e := range all {
		in.Session = cmp.Or(in.Session, e.Session)
	}
	r, ok, err := a.prompts.Addressee(ctx, in)
	if err != nil || !ok {
		return err
	}
	var problems []string
	for _, e := range all {
		in.Files = append(in.Files, a.filesOf(e, r)...)
		if problem, ok := noted(e, notedProblem); ok {
			problem, _ = url.PathUnescape(problem) // it was escaped here
			problems = append(problems, problem)
		}
	}
	in.Dir = r.Dir
	if len(in.Files) == 0 {
		problems = append(slices.Compact(problems), a.words.Say(i18n.NotDelivered))
		return a.Fail(ctx, in.To, in.MessageID, render.Plain(strings.Join(problems, "\n")), nil)
	}
	if err := a.tellProblems(ctx, in, first, slices.Compact(problems)); err != nil {
		return err
	}
	return a.prompts.Take(ctx, in, captionsOf(all))
}

// tellProblems says which files of an album the agent does not get.
func (a *albums) tellProblems(ctx context.Context, in incoming, first inbox.Entry, problems []string) error {
	if _, told := noted(first, notedTold); told || len(problems) == 0 {
		return nil
	}
	text := strings.Join(append(problems, a.words.Say(i18n.AlbumRest)), "\n")
	if err := a.Warn(ctx, in.To, in.MessageID, render.Plain(text), nil); err != nil {
		return err
	}
	return a.note(first.Key, notedTold)
}

// filesOf are the files of a gathered message as a session finds them.
func (a *albums) filesOf(e inbox.Entry, r session.Record) []string {
	at, ok := a.Records.Get(e.Session)
	if !ok {
		at = r
	}
	return incoming{Files: e.Files, Dir: at.Dir}.FilesFor(r)
}

// reword gives a message of an album another caption, if no prompt is made of it
// yet; isGone of the error else.
func (a *albums) reword(key, caption string) error {
	a.one.Lock()
	defer a.one.Unlock()
	was, class, err := a.classes(key, caption)
	if err != nil {
		return err
	}
	return a.Entries.Change(key, func(e *inbox.Entry) error {
		switch {
		case e.State != inbox.Gathered:
			return fmt.Errorf("entry %s is %s: %w", key, e.State, fs.ErrNotExist)
		case e.Text == caption:
			return prompt.ErrSameText
		}
		e.Text = caption
		return prompt.MayBecome(string(was), class)
	})
}

// classes are those of an album's prompt as it is gathered now, and with another caption of one of its messages: the
// captions are joined, so an edit of one may bring another to the start.
func (a *albums) classes(key, caption string) (was, class lifecycle.Class, err error) {
	e, err := a.Entries.Load(key)
	if err != nil {
		return "", "", err
	}
	all, _, err := a.members(album{e.Conversation, e.Album})
	if err != nil {
		return "", "", err
	}
	classOf := func() lifecycle.Class {
		_, class, _ := lifecycle.Normalise(captionsOf(all) + "\n.") // files stand below
		return class
	}
	was = classOf()
	if i := slices.IndexFunc(all, func(e inbox.Entry) bool { return e.Key == key }); i >= 0 {
		all[i].Text = caption
	}
	return was, classOf(), nil
}

// captionsOf are the captions of an album, one per line.
func captionsOf(all []inbox.Entry) string {
	var captions []string
	for _, e := range all {
		if e.Text != "" {
			captions = append(captions, e.Text)
		}
	}
	return strings.Join(captions, "\n")
}
