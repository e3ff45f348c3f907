package bot

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"ccbot/bot/chat"
	"ccbot/bot/port/places"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// command runs a command, unless it comes too late.
func (b *Bot) command(ctx context.Context, in chat.Incoming, c chat.Command, args string) error {
	if c.Now {
		if told, err := b.tooLate(ctx, in, c.Name); told || err != nil {
			return err
		}
	}
	return c.Run(ctx, in, args)
}

// Published are the commands that Telegram's menu shows, with their sentence.
func (b *Bot) Published() map[string]string {
	menu := make(map[string]string)
	for name, c := range b.commands {
		if !c.Hidden {
			menu[name] = b.words.Say(i18n.MenuKey(name))
		}
	}
	return menu
}

func (b *Bot) help(ctx context.Context, in chat.Incoming, _ string) error {
	return b.Say(ctx, in.To, b.words.Say(i18n.Help))
}

// newSession opens a session: /new [name] [path]. The path is what begins with
// /, ~ or . and goes on to the end of the line.
func (b *Bot) newSession(ctx context.Context, in chat.Incoming, args string) error {
	name, path := splitNew(args)
	dir, err := b.resolveDir(in.To, path)
	if err != nil {
		return err
	}
	if !b.inRoots(dir) {
		return b.Say(ctx, in.To, b.outsideRoots(dir))
	}
	r, err := b.Sessions.Start(ctx, lifecycle.StartRequest{Name: name, Dir: dir,
		Conversation: in.To, Owner: in.From, Origin: in.Key})
	if err != nil {
		return b.Explain(ctx, in.To, b.startFailure(err))
	}
	if err := b.MakeCurrent(ctx, in.To, r.ID); err != nil {
		return err
	}
	text := b.words.Say(i18n.Started, i18n.Args{"Name": r.Name, "Dir": b.Short(r.Dir)})
	if name != "" && r.Name != name {
		text = b.words.Say(i18n.NameTaken, i18n.Args{"Name": r.Name, "Wanted": name}) + "\n" + text
	}
	return b.For(r.ID).Post(ctx, in.To, chat.Marked(text, b.Short(r.Dir)), nil)
}

// splitNew tells the name from the path. Quotes around either go: they are what
// people type around blanks, and a path needs none here.
func splitNew(args string) (name, path string) {
	at, quoted := len(args), false
	before := ' '
	for i, r := range args {
		quoted = strings.ContainsRune(quotes, before)
		if strings.ContainsRune("/~.", r) && (quoted || unicode.IsSpace(before)) {
			at = i
			break
		}
		before = r
	}
	name, path = strings.Trim(args[:at], quotes+" \t\n"), strings.TrimSpace(args[at:])
	if quoted {
		path = strings.TrimRight(path, quotes)
	}
	return clipName(strings.Join(strings.Fields(chat.Visible(name)), "-")), path
}

// maxName is how long a name may be, in letters: it stands on buttons.
const maxName = 48

func clipName(name string) string {
	letters := []rune(name)
	return string(letters[:min(len(letters), maxName)])
}

// quotes are what keyboards write around a text; phones curve them.
const quotes = "\"'“”„«»‘’"

// resolveDir gives the folder that a typed path names: a relative path begins at
// the current session's folder, and without a path it is that folder itself, or
// home. Whether a session can work there is said where one is to.
func (b *Bot) resolveDir(to session.Conversation, path string) (string, error) {
	r, _, err := b.CurrentSession(to)
	if err != nil {
		return "", err
	}
	dir, err := b.Places.Resolve(r.Dir, path)
	if dir == "" {
		return "", err
	}
	return dir, nil
}

func (b *Bot) outsideRoots(dir string) string {
	roots := strings.Join(b.Places.Bounds().Roots, ", ")
	return b.words.Say(i18n.PathNotAllowed, i18n.Args{"Path": dir, "Roots": roots})
}

// inRoots says whether sessions may be opened in a folder.
func (b *Bot) inRoots(dir string) bool {
	found, err := b.Places.Resolve("/", dir)
	return found != "" && places.CodeOf(err) != places.Outside
}

// usable says whether a session can be opened in a folder.
func (b *Bot) usable(dir string) bool {
	_, err := b.Places.Resolve("/", dir)
	return err == nil
}

// stop sends Esc: it interrupts a turn, or denies an open dialog.
func (b *Bot) stop(ctx context.Context, in chat.Incoming, args string) error {
	r, ok, err := b.FindFor(in.Message, args, live)
	if err != nil {
		return err
	}
	if !ok {
		return b.noSession(ctx, in, args)
	}
	err = b.interrupt(ctx, r.ID)
	if errors.Is(err, lifecycle.ErrIdle) {
		return b.For(r.ID).Say(ctx, in.To, b.words.Say(i18n.StopNothing, i18n.Args{"Name": r.Name}))
	}
	if err != nil {
		return b.Explain(ctx, in.To, b.agentFailure(r, err))
	}
	b.Sender.React(ctx, in.To, in.MessageID, chat.ReactionReceived) // what comes of it is told by the transcript
	return nil
}

// noSession says that there is no session to do it with, and what to do.
func (b *Bot) noSession(ctx context.Context, in chat.Incoming, wanted string) error {
	if wanted != "" {
		return b.Say(ctx, in.To, b.words.Say(i18n.NoSuchSession, i18n.Args{"Name": wanted}))
	}
	return b.Say(ctx, in.To, b.noSessionText())
}

func (b *Bot) noSessionText() string {
	for _, r := range b.Records.List() {
		if resumable(r) {
			return b.words.Say(i18n.NoSessionArchived)
		}
	}
	return b.words.Say(i18n.NoSession)
}
