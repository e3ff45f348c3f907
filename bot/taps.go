package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// tapEvent is a button tapped by an allowed person. Taps are handled at once
// and never written: a person who sees nothing happen taps again.
type tapEvent struct {
	query   string
	from    int64
	name    string // of that person
	to      session.Conversation
	message int
	text    string // of the message that the button is under
	buttons [][]outbox.Button
	args    []string
}

// tap does what a button says. Its data is "verb:argument:…".
type tap func(ctx context.Context, t tapEvent) error

// tapTable says what each verb does. SESSION is a session's id, WISH one with
// where and how to resume it, WRITERS a hash of the processes that the message
// shows, MARK one of what the terminal or the window shows, PLACE the message
// that the button is under, BY the person who was asked, LIFE the launch that the
// question is about. The verbs about writers begin with the letter of their scene;
// behind WRITERS may stand that nobody had asked.
func (b *Bot) tapTable() map[string]tap {
	return map[string]tap{
		"cur":   b.tapCurrent,                                     // SESSION: make it the current one
		"kill":  b.tapEnd(session.Archived),                       // SESSION:BY:LIFE: end it, as archived
		"done":  b.tapEnd(session.Completed),                      // SESSION:BY:LIFE: end it, as completed
		"no":    b.tapCancel,                                      // BY: take the question back
		"undo":  b.tapUndo,                                        // SESSION:TIME: take the end back that was then, seconds since 1970
		"res":   b.tapResume,                                      // WISH: bring it back
		"rns":   b.tapResumeAndSend,                               // KEY: bring its session back, and type it then
		"mkd":   b.tapMakeDir,                                     // WISH: make its directory again, then bring it back
		"try":   b.tapRetry,                                       // SESSION: try again to end what is left of it
		"again": b.tapAgain,                                       // KEY: type an unproven prompt again
		"drop":  b.tapDrop,                                        // KEY: give an unproven prompt up
		"old":   b.tapOld,                                         // DECISION:KEY: type an old prompt, or give it up
		"any":   b.tapAnyway,                                      // KEY: type a prompt that waits behind a draft
		"p":     b.tapAsk,                                         // REQUEST:VERB:…: answer a permission request
		"dw":    b.tapDenyWith,                                    // REQUEST:KEY: deny it, with a prompt that waits as the reason
		"sa":    b.tapSendAfter,                                   // KEY: let a prompt wait behind the dialog
		"opt":   b.tapOption,                                      // SESSION:MARK:OPTION: choose it in the terminal
		"key":   b.tapKey,                                         // SESSION:MARK:KEY: press it in the terminal
		"snd":   b.tapSendFile,                                    // OFFER: send a file that lies elsewhere
		"snx":   b.tapLeaveFile,                                   // OFFER: do not send it
		"rsh":   b.onWriters(refused, b.showWriters),              // WISH:WRITERS: show all that is known
		"ras":   b.onWriters(refused, b.askEndWriters),            // WISH:WRITERS: ask whether to end them and resume
		"rdo":   b.byAsker(2, b.onWriters(refused, b.endWriters)), // WISH:WRITERS:BY: end them and resume
		"rfk":   b.onWriters(refused, b.fork),                     // WISH:WRITERS: go on with a copy
		"ssh":   b.onWriters(second, b.showWriters),               // SESSION:WRITERS: show all that is known
		"sas":   b.onWriters(second, b.askEndWriters),             // SESSION:WRITERS: ask whether to end them
		"sdo":   b.byAsker(2, b.onWriters(second, b.endWriters)),  // SESSION:WRITERS:BY: end them
		"sfk":   b.onWriters(second, b.fork),                      // SESSION:WRITERS: go on with a copy, archive the session
		"sno":   b.tapLeaveSecond,                                 // SESSION: leave both
		"gsh":   b.onWriters(ghost, b.showWriters),                // SESSION:WRITERS: show all that is known
		"gas":   b.onWriters(ghost, b.askEndWriters),              // SESSION:WRITERS: ask whether to end them
		"gdo":   b.byAsker(2, b.onWriters(ghost, b.endWriters)),   // SESSION:WRITERS:BY: end them
		"gad":   b.onWriters(ghost, b.adopt),                      // SESSION:WRITERS: go on where it runs
		"rall":  b.tapResumeAll,                                   // TIME: bring back what was lost here since then, seconds since 1970
		"rpick": b.tapPick,                                        // TIME: show what was lost here since then
		"wad":   b.onWindow(b.adoptWindow),                        // WINDOW:MARK:PLACE: make it a session's
		"war":   b.onWindow(b.askArchiveWindow),                   // WINDOW:MARK:PLACE: ask whether to archive what runs in it
		"wyes":  b.byAsker(3, b.onWindow(b.archiveWindow)),        // WINDOW:MARK:PLACE:BY: archive what runs in it
		"wig":   b.onWindow(b.ignoreWindow),                       // WINDOW:MARK:PLACE: mention it no more
	}
}

