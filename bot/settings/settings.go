package settings

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/port/modes"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
)

// Configured is what holds where nothing is chosen.
type Configured struct {
	IdleAfter time.Duration // 0: never
	Steps     string
}

// Settings are the pages about what a chat has chosen.
type Settings struct {
	chat       *chat.Chat
	configured Configured
}

// page begins the addresses.
const page = "settings"

// New is /settings with its pages.
func New(c *chat.Chat, configured Configured) chat.Feature {
	s := &Settings{c, configured}
	return chat.Feature{Name: page,
		Commands: []chat.Command{c.Pages.Command(page, page)}, Pages: map[string]chat.Page{page: {Draw: s.draw, Do: s.do}}}
}

// one is one setting. Its value is a text; "" is that nothing is chosen.
type one struct {
	name  string // behind the page's in the address
	title i18n.Key
	about i18n.Key
	row   int // how many choices stand beside each other
	// value is what is chosen, and choices are what can be, beside nothing.
	value   func(s conversation.Settings) string
	choices func(v view) []choice
	choose  func(s *conversation.Settings, value string)
}

// choice is a value and how people know it.
type choice struct{ value, label string }

// view is what a page is drawn for.
type view struct {
	chat.Phrases
	set        conversation.Settings
	configured Configured
	lang       i18n.Words // without a choice
	dirs       []string   // of sessions, the newest first
}

// isGroup reports whether a chat is not one person's.
func (s *Settings) isGroup(v chat.Visit) bool { return !s.chat.Book.IsAllowed(v.To.ChatID) }

// find is the setting of an address that a chat may choose; false: there is none.
func (s *Settings) find(v chat.Visit) (one, bool) {
	i := slices.IndexFunc(all, func(o one) bool { return o.name == v.Rest && (o.name == language || !s.isGroup(v)) })
	if i < 0 {
		return one{}, false
	}
	return all[i], true
}

func (s *Settings) view(v chat.Visit) view {
	set := s.chat.Book.Settings(v.To.ChatID)
	return view{Phrases: s.chat.In(v.To), set: set, configured: s.configured,
		lang: s.chat.Speech.For(set.Telegram, s.chat.Lang), dirs: s.dirs()}
}

// shownDirs is how many folders are offered.
const shownDirs = 6

// dirs are the folders of the newest sessions.
func (s *Settings) dirs() (all []string) {
	for _, r := range slices.Backward(s.chat.Book.Records.List()) {
		if !slices.Contains(all, r.Dir) && len(all) < shownDirs {
			all = append(all, r.Dir)
		}
	}
	return all
}

func (s *Settings) draw(_ context.Context, visit chat.Visit) (chat.Screen, error) {
	v := s.view(visit)
	if o, ok := s.find(visit); ok {
		return o.screen(v), nil
	}
	screen := chat.Screen{Back: "menu"}
	lines := []render.Text{render.Bold(v.Say(i18n.SettingsTitle))}
	var buttons []card.Option
	for _, o := range all {
		if o.name != language && s.isGroup(visit) {
			continue
		}
		lines = append(lines, o.line(v))
		buttons = append(buttons, card.Option{Text: v.Say(o.title), Value: chat.ToPage(page + "/" + o.name)})
	}
	screen.Text, screen.Options = chat.Lines(lines...), chat.Rows(2, buttons...)
	return screen, nil
}

// line is the setting with the value that holds, bold where it was chosen.
func (o one) line(v view) render.Text {
	said := render.Plain(o.said(v))
	if o.value(v.set) != "" {
		said = render.Bold(said.Text)
	}
	return v.Text(i18n.Named, i18n.Args{"What": v.Say(o.title), "Said": said})
}

// said is the value that holds, in words.
func (o one) said(v view) string {
	value := o.value(v.set)
	for _, c := range o.choices(v) {
		if c.value == value {
			return c.label
		}
	}
	return v.ShortTail(value)
}

// screen is the page of a setting: what it is, and a button for each choice.
func (o one) screen(v view) chat.Screen {
	now := o.value(v.set)
	var rest []card.Option
	for _, c := range o.choices(v) {
		label := c.label
		if c.value == now {
			label = "✓ " + label
		}
		rest = append(rest, card.Option{Text: label, Value: chat.Does(c.value)})
	}
	text := chat.Paragraphs(o.line(v), v.Text(o.about))
	return chat.Screen{Text: text, Back: page, Options: append(chat.Rows(1, rest[0]), chat.Rows(o.row, rest[1:]...)...)}
}

// do chooses a value of the setting that the page is about.
func (s *Settings) do(_ context.Context, v chat.Visit, value string) (chat.Answer, string, error) {
	o, ok := s.find(v)
	if !ok {
		return chat.Answer{Text: s.chat.In(v.To).Say(i18n.StaleButton)}, page, nil
	}
	return chat.Answer{}, "", s.chat.Book.Set(v.To.ChatID, func(set *conversation.Settings) { o.choose(set, value) })
}

// The settings that the rest of the package knows by name.
const (
	language = "language"
	folder   = "folder"
)

// limits are the idle limits that a person can choose; 0 is none.
var limits = []time.Duration{time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 72 * time.Hour, 0}

