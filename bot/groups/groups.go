package groups

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	"ccbot/internal/sysfault"
)

// Leaver leaves groups; see package outbox for the errors.
type Leaver interface {
	LeaveChat(ctx context.Context, chat int64) error
}

// List is the setting that names the allowed groups.
type List interface {
	// AllowGroup adds a group to the setting, durably, and makes it count at once.
	AllowGroup(ctx context.Context, group int64) error
	// GroupLine returns the line with which a person allows a group if ccbot cannot; empty if it
	// can.
	GroupLine(group int64) string
	// GroupLeft notes that the bot is no longer in a group.
	GroupLeft(group int64)
}

// Groups asks about the groups to which the bot was added.
type Groups struct {
	list   List
	rules  func(p chat.Phrases) render.Text
	chat   *chat.Chat
	leaver Leaver
	cards  chat.Cards[added]
}

// added is the group that a question is about.
type added struct {
	Group int64  `json:"group"`
	Title string `json:"title"`
	// Allowed reports whether the person has tapped [Allow this group]. Then the question is
	// whether there are other bots; only its answer allows the group.
	Allowed bool `json:"allowed,omitempty"`
}

const (
	kind       = "group-added" // of the cards
	allowGroup = "allow"
	leaveGroup = "leave"
	onlyBot    = "only"
	otherBots  = "others"
	shownTitle = 60 // letters of a group's title
)

// New returns the Groups of a chat. rules are those of the bot if there are others.
func New(c *chat.Chat, list List, l Leaver, rules func(p chat.Phrases) render.Text) *Groups {
	return &Groups{list: list, rules: rules, chat: c, leaver: l, cards: chat.NewCards[added](c, kind)}
}

// Feature describes the feature to the dispatcher.
func (g *Groups) Feature() chat.Feature {
	return chat.Feature{Name: "groups", Cards: map[string]chat.OnTap{kind: g.cards.OnTap(g.tap)}, Run: g.run}
}

// Changed handles the news that an allowed person has added the bot to a chat or removed it. key is
// the update's: the same news after a crash makes no second question.
func (g *Groups) Changed(ctx context.Context, key string, u *models.ChatMemberUpdated) error {
	was, is := isIn(u.OldChatMember), isIn(u.NewChatMember)
	if isGroup := u.Chat.Type == models.ChatTypeGroup || u.Chat.Type == models.ChatTypeSupergroup; !isGroup || was == is {
		return nil
	}
	a := added{Group: u.Chat.ID, Title: chat.Head(chat.OneLine(u.Chat.Title), shownTitle)}
	word := i18n.Key("") // an earlier question about the group is obsolete
	if !is {
		word = i18n.GroupLeft
		g.list.GroupLeft(a.Group)
	}
	defer g.cards.Hold()()
	if err := g.settle(ctx, a.Group, key, word); err != nil || !is || g.chat.Book.InGroup(a.Group) {
		return err
	}
	g.chat.Log.Info("group_added", logkey.ChatID, a.Group)
	return g.cards.Show(ctx, key, g.content(u.From.ID, a), a)
}

// isIn reports whether a member of a chat is in the chat. It returns false for an unknown state.
func isIn(m models.ChatMember) bool {
	switch m.Type {
	case models.ChatMemberTypeMember, models.ChatMemberTypeAdministrator, models.ChatMemberTypeOwner:
		return true
	case models.ChatMemberTypeRestricted:
		return m.Restricted != nil && m.Restricted.IsMember
	}
	return false
}

// content returns the question about a group. If the process environment sets the list, it has the
// line to write there.
func (g *Groups) content(person int64, a added) card.Content {
	to := address.Conversation{ChatID: person}
	p := g.chat.In(to)
	leave := p.Option(i18n.ButtonLeaveGroup, leaveGroup, "")
	allow := p.Option(i18n.ButtonAllowGroup, allowGroup, outbox.Primary)
	leave.For, allow.For = person, person
	if a.Allowed {
		only, others := p.Option(i18n.ButtonOnlyBot, onlyBot, ""), p.Option(i18n.ButtonOtherBots, otherBots, "")
		only.For, others.For = person, person
		return card.Content{To: to, Text: p.Text(i18n.GroupOthers, args(a)), Options: [][]card.Option{{only, others}}}
	}
	l := card.Content{To: to, Text: p.Text(i18n.GroupAsk, args(a)), Options: [][]card.Option{{allow, leave}}}
	if line := g.list.GroupLine(a.Group); line != "" {
		l.Text = chat.Paragraphs(l.Text, p.Text(i18n.GroupByHand), render.Code(line))
		l.Options = [][]card.Option{{leave}}
	}
	return l
}

