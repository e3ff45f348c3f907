package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/places"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/lifecycle"
)

// dirRefusal says that a session's directory cannot be used, and offers others.
func (b *Bot) dirRefusal(c comeback, e *lifecycle.DirError) chat.Failure {
	word := i18n.DirNoAccess
	var buttons []outbox.Button
	switch e.Why {
	case lifecycle.DirMissing:
		word = i18n.DirGone
		buttons = append(buttons, b.Button(i18n.ButtonMakeDir, "mkd:"+c.data(), ""))
	case lifecycle.DirNotADir:
		word = i18n.DirNotADir
	}
	for _, dir := range b.otherDirs(e.Dir) {
		q := c.wish
		q.dir = dir
		buttons = append(buttons, outbox.Button{Text: chat.Tail(b.Short(dir), 40), Data: "res:" + q.data()})
	}
	text := b.words.Say(word, i18n.Args{"Name": c.r.Name, "Dir": b.Short(e.Dir)})
	return chat.Failure{Text: chat.Marked(text, b.Short(e.Dir)), Buttons: chat.Rows(1, buttons...)}
}

// shownDirs bounds the directories that are offered; a path reaches any other.
const shownDirs = 4

// otherDirs are directories in which a session may come back instead: those of
// other sessions, newest first, and home.
func (b *Bot) otherDirs(but string) []string {
	var usable []string
	for _, dir := range b.usedDirs() {
		if dir != but && !slices.Contains(usable, dir) && b.usable(dir) {
			usable = append(usable, dir)
		}
	}
	if last := len(usable) - 1; last >= shownDirs && usable[last] == b.Places.Bounds().Home {
		usable = slices.Delete(usable, shownDirs-1, last)
	}
	return usable[:min(len(usable), shownDirs)]
}

// tapMakeDir makes a directory that is gone again, and brings the session back
// in it.
func (b *Bot) tapMakeDir(_ context.Context, t chat.Tap) (chat.Answer, error) {
	q, r, ok := b.wished(t)
	if !ok {
		return b.stale(t)
	}
	c := comeback{wish: q, r: r, to: t.To, from: t.From}
	dir := cmp.Or(q.dir, r.Dir)
	if !b.inRoots(dir) {
		return b.tapBack(t, c) // which says so
	}
	back, err := b.tapBack(t, c)
	return chat.Answer{Then: func(ctx context.Context) error {
		if err := b.Places.Make(dir); err != nil {
			args := i18n.Args{"Path": b.Short(dir), "Reason": places.ReasonOf(err)}
			return b.Explain(ctx, t.To, chat.Failure{Text: render.Plain(b.words.Say(i18n.MakeDirFailed, args)), Err: err})
		}
		return back.Then(ctx)
	}}, err
}

// damagedRefusal says what is wrong with a transcript, and asks how to go on.
// Whatever is chosen, the original stays.
func (b *Bot) damagedRefusal(c comeback, e *lifecycle.TranscriptError) chat.Failure {
	mended, asIs := c.wish, c.wish
	mended.damaged, asIs.damaged = lifecycle.UseCopy, lifecycle.UseAsItIs
	if e.Nothing { // a copy of nothing is a new conversation
		return chat.Failure{Text: render.Plain(b.words.Say(i18n.TranscriptEmpty, i18n.Args{"Name": c.r.Name})), Buttons: chat.Rows(1,
			b.Button(i18n.ButtonBeginAnew, "res:"+mended.data(), outbox.Primary),
			b.cancelButton(c.from))}
	}
	var faults []string
	for _, f := range e.Health.Faults {
		faults = append(faults, b.words.Say(i18n.FaultKey(string(f))))
	}
	text := b.words.Say(i18n.TranscriptDamaged, i18n.Args{"Name": c.r.Name, "Details": strings.Join(faults, "; ")})
	return chat.Failure{Text: render.Plain(text), Buttons: chat.Rows(1,
		b.Button(i18n.ButtonUseCopy, "res:"+mended.data(), outbox.Primary),
		b.Button(i18n.ButtonUseAsIs, "res:"+asIs.data(), ""),
		b.cancelButton(c.from))}
}
