package bot

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/people"
	"ccbot/bot/prompt"
	"ccbot/bot/quotation"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	"ccbot/port/folders"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// noteWriter records who writes in a group. If that fails, a text for a person may become a prompt.
func (b *Bot) noteWriter(u *models.Update, group int64) {
	if u.Message == nil || quotation.IsService(u.Message) {
		return
	}
	if err := b.NotePerson(group, u.Message.From); err != nil {
		b.Log.Warn("person_not_noted", logkey.ChatID, group, logkey.Error, err)
	}
}

// isAwaited reports whether a page or a request has waited for a message of this person.
func isAwaited(in chat.Incoming) bool {
	return in.First || in.Folder != "" || in.NoFolder != nil || in.Missed != uuid.Nil
}

// isPrompt reports whether a message that nothing has awaited is for an agent. Of an album the message
// counts that names the bot, or else the first one with a caption.
func (b *Bot) isPrompt(ctx context.Context, in chat.Incoming, us []*models.Update) bool {
	group := b.PeopleOf(in.To.ChatID)
	knows := func(name string) bool {
		for _, one := range group {
			if strings.EqualFold(one, name) {
				return true
			}
		}
		return false
	}
	isFile := func(name string) bool { return b.isFile(ctx, in, name) }
	nobody := func(string) bool { return false } // whether a caption names the bot needs no look at files
	said := us[max(0, slices.IndexFunc(us, func(u *models.Update) bool { return u.Message.Caption != "" }))].Message
	text := people.Of(said, b.Username, knows, isFile)
	text.Names = text.Names || slices.ContainsFunc(us, func(u *models.Update) bool {
		return u.Message.Caption != "" && people.Of(u.Message, b.Username, nobody, nobody).Names
	})
	return people.IsPrompt(text, people.Place{
		Several: len(group) > 1,
		Agents:  b.takesTexts(in.To, said.Chat.IsForum),
		Named:   b.Settings(in.To.ChatID).Texts == conversation.Named,
	})
}

// takesTexts reports whether a place is one for agents: the topic of a session, a chat without
// topics, or the main lane if it shows a session.
func (b *Bot) takesTexts(at address.Conversation, forum bool) bool {
	now, some := b.CurrentSession(at, 0)
	if at.ThreadID == 0 {
		return !forum || b.TopicsRefused(at.ChatID) || now.State.Live() && now.Conversation == at
	}
	_, ours := b.Topic(at)
	return some || ours
}

// isFile reports whether the session that a message is for has a file or a folder of a name. What
// cannot be seen is none: the name is that of a person.
func (b *Bot) isFile(ctx context.Context, in chat.Incoming, name string) bool {
	r, ok := b.Target(in.Message, in.From)
	if !ok {
		return false
	}
	f, err := b.Chat.Bodies.Open(ctx, func(ctx context.Context) (folders.File, error) {
		return b.Machine.Files.Open(ctx, r.ID, path.Join(folders.Path(r.Dir), name))
	})
	if err != nil {
		return refusal.Is(err, refusal.FileIrregular) || refusal.Is(err, refusal.FileEmpty) // it may be a folder
	}
	_ = f.Close() // a ticket that stays open lapses
	return true
}

// tellNotSent reports once in a group that a text was not taken, and how to send it. A crash repeats
// the sentence, and never omits it.
func (b *Bot) tellNotSent(ctx context.Context, in chat.Incoming) error {
	if b.PeopleTold(in.To.ChatID) {
		return nil
	}
	why := i18n.NotForAgents
	if b.Settings(in.To.ChatID).Texts == conversation.Named {
		why = i18n.NotForAgentsChosen
	}
	text := b.In(in.To).Text(why, i18n.Args{"Bot": "@" + b.Username})
	if err := b.Post(ctx, card.Content{To: in.To, ReplyTo: in.MessageID, Text: text}); err != nil {
		return err
	}
	return b.NotePeopleTold(in.To.ChatID)
}

// refer sends a message to an agent that a person has answered with the name of the bot alone. It
// stays its writer's. The words of somebody who may not speak to the bot are a quotation, and so is
// what would not have gone to the agent as a text: a command of ccbot or of another bot, and a line of
// the shell. No page and no request has waited for it.
func (b *Bot) refer(ctx context.Context, key string, m, meant *models.Message) error {
	in, command, _, _, foreign := b.read(key, meant)
	in.From, in.Typed, in.Near, in.Refers = m.From.ID, "", "", true
	b.noteActivity(ctx, m.From, m, in.To.ChatID)
	b.noteWriter(&models.Update{Message: m}, in.To.ChatID)
	text := quotation.Text(meant)
	_, class, _ := talk.Normalise(text)
	switch {
	case !b.IsAllowed(meant.From.ID), command.Run != nil, foreign, class == talk.ClassBash:
		in.Quoted, text = true, quotation.By(meant)
	case meant.Text == "":
		return b.Prompts.Files(ctx, in, []*models.Update{{Message: meant}})
	}
	_, err := b.named[prompt.FeatureName].Text(ctx, &in, text)
	return err
}