func (b *Bot) tapped(ctx context.Context, q *models.CallbackQuery) error {
	if old := q.Message.InaccessibleMessage; old != nil && b.Hears(q.From.ID, old.Chat) {
		// Telegram does not say any more in which topic it stands, so nothing is done
		b.Sender.Answer(ctx, session.Conversation{ChatID: old.Chat.ID}, q.ID, b.words.Say(i18n.StaleButton), true)
		return nil
	}
	if q.Message.Message == nil || !b.Hears(q.From.ID, q.Message.Message.Chat) {
		return nil
	}
	m := q.Message.Message
	b.unpark(m.Chat.ID)
	parts := strings.Split(q.Data, ":")
	t := tapEvent{query: q.ID, from: q.From.ID, name: q.From.FirstName, message: m.ID, text: m.Text, buttons: buttonsOf(m),
		args: parts[1:], to: inbox.ConversationOf(m)}
	if !t.shown(q.Data) { // the message has other buttons by now, which stay; or somebody made it up
		b.Sender.Answer(ctx, t.to, t.query, b.words.Say(i18n.StaleButton), false)
		return nil
	}
	do, ok := b.taps[parts[0]]
	if !ok {
		return b.stale(ctx, t)
	}
	return do(ctx, t)
}

// shown says whether the message has a button with these data, as Telegram has it:
// an app may send any data for any message of the bot's.
func (t tapEvent) shown(data string) bool {
	return slices.ContainsFunc(t.buttons, func(row []outbox.Button) bool {
		return slices.ContainsFunc(row, func(one outbox.Button) bool { return one.Data == data })
	})
}

// alert answers a tap with a sentence that the person has to close.
func (b *Bot) alert(ctx context.Context, t tapEvent, key i18n.Key, args ...i18n.Args) {
	b.alertText(ctx, t, plain(b.words.Say(key, args...)))
}

func (b *Bot) alertText(ctx context.Context, t tapEvent, text render.Text) {
	if parts := text.Split(alertLimit); len(parts) > 0 {
		text = parts[0]
	}
	b.Sender.Answer(ctx, t.to, t.query, text.Text, true)
}

// alertLimit is Telegram's limit of the answer to a tap.
const alertLimit = 200

// stale answers a tap on a button whose time has passed.
func (b *Bot) stale(ctx context.Context, t tapEvent) error {
	b.Sender.Answer(ctx, t.to, t.query, b.words.Say(i18n.StaleButton), false)
	return b.spend(ctx, t)
}

// spend takes the buttons off the message.
func (b *Bot) spend(ctx context.Context, t tapEvent) error {
	return edited(b.Sender.EditButtons(ctx, t.to, t.message, nil))
}

// takeOff takes the rows of some buttons off the message, by their verb and first
// argument. Others stay as they were when the person tapped.
func (b *Bot) takeOff(ctx context.Context, t tapEvent, which func(verb, first string) bool) error {
	rest := slices.DeleteFunc(slices.Clone(t.buttons), func(row []outbox.Button) bool {
		return slices.ContainsFunc(row, func(one outbox.Button) bool {
			verb, args, _ := strings.Cut(one.Data, ":")
			first, _, _ := strings.Cut(args, ":")
			return which(verb, first)
		})
	})
	return edited(b.Sender.EditButtons(ctx, t.to, t.message, rest))
}

// buttonsOf are the buttons that a message has.
func buttonsOf(m *models.Message) (rows [][]outbox.Button) {
	if m.ReplyMarkup == nil {
		return nil
	}
	for _, keys := range m.ReplyMarkup.InlineKeyboard {
		var row []outbox.Button
		for _, k := range keys {
			row = append(row, outbox.Button{Text: k.Text, Data: k.CallbackData, Style: outbox.Style(k.Style)})
		}
		rows = append(rows, row)
	}
	return rows
}

// replace sets the text of the message that was tapped, without buttons.
func (b *Bot) replace(ctx context.Context, t tapEvent, text string) error {
	return edited(b.Sender.Edit(ctx, t.to, t.message, outbox.Message{To: t.to, Text: plain(text)}))
}

// edited passes over a message that is gone, or too old to be edited.
func edited(err error) error {
	if refused := (*outbox.Refused)(nil); errors.As(err, &refused) {
		return nil
	}
	return err
}

// mine says whether the tapping person is the one who was asked, whose id is
// argument i.
func (b *Bot) mine(ctx context.Context, t tapEvent, i int) bool {
	if i < len(t.args) && t.args[i] == strconv.FormatInt(t.from, 10) {
		return true
	}
	b.Sender.Answer(ctx, t.to, t.query, b.words.Say(i18n.NotForYou), false)
	return false
}

// session is the session that argument 0 names.
func (b *Bot) session(t tapEvent) (session.Record, bool) {
	if len(t.args) == 0 {
		return session.Record{}, false
	}
	id, ok := parseRef(t.args[0])
	if !ok {
		return session.Record{}, false
	}
	return b.Records.Get(id)
}

