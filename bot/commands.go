package bot

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"ccbot/bot/chat"
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

// resolveDir makes a path absolute: ~ is home, a relative one starts at the
// current session's directory, and none is that directory itself, or home.
func (b *Bot) resolveDir(to session.Conversation, path string) (string, error) {
	base := b.Home
	r, ok, err := b.CurrentSession(to)
	if err != nil {
		return "", err
	}
	if ok {
		base = r.Dir
	}
	switch {
	case path == "":
		return base, nil
	case path == "~" || strings.HasPrefix(path, "~/"):
		return filepath.Join(b.Home, path[1:]), nil
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	}
	return filepath.Join(base, path), nil
}

func (b *Bot) outsideRoots(dir string) string {
	return b.words.Say(i18n.PathNotAllowed, i18n.Args{"Path": dir, "Roots": strings.Join(b.Roots, ", ")})
}

func (b *Bot) inRoots(dir string) bool { return InRoots(b.Roots, dir) }

// InRoots says whether sessions may be opened in dir: below one of the roots,
// which have no links in them; without roots anywhere. The links of dir are
// resolved as far as it exists, so that none leads out.
func InRoots(roots []string, dir string) bool {
	real := resolved(dir)
	return len(roots) == 0 || slices.ContainsFunc(roots, func(root string) bool {
		rel, err := filepath.Rel(root, real)
		return err == nil && filepath.IsLocal(rel)
	})
}

// resolved is dir without links, as far as it exists.
func resolved(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if parent := filepath.Dir(dir); err != nil && parent != dir {
		return filepath.Join(resolved(parent), filepath.Base(dir))
	} else if err != nil {
		return dir
	}
	return real
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