func args(a added) i18n.Args {
	return i18n.Args{"Name": render.Bold(a.Title), "ID": render.Code(strconv.FormatInt(a.Group, 10))}
}

// Moved notes that a group has become another chat: an open question is about the new one.
func (g *Groups) Moved(ctx context.Context, from, to int64) error {
	defer g.cards.Hold()()
	var errs []error
	for _, c := range g.cards.List() {
		if c.Payload.Group == from {
			c.Payload.Group = to
			errs = append(errs, g.cards.Show(ctx, c.Key, g.content(c.Content.To.ChatID, c.Payload), c.Payload))
		}
	}
	return errors.Join(errs...)
}

func (g *Groups) tap(_ context.Context, t chat.Tap, _ added) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error {
		defer g.cards.Hold()()
		c, open := g.cards.Get(t.Card.Key)
		switch { // two taps may come at the same time
		case !open:
			return nil
		case t.Card.Option == leaveGroup:
			return g.leave(ctx, c.Payload)
		case t.Card.Option == allowGroup && !g.chat.Book.InGroup(c.Payload.Group):
			c.Payload.Allowed = true
			return g.cards.Show(ctx, c.Key, g.content(t.To.ChatID, c.Payload), c.Payload)
		}
		return g.allow(ctx, t, c.Payload)
	})
}

// allow allows the group of a question. It may be called twice: a crash may come before the message
// reports it. Whether there are other bots is on disk before the bot reads the group.
func (g *Groups) allow(ctx context.Context, t chat.Tap, a added) error {
	if !g.chat.Book.InGroup(a.Group) {
		if err := g.chat.Book.ResetBots(g.place(a.Group).ChatID, t.Card.Option == otherBots); err != nil {
			return err
		}
		err := g.list.AllowGroup(ctx, a.Group)
		switch {
		case err != nil && sysfault.Of(err) != "":
			return err
		case err != nil:
			g.chat.Log.Error("group_not_allowed", logkey.ChatID, a.Group, logkey.Error, err)
			return g.chat.Say(ctx, t.To, g.chat.In(t.To).Say(i18n.GroupNotSaved))
		}
		g.chat.Log.Info("group_allowed", logkey.ChatID, a.Group)
		g.chat.At("group-allowed")
	}
	return g.settle(ctx, a.Group, "", i18n.GroupAllowed)
}

// leave leaves the group of a question, unless it was allowed in the meantime.
func (g *Groups) leave(ctx context.Context, a added) error {
	if g.chat.Book.InGroup(a.Group) {
		return g.settle(ctx, a.Group, "", i18n.GroupAllowed)
	}
	if err := g.leaver.LeaveChat(ctx, a.Group); err != nil && !chat.IsRefused(err) { // refused: it is not there
		return err
	}
	g.list.GroupLeft(a.Group)
	g.chat.Log.Info("group_left", logkey.ChatID, a.Group)
	return g.settle(ctx, a.Group, "", i18n.GroupLeft)
}

// settle closes the questions about a group except the one of a key, with a last text unless word
// is empty.
func (g *Groups) settle(ctx context.Context, group int64, except string, word i18n.Key) error {
	var errs []error
	for _, c := range g.cards.List() {
		if c.Payload.Group != group || c.Key == except {
			continue
		}
		last := render.Text{}
		if word != "" {
			last = g.chat.In(c.Content.To).Text(word, args(c.Payload))
		}
		if word == i18n.GroupAllowed && g.chat.Book.Bots(g.place(group)).Others != 0 {
			last = chat.Paragraphs(last, g.rules(g.chat.In(c.Content.To)))
		}
		errs = append(errs, g.cards.Close(ctx, c.Key, last))
	}
	return errors.Join(errs...)
}

// place returns the conversation with the state of a group.
func (g *Groups) place(group int64) address.Conversation {
	place, _ := g.chat.Book.Aliases.In(group, 0)
	return address.Conversation{ChatID: place}
}

// run closes the settled questions of an earlier run: it was killed, or a person has changed the
// setting by hand.
func (g *Groups) run(ctx context.Context) error {
	defer g.cards.Hold()()
	for _, c := range g.cards.List() {
		if !g.chat.Book.InGroup(c.Payload.Group) {
			continue
		}
		if err := g.settle(ctx, c.Payload.Group, "", i18n.GroupAllowed); err != nil {
			g.chat.Log.Error("card_not_closed", logkey.Kind, kind, logkey.Error, err)
		}
	}
	return nil
}
