package offline

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"ccbot/bot/chat"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// View is the data of a reading verb, with or without a running bot.
type View struct {
	config.Config
	Store *session.Store
	Table *process.Table

	environ []string
	log     *slog.Logger
}

// Open is the first step of every verb that only looks. It names the records that it cannot read on
// stderr.
func Open(environ []string, stderr io.Writer) (View, error) {
	c, err := config.LoadForReading(environ)
	if err != nil {
		return View{}, err
	}
	d, err := Of(c, environ, stderr)
	if err == nil {
		d.NameUnread(stderr)
	}
	return d, err
}

// NameUnread names the records that cannot be read.
func (v View) NameUnread(stderr io.Writer) {
	for _, a := range v.Store.Unloaded() {
		fmt.Fprintln(stderr, "ccbot:", Describe(a))
	}
}

// Of is Open with settings that were read before; unreadable records are in its Store. If no record
// is readable, the rest is still set. Its log goes to stderr.
func Of(c config.Config, environ []string, stderr io.Writer) (d View, err error) {
	d = View{Config: c, environ: environ, log: c.QuietLog(stderr)}
	if d.Table, err = process.NewTable(); err != nil {
		return d, err
	}
	if err := statefolder.CheckFormat(c.Dir); err != nil {
		return d, err
	}
	d.Store, err = session.OpenReadOnly(filepath.Join(c.Dir, "sessions"), time.Now, slog.New(slog.DiscardHandler), AgentNames(c))
	if err != nil {
		return d, statefolder.Error(c.Dir, err)
	}
	return d, nil
}

// Words are the chat's sentences in English. Few verbs need them, and they take a while to read.
func (v View) Words() chat.Phrases {
	english := i18n.Load(glyph.Name).For("en")
	return chat.Phrases{Words: english, Facts: chat.Facts{Now: time.Now, Places: &host.Machine{Home: host.WithoutLinks(v.Home), Roots: v.RootFolders, Records: v.Store}}}
}

// Describe returns the reason why a record cannot be read.
func Describe(a session.Unloaded) string {
	return fmt.Sprintf("%s cannot be read: %s", a.File, a.Why)
}