// tapCurrent opens a session: from the list, or from the notice that it has
// answered. Of one that is over only the answer is shown.
func (b *Bot) tapCurrent(ctx context.Context, t tapEvent) error {
	r, ok := b.session(t)
	r = b.successor(r)
	noticed := len(t.args) > 1 && t.args[1] == fromNotice
	if !ok || !noticed && !endable(r) {
		return b.stale(ctx, t)
	}
	if noticed || !b.isCurrent(t.to, r) {
		b.answers.recall(r, t.to) // before it is current: then its reader shows what is newer
	}
	if endable(r) {
		if err := b.use(ctx, t.to, r); err != nil {
			return err
		}
	}
	b.Sender.Answer(ctx, t.to, t.query, "→ "+glyph.Name(r.Name), false)
	if noticed {
		return b.spend(ctx, t)
	}
	return b.redrawList(ctx, t)
}

// redrawList sets the message to the list as it is now.
func (b *Bot) redrawList(ctx context.Context, t tapEvent) error {
	text, buttons := b.listText(ctx, t.to)
	parts := text.Split(limit) // the buttons stand under the last one
	return edited(b.Sender.Edit(ctx, t.to, t.message, outbox.Message{To: t.to, Text: parts[len(parts)-1], Buttons: buttons}))
}

func (b *Bot) tapEnd(final session.State) tap {
	return func(ctx context.Context, t tapEvent) error {
		r, ok := b.session(t)
		if !ok {
			return b.stale(ctx, t)
		}
		if !b.mine(ctx, t, 1) {
			return nil
		}
		if len(t.args) != 3 || t.args[2] != life(r) {
			return b.stale(ctx, t)
		}
		return b.end(ctx, t, r.ID, final)
	}
}

func (b *Bot) tapCancel(ctx context.Context, t tapEvent) error {
	if !b.mine(ctx, t, 0) {
		return nil
	}
	b.Sender.Answer(ctx, t.to, t.query, "", false)
	return b.replace(ctx, t, b.words.Say(i18n.Cancelled))
}

// unproven finds the prompt that a question is about.
func (b *Bot) unproven(t tapEvent) (inbox.Entry, error) {
	if len(t.args) == 0 {
		return inbox.Entry{}, fs.ErrNotExist
	}
	return b.Entries.Load(t.args[0])
}

func (b *Bot) tapAgain(ctx context.Context, t tapEvent) error {
	return b.decide(ctx, t, func(ctx context.Context, e inbox.Entry) error {
		if e.State != inbox.Unproven {
			return fs.ErrNotExist
		}
		b.mark(ctx, e.Conversation, e.MessageID, reactionStored) // before: what comes of it marks it next
		err := b.Sessions.SendAgain(ctx, e.Session, e.Key)
		if err != nil {
			b.mark(ctx, e.Conversation, e.MessageID, reactionNone)
		}
		return err
	}, i18n.SentAgain)
}

// tapAnyway types a prompt although a person's draft is in the box. What stood
// there comes as news.
func (b *Bot) tapAnyway(ctx context.Context, t tapEvent) error {
	return b.decide(ctx, t, func(ctx context.Context, e inbox.Entry) error {
		return b.Sessions.SendAnyway(ctx, e.Session, e.Key)
	}, i18n.SentAnyway)
}

func (b *Bot) tapDrop(ctx context.Context, t tapEvent) error {
	return b.decide(ctx, t, func(ctx context.Context, e inbox.Entry) error {
		err := b.Sessions.Drop(ctx, e.Session, e.Key)
		if err == nil {
			b.mark(ctx, e.Conversation, e.MessageID, reactionNone)
		}
		return err
	}, i18n.Dropped)
}

// decide carries out a person's decision on a prompt that waits for one.
func (b *Bot) decide(ctx context.Context, t tapEvent, do func(context.Context, inbox.Entry) error, said i18n.Key) error {
	e, err := b.unproven(t)
	if err == nil {
		err = do(ctx, e)
	}
	r, _ := b.Records.Get(e.Session)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, inbox.ErrNoEntry), errors.Is(err, session.ErrNotFound):
		return b.stale(ctx, t)
	case errors.Is(err, lifecycle.ErrNoAgent):
		b.alert(ctx, t, i18n.AlreadyEnded, i18n.Args{"Name": r.Name})
		return nil
	case errors.Is(err, lifecycle.ErrBoxBusy):
		b.alert(ctx, t, i18n.BoxBusy, i18n.Args{"Name": r.Name})
		return nil
	case errors.Is(err, lifecycle.ErrDraftHidden):
		b.alert(ctx, t, i18n.DraftHidden, i18n.Args{"Name": r.Name})
		return nil
	case err != nil:
		return err
	}
	b.Sender.Answer(ctx, t.to, t.query, "", false)
	return b.replace(ctx, t, fmt.Sprintf("%s\n\n%s", t.text, b.words.Say(said, i18n.Args{"Name": r.Name})))
}
