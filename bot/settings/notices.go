package settings

import (
	"maps"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/port"

	"github.com/google/uuid"
)

// mostSessions is the number of sessions that the page of the notices offers.
const mostSessions = 20

// noticesOfSessions are buttons for the notices of the newest open sessions.
func noticesOfSessions(v view) [][]card.Option {
	var all []card.Option
	for _, r := range v.open[max(0, len(v.open)-mostSessions):] {
		o := noticesOf(r)
		text := chat.ShownName(r.Name)
		if o.value(v.set) != "" {
			text = v.Say(i18n.Named, i18n.Args{"What": text, "Said": o.inWords(v)})
		}
		all = append(all, card.Option{Text: text, Value: chat.ToPage(page + "/" + notices + "/" + r.ID.String()), Session: r.ID})
	}
	return chat.Rows(2, all...)
}

// noticesOf is the setting of one session's notices while it is not the current one.
func noticesOf(r port.Session) one {
	return one{name: notices, title: i18n.SettingNotices, about: i18n.SettingNoticesAbout, row: 1, of: chat.ShownName(r.Name),
		value: func(s conversation.Settings) string { return s.Sessions[r.ID] },
		choices: func(v view) []choice {
			return []choice{{"", v.Say(i18n.NoticesAsChat)}, {conversation.Line, v.Say(i18n.NoticesLine)},
				{conversation.Sound, v.Say(i18n.NoticesSound)}, {conversation.Full, v.Say(i18n.NoticesFull)},
				{conversation.Off, v.Say(i18n.NoticesOff)}}
		},
		choose: func(s *conversation.Settings, value string, _ time.Time) {
			all := maps.Clone(s.Sessions)
			if all == nil {
				all = make(map[uuid.UUID]string)
			}
			if all[r.ID] = value; value == "" {
				delete(all, r.ID)
			}
			if s.Sessions = all; len(all) == 0 {
				s.Sessions = nil
			}
		}}
}
