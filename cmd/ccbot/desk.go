package main

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/naming"
	"ccbot/internal/session"
)

// desk is what a verb knows of the sessions: it finds them by the chat's rule, and says what the chat says, in English.
type desk struct {
	config.Config
	store *session.Store
	book  *conversation.Book
	words chat.Phrases
}

// openDesk reads only.
func openDesk(environ []string, stderr io.Writer) (desk, error) {
	c, store, err := openForReading(environ, stderr)
	if err != nil {
		return desk{}, err
	}
	words, err := i18n.Load(glyph.Name)
	if err != nil {
		return desk{}, err
	}
	attach := func(id uuid.UUID) string { r, _ := store.Get(id); return "ccbot attach " + terminal.ShellWord(r.Name) }
	return desk{Config: c, store: store,
		book: &conversation.Book{Records: host.Views{Records: store}, Successors: host.Sessions{Desk: host.Desk{Records: store}}},
		words: chat.Phrases{Words: words.For("en"), Facts: chat.Facts{Now: time.Now, Attach: attach,
			Places: &host.Machine{Home: host.WithoutLinks(c.Home), Roots: c.RootFolders, Records: store}}}}, nil
}

// find finds the one session that a person means, one that fits where any does.
func (d desk) find(what string, fits func(views.Session) bool) (views.Session, error) {
	found := d.book.Find(session.Conversation{}, what, fits)
	var records []session.Record
	for _, r := range found {
		record, _ := d.store.Get(r.ID)
		records = append(records, record)
	}
	if _, err := theOne(what, records, naming.ShortID); err != nil {
		return views.Session{}, err
	}
	return found[0], nil
}

func anySession(views.Session) bool { return true }

// english are the chat's sentences for who stands at the desk.
func (s *system) english() chat.Phrases {
	return chat.Phrases{Words: s.bot.Speech.For("en"), Facts: s.bot.Facts}
}

// asTheChatSays is an error in the sentence that the chat has for it. The zero session: the error is about none.
// What nobody foresaw stays as it is.
func asTheChatSays(p chat.Phrases, r views.Session, err error) error {
	if err == nil {
		return nil
	}
	e, f := refusal.In(err), p.Failure(r, err)
	switch {
	case e.Code == refusal.Internal:
		return err
	case e.Open:
		return refuse(codeRefused, p.Say(i18n.AlreadyOpen, i18n.Args{"Name": r.Name})+" In a terminal: "+p.Attach(r.ID))
	}
	return refuse(codeRefused, inTerminal(f.Text.Text))
}

// chatCommand is a command of the chat that is a verb, too. What goes on behind it is a path.
var chatCommand = regexp.MustCompile(`(^|[ ,;(])/(new|list|resume|archive|done|history|changes|status|usage|why)([ ,;:)]|\.( |$)|$)`)

// inTerminal names the verbs in place of the chat's commands.
func inTerminal(text string) string { return chatCommand.ReplaceAllString(text, "${1}ccbot $2$3") }

// confirm asks a question that is answered with y, unless answers is nil.
func confirm(p *terminal.Printer, question string, answers io.Reader) error {
	if answers == nil {
		return nil
	}
	p.Line("%s [y/N]", question)
	said, _ := bufio.NewReader(answers).ReadString('\n')
	if said = strings.ToLower(strings.TrimSpace(said)); said != "y" && said != "yes" {
		return errors.New("nothing was done: answer y, or give --yes")
	}
	return p.Err
}
