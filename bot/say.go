package bot

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// limit is Telegram's limit of a message, in UTF-16 units.
const limit = 4096

func plain(text string) render.Text { return render.Plain(text) }

// post sends a text that no transcript can repeat: it is on disk when post
// returns. Buttons stand under its last part.
func (b *Bot) post(ctx context.Context, to session.Conversation, text render.Text, buttons [][]outbox.Button) error {
	return b.of(uuid.Nil).post(ctx, to, text, buttons)
}

// postUnder posts one message, under the one that it is about if it names one. The
// outbox splits what is too long: all of it is posted, or nothing, so that a retry
// repeats no part. Of a blank text there is nothing to post. Who was taken off the
// list gets nothing.
func (b *Bot) postUnder(ctx context.Context, m outbox.Message) error {
	if m.Text.Blank() {
		return nil
	}
	if !b.mayShow(m.To) {
		b.Log.Info("not_told", "chat_id", m.To.ChatID, "why", "nobody there is allowed any more")
		return nil
	}
	m.Session = b.sessionUnder(m)
	if err := b.Sender.Post(ctx, m); err != nil {
		return fmt.Errorf("post: %w", err)
	}
	return nil
}

// rows lays buttons out, a few per row.
func rows(perRow int, buttons ...outbox.Button) [][]outbox.Button {
	var all [][]outbox.Button
	for len(buttons) > perRow {
		all, buttons = append(all, buttons[:perRow]), buttons[perRow:]
	}
	if len(buttons) == 0 {
		return all
	}
	return append(all, buttons)
}

// button is one button of this bot: its word, and what a tap on it does.
func (b *Bot) button(word i18n.Key, data string, style outbox.Style) outbox.Button {
	return outbox.Button{Text: b.words.Say(word), Data: data, Style: style}
}

// staleSaying answers a tap on a button whose time has passed, and says what to
// do instead.
func (b *Bot) staleSaying(ctx context.Context, t tapEvent, what i18n.Key) error {
	b.Sender.Answer(ctx, t.to, t.query, b.words.Say(what), false)
	return b.spend(ctx, t)
}

// screenText is the end of a terminal's screen as a phone shows it, in monospace.
func screenText(screen string) render.Text {
	return render.Pre(strings.Trim(lastLines(tightScreen(screen), 30), "\n"), "")
}

// tightScreen is a terminal's screen without gaps, with rules that fit.
func tightScreen(screen string) string {
	var lines []string
	for line := range strings.Lines(screen) {
		line = rule.ReplaceAllString(strings.TrimRight(line, " \n"), strings.Repeat("$1", 12))
		gap := line == "" && (len(lines) == 0 || lines[len(lines)-1] == "")
		if !gap && !strings.HasPrefix(line, "Pane is dead (") {
			lines = append(lines, line)
		}
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// paragraphs are texts with an empty line between them. Of an empty one nothing
// is seen.
func paragraphs(parts ...render.Text) (text render.Text) {
	for _, p := range parts {
		if text.Text != "" && p.Text != "" {
			text = render.Join(text, plain("\n\n"))
		}
		text = render.Join(text, p)
	}
	return text
}

// rule is a line across the terminal.
var rule = regexp.MustCompile(`([─╌▔])[─╌▔]{11,}`)

// marked is a sentence in which values that people copy, and that Telegram would
// take for commands, stand as code. Of several that begin at the same place the
// longest counts.
func marked(text string, values ...string) render.Text {
	at, found := len(text), ""
	for _, v := range values {
		i := strings.Index(text, v)
		if v != "" && i >= 0 && (i < at || i == at && len(v) > len(found)) {
			at, found = i, v
		}
	}
	if found == "" {
		return plain(text)
	}
	return render.Join(plain(text[:at]), render.Code(found), marked(text[at+len(found):], values...))
}