// all are the settings in their order.
var all = []one{
	{name: language, title: i18n.SettingLanguage, about: i18n.SettingLanguageAbout, row: 3,
		value: func(s conversation.Settings) string { return s.Language },
		choices: func(v view) []choice {
			return append([]choice{v.byDefault(languages[v.lang.Lang()])}, choice{"en", languages["en"]},
				choice{"ru", languages["ru"]}, choice{"zh", languages["zh"]})
		},
		choose: func(s *conversation.Settings, value string) { s.Language = value }},
	{name: "mode", title: i18n.SettingMode, about: i18n.SettingModeAbout, row: 2,
		value: func(s conversation.Settings) string { return s.Mode },
		choices: func(v view) []choice {
			name := func(m modes.Mode) choice { return choice{string(m), v.Say(i18n.ModeKey.Of(string(m)))} }
			return append([]choice{v.byDefault("")}, each.As(modes.Modes, name)...)
		},
		choose: func(s *conversation.Settings, value string) { s.Mode = value }},
	{name: "model", title: i18n.SettingModel, about: i18n.SettingModelAbout, row: 2,
		value: func(s conversation.Settings) string { return s.Model },
		choices: func(v view) []choice {
			name := func(model string) choice { return choice{modes.Flag(model), model} }
			return append([]choice{v.byDefault("")}, each.As(modes.Models, name)...)
		},
		choose: func(s *conversation.Settings, value string) { s.Model = value }},
	{name: folder, title: i18n.SettingFolder, about: i18n.SettingFolderAbout, row: 1,
		value:   func(s conversation.Settings) string { return s.Dir },
		choices: folders,
		choose:  func(s *conversation.Settings, value string) { s.Dir = value }},
	{name: "idle", title: i18n.SettingIdle, about: i18n.SettingIdleAbout, row: 3,
		value: func(s conversation.Settings) string {
			if s.IdleAfter == nil {
				return ""
			}
			return s.IdleAfter.String()
		},
		choices: func(v view) []choice {
			name := func(d time.Duration) choice { return choice{d.String(), v.limit(d)} }
			return append([]choice{v.byDefault(v.limit(v.configured.IdleAfter))}, each.As(limits, name)...)
		},
		choose: func(s *conversation.Settings, value string) {
			s.IdleAfter = nil
			if i := slices.IndexFunc(limits, func(d time.Duration) bool { return d.String() == value }); i >= 0 {
				s.IdleAfter = &limits[i]
			}
		}},
	{name: "steps", title: i18n.SettingSteps, about: i18n.SettingStepsAbout, row: 2,
		value: func(s conversation.Settings) string { return s.Steps },
		choices: func(v view) []choice {
			name := func(where string) choice { return choice{where, v.Say(i18n.StepsKey.Of(where))} }
			return append([]choice{v.byDefault(name(v.configured.Steps).label)}, each.As([]string{"card", "messages", "off"}, name)...)
		},
		choose: func(s *conversation.Settings, value string) { s.Steps = value }},
	{name: "notices", title: i18n.SettingNotices, about: i18n.SettingNoticesAbout, row: 1,
		value: func(s conversation.Settings) string { return s.Background },
		choices: func(v view) []choice {
			return []choice{{"", v.Say(i18n.NoticesOn)}, {conversation.Off, v.Say(i18n.NoticesOff)}}
		},
		choose: func(s *conversation.Settings, value string) { s.Background = value }},
	{name: "quiet", title: i18n.SettingQuiet, about: i18n.SettingQuietAbout, row: 2,
		value:   func(s conversation.Settings) string { return hours(s.Quiet) },
		choices: quiet,
		choose: func(s *conversation.Settings, value string) {
			var from, fromMinute, until, untilMinute int
			s.Quiet = nil
			if _, err := fmt.Sscanf(value, "%d:%d–%d:%d", &from, &fromMinute, &until, &untilMinute); err == nil {
				s.Quiet = &conversation.Hours{From: from*60 + fromMinute, Until: until*60 + untilMinute}
			}
		}},
}

// languages are the languages as who speaks them calls them.
var languages = map[string]string{"en": "English", "ru": "Русский", "zh": "中文"}

// byDefault is the choice of nothing; said: what holds then, where that is known.
func (v view) byDefault(said string) choice {
	if said == "" {
		return choice{"", v.Say(i18n.SettingDefault)}
	}
	return choice{"", v.Say(i18n.Noted, i18n.Args{"What": said, "Note": v.Say(i18n.SettingDefault)})}
}

func (v view) limit(after time.Duration) string {
	if after <= 0 {
		return v.Say(i18n.IdleNever)
	}
	return v.Age(after)
}

// folders are the one that is chosen, the favourites, and those of sessions.
func folders(v view) []choice {
	list := []choice{v.byDefault(v.Say(i18n.SettingFolderCurrent))}
	dirs := slices.Clone(v.set.Favourites)
	for _, dir := range v.dirs {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if v.set.Dir != "" && !slices.Contains(dirs, v.set.Dir) {
		dirs = append([]string{v.set.Dir}, dirs...)
	}
	return append(list, each.As(dirs, func(dir string) choice { return choice{dir, v.ShortTail(dir)} })...)
}

// quiet are the usual hours, and those that are chosen.
func quiet(v view) []choice {
	list := []choice{{"", v.Say(i18n.QuietNone)}}
	for from := 21; from <= 24; from++ {
		for until := 7; until <= 8; until++ {
			h := hours(&conversation.Hours{From: from % 24 * 60, Until: until * 60})
			list = append(list, choice{h, h})
		}
	}
	return list
}

// hours are quiet hours as people write them: "22:00–7:00"; empty: none.
func hours(h *conversation.Hours) string {
	if h == nil {
		return ""
	}
	return fmt.Sprintf("%d:%02d–%d:%02d", h.From/60, h.From%60, h.Until/60, h.Until%60)
}
