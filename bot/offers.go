package bot

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/lifecycle"
)

// dirRefusal says that a session's directory cannot be used, and offers others.
func (b *Bot) dirRefusal(c comeback, e *lifecycle.DirError) failure {
	word := i18n.DirNoAccess
	var buttons []outbox.Button
	switch e.Why {
	case lifecycle.DirMissing:
		word = i18n.DirGone
		buttons = append(buttons, b.button(i18n.ButtonMakeDir, "mkd:"+c.data(), ""))
	case lifecycle.DirNotADir:
		word = i18n.DirNotADir
	}
	for _, dir := range b.otherDirs(e.Dir) {
		q := c.wish
		q.dir = dir
		buttons = append(buttons, outbox.Button{Text: clip(b.short(dir), 40), Data: "res:" + q.data()})
	}
	text := b.words.Say(word, i18n.Args{"Name": c.r.Name, "Dir": b.short(e.Dir)})
	return failure{text: marked(text, b.short(e.Dir)), buttons: rows(1, buttons...)}
}

// shownDirs bounds the directories that are offered; a path reaches any other.
const shownDirs = 4

// otherDirs are directories in which a session may come back instead: those of
// other sessions, newest first, and home.
func (b *Bot) otherDirs(but string) []string {
	var usable []string
	for _, dir := range b.usedDirs() {
		if dir != but && !slices.Contains(usable, dir) && b.inRoots(dir) && lifecycle.CheckDir(dir) == nil {
			usable = append(usable, dir)
		}
	}
	if last := len(usable) - 1; last >= shownDirs && usable[last] == b.Home {
		usable = slices.Delete(usable, shownDirs-1, last)
	}
	return usable[:min(len(usable), shownDirs)]
}

// tapMakeDir makes a directory that is gone again, and brings the session back
// in it.
func (b *Bot) tapMakeDir(ctx context.Context, t tapEvent) error {
	q, r, ok := b.wished(t)
	if !ok {
		return b.stale(ctx, t)
	}
	c := comeback{wish: q, r: r, to: t.to, from: t.from}
	dir := cmp.Or(q.dir, r.Dir)
	if !b.inRoots(dir) {
		return b.tapBack(ctx, t, c) // which says so
	}
	if err := b.makeDir(dir); err != nil {
		b.Sender.Answer(ctx, t.to, t.query, "", false)
		args := i18n.Args{"Path": b.short(dir), "Reason": reason(err)}
		return b.explain(ctx, t.to, failure{text: plain(b.words.Say(i18n.MakeDirFailed, args)), err: err})
	}
	return b.tapBack(ctx, t, c)
}

// makeDir makes a directory, inside the roots if there are any: a link on the
// way that is made to lead out at this moment is not followed.
func (b *Bot) makeDir(dir string) error {
	if len(b.Roots) == 0 {
		return os.MkdirAll(dir, 0o755)
	}
	for _, path := range b.Roots {
		rel, err := filepath.Rel(path, resolved(dir))
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		root, err := os.OpenRoot(path)
		if err != nil {
			return err
		}
		return errors.Join(root.MkdirAll(rel, 0o755), root.Close())
	}
	return errors.New("it is outside of CCBOT_ROOTS")
}

// reason is what the system says of a failure, without the path that the person
// is told anyway.
func reason(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return glyph.Name(err.Error())
}

// damagedRefusal says what is wrong with a transcript, and asks how to go on.
// Whatever is chosen, the original stays.
func (b *Bot) damagedRefusal(c comeback, e *lifecycle.TranscriptError) failure {
	mended, asIs := c.wish, c.wish
	mended.damaged, asIs.damaged = lifecycle.UseCopy, lifecycle.UseAsItIs
	if e.Nothing { // a copy of nothing is a new conversation
		return failure{text: plain(b.words.Say(i18n.TranscriptEmpty, i18n.Args{"Name": c.r.Name})), buttons: rows(1,
			b.button(i18n.ButtonBeginAnew, "res:"+mended.data(), outbox.Primary),
			b.cancelButton(c.from))}
	}
	var faults []string
	for _, f := range e.Health.Faults {
		faults = append(faults, b.words.Say(i18n.FaultKey(string(f))))
	}
	text := b.words.Say(i18n.TranscriptDamaged, i18n.Args{"Name": c.r.Name, "Details": strings.Join(faults, "; ")})
	return failure{text: plain(text), buttons: rows(1,
		b.button(i18n.ButtonUseCopy, "res:"+mended.data(), outbox.Primary),
		b.button(i18n.ButtonUseAsIs, "res:"+asIs.data(), ""),
		b.cancelButton(c.from))}
}
