package settings

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/port"

	"github.com/google/uuid"
)

// Configured has the values without a choice.
type Configured struct {
	IdleAfter time.Duration // 0: never
	Steps     string
}

// Settings has the pages about the choices of a chat.
type Settings struct {
	chat       *chat.Chat
	agents     port.Agents
	configured Configured
}

// page begins the addresses.
const page = "settings"

// New is /settings with its pages.
func New(c *chat.Chat, agents port.Agents, configured Configured) chat.Feature {
	s := &Settings{c, agents, configured}
	return chat.Feature{Name: page,
		Commands: []chat.Command{c.Pages.Command(page, page), {Name: quiet, Run: s.runQuiet}}, Pages: map[string]chat.Page{page: {Draw: s.draw, Do: s.do, Typed: s.typed}}}
}

// one describes a setting. Its value is a text; "" means no choice.
type one struct {
	name  string // follows the page's name in the address
	title i18n.Key
	about i18n.Key
	row   int // number of choices in a row
	// value is the chosen value, and choices are the possible ones, in addition to none.
	value   func(s conversation.Settings) string
	choices func(v view) []choice
	extra   func(v view) [][]card.Option // further buttons; nil: none
	said    func(v view) string          // the value that holds, in words; nil: the label of its choice
	able    func(a agents) bool          // whether the agents of new sessions offer it; nil: it is not about an agent
	of      string                       // the name of the session that the setting is about; empty: it is about the chat
	choose  func(s *conversation.Settings, value string, now time.Time)
}

// choice is a value and how people know it.
type choice struct{ value, label string }

// view holds the facts for which a page is drawn.
type view struct {
	chat.Phrases
	set        conversation.Settings
	configured Configured
	speech     *i18n.Catalog
	lang       i18n.Words // without a choice
	dirs       []string   // of sessions, the newest first
	open       []port.Session
	now        time.Time
	zone       string // without a choice
	agents     agents
}

// agents has what is known of the agents of new sessions on the chat's machine; zero: unknown.
type agents struct {
	installed []port.Installed
	can       port.Abilities // of the chosen one
}

// isGroup reports whether a chat is not one person's.
func (s *Settings) isGroup(v chat.Visit) bool { return !s.chat.Book.IsAllowed(v.To.ChatID) }

// offers reports whether a chat may choose a setting. A group has what holds for all who read it, and its
// plain texts, which a person alone does not have.
func (s *Settings) offers(o one, v chat.Visit, a agents) bool {
	switch o.name {
	case language, zone, quiet, idleLimit, atLimit, sessionBudget, dayBudget:
		return true
	case texts:
		return s.isGroup(v)
	}
	return !s.isGroup(v) && (o.able == nil || o.able(a))
}

// loadAgents returns the agents of new sessions, none if their machine does not answer: the other
// settings are the chat's own.
func (s *Settings) loadAgents(ctx context.Context, v chat.Visit) (a agents) {
	installed, err := s.agents.Installed(ctx, "")
	if err != nil {
		return agents{}
	}
	can, err := s.agents.Abilities(ctx, "", s.chat.Book.Settings(v.To.ChatID).AgentAmong(installed))
	if err != nil {
		return agents{}
	}
	return agents{installed, can}
}

// find returns the setting of an address, and whether the chat may choose it.
func (s *Settings) find(v chat.Visit, a agents) (one, bool) {
	if id, ok := strings.CutPrefix(v.Rest, notices+"/"); ok {
		parsed, _ := uuid.Parse(id)
		r, known := s.chat.Book.Records.Get(parsed)
		return noticesOf(r), known && !s.isGroup(v)
	}
	name := strings.TrimSuffix(v.Rest, unknown)
	i := slices.IndexFunc(all, func(o one) bool { return o.name == name && s.offers(o, v, a) })
	if i < 0 {
		return one{}, false
	}
	return all[i], true
}

func (s *Settings) view(v chat.Visit, a agents) view {
	set := s.chat.Book.Settings(v.To.ChatID)
	if set.Agent = set.AgentAmong(a.installed); set.Agent != "" && set.Agent == a.installed[0].Name {
		set.Agent = "" // as without a choice
	}
	return view{Phrases: s.chat.In(v.To), set: set, configured: s.configured, agents: a,
		speech: s.chat.Speech, lang: s.chat.Speech.For(set.Telegram, s.chat.Lang), dirs: s.dirs(), now: s.chat.Now(), zone: cmp.Or(s.chat.Book.Zone, conversation.MachineZone),
		open: slices.DeleteFunc(s.chat.Book.Known(), func(r port.Session) bool { return !r.State.Open() || r.Conversation.ChatID != v.To.ChatID })}
}

// shownDirs is the number of folders offered.
const shownDirs = 6

// dirs are the folders of the newest sessions.
func (s *Settings) dirs() (all []string) {
	for _, r := range slices.Backward(s.chat.Book.Known()) {
		if !slices.Contains(all, r.Dir) && len(all) < shownDirs {
			all = append(all, r.Dir)
		}
	}
	return all
}

func (s *Settings) draw(ctx context.Context, visit chat.Visit) (chat.Screen, error) {
	v := s.view(visit, s.loadAgents(ctx, visit))
	if o, ok := s.find(visit, v.agents); ok {
		screen := o.screen(v)
		if s.isGroup(visit) {
			screen.Text = chat.Paragraphs(render.Plain(v.Say(i18n.SettingsOfGroup)), screen.Text)
		}
		if strings.HasSuffix(visit.Rest, unknown) {
			screen.Text = chat.Paragraphs(render.Plain(chat.Warning+v.Say(i18n.ZoneUnknown)), screen.Text)
		}
		return screen, nil
	}
	screen := chat.Screen{Back: "menu"}
	title := i18n.SettingsTitle
	if s.isGroup(visit) {
		title = i18n.SettingsOfGroup
	}
	lines := []render.Text{render.Bold(v.Say(title))}
	var buttons []card.Option
	for _, o := range all {
		if !s.offers(o, visit, v.agents) {
			continue
		}
		lines = append(lines, o.line(v))
		buttons = append(buttons, card.Option{Text: v.Say(o.title), Value: chat.ToPage(page + "/" + o.name)})
	}
	screen.Text, screen.Options = chat.Lines(lines...), chat.Rows(2, buttons...)
	return screen, nil
}

// line is the setting with its effective value, bold if it was chosen.
func (o one) line(v view) render.Text {
	said := render.Plain(o.inWords(v))
	if o.value(v.set) != "" {
		said = render.Bold(said.Text)
	}
	what := v.Say(o.title)
	if o.of != "" {
		what = v.Say(i18n.Noted, i18n.Args{"What": what, "Note": o.of})
	}
	return v.Text(i18n.Named, i18n.Args{"What": what, "Said": said})
}

// inWords returns the value that holds.
func (o one) inWords(v view) string {
	if o.said != nil {
		return o.said(v)
	}
	value := o.value(v.set)
	for _, c := range o.choices(v) {
		if c.value == value {
			return c.label
		}
	}
	return v.ShortTail(value)
}

// screen is the page of a setting: its description, and a button for each choice.
func (o one) screen(v view) chat.Screen {
	now := o.value(v.set)
	var rest []card.Option
	for _, c := range o.choices(v) {
		label := c.label
		if c.value == now {
			label = "✓ " + label
		}
		rest = append(rest, card.Option{Text: label, Value: c.value})
	}
	text := chat.Paragraphs(o.line(v), v.Text(o.about))
	screen := chat.Screen{Text: text, Back: page, Options: append(chat.Rows(1, rest[0]), chat.Rows(o.row, rest[1:]...)...)}
	if o.of != "" {
		screen.Back = page + "/" + notices
	}
	if o.extra != nil {
		screen.Options = append(screen.Options, o.extra(v)...)
	}
	return screen
}

// do chooses a value of the setting that the page is about.
func (s *Settings) do(ctx context.Context, v chat.Visit, value string) (chat.Answer, string, error) {
	o, ok := s.find(v, s.loadAgents(ctx, v))
	if !ok {
		return chat.Answer{Text: s.chat.In(v.To).Say(i18n.StaleButton)}, page, nil
	}
	return chat.Answer{}, page + "/" + strings.TrimSuffix(v.Rest, unknown), s.chat.Book.Set(v.To.ChatID, func(set *conversation.Settings) { o.choose(set, value, s.chat.Now()) })
}

// The settings that the rest of the package knows by name.
const (
	atLimit       = "limit"
	dayBudget     = "day-budget"
	idleLimit     = "idle"
	language      = "language"
	folder        = "folder"
	notices       = "notices"
	quiet         = "quiet"
	sessionBudget = "session-budget"
	texts         = "texts"
)

// limits are the idle limits that a person can choose; 0 means never.
var limits = []time.Duration{time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 72 * time.Hour, 0}

// all are the settings in their order.
var all = []one{
	{name: language, title: i18n.SettingLanguage, about: i18n.SettingLanguageAbout, row: 2,
		value: func(s conversation.Settings) string { return s.Language },
		choices: func(v view) []choice {
			name := func(lang string) choice { return choice{lang, v.speech.For(lang).Say(i18n.LanguageName)} }
			return append([]choice{v.byDefault(v.lang.Say(i18n.LanguageName))}, each.As(i18n.Languages(), name)...)
		},
		choose: func(s *conversation.Settings, value string, _ time.Time) { s.Language = value }},
	{name: "agent", title: i18n.SettingAgent, about: i18n.SettingAgentAbout, row: 2,
		value: func(s conversation.Settings) string { return s.Agent },
		choices: func(v view) []choice {
			name := func(one port.Installed) choice { return choice{one.Name, one.Product} }
			return append([]choice{v.byDefault(v.agents.installed[0].Product)}, each.As(v.agents.installed[1:], name)...)
		},
		able:   func(a agents) bool { return len(a.installed) > 1 },
		choose: func(s *conversation.Settings, value string, _ time.Time) { s.Agent = value }},
	{name: "mode", title: i18n.SettingMode, about: i18n.SettingModeAbout, row: 2,
		value: func(s conversation.Settings) string { return s.Mode },
		choices: func(v view) []choice {
			name := func(m port.Mode) choice { return choice{string(m), v.ModeText(string(m), "")} }
			return append([]choice{v.byDefault("")}, each.As(v.agents.can.Modes, name)...)
		},
		able:   func(a agents) bool { return len(a.can.Modes) > 0 },
		choose: func(s *conversation.Settings, value string, _ time.Time) { s.Mode = value }},
	{name: "model", title: i18n.SettingModel, about: i18n.SettingModelAbout, row: 2,
		value: func(s conversation.Settings) string { return s.Model },
		choices: func(v view) []choice {
			name := func(model string) choice { return choice{strings.ToLower(model), model} }
			return append([]choice{v.byDefault("")}, each.As(v.agents.can.Models, name)...)
		},
		able:   func(a agents) bool { return len(a.can.Models) > 0 },
		choose: func(s *conversation.Settings, value string, _ time.Time) { s.Model = value }},
	{name: folder, title: i18n.SettingFolder, about: i18n.SettingFolderAbout, row: 1,
		value:   func(s conversation.Settings) string { return s.Dir },
		choices: folders,
		choose:  func(s *conversation.Settings, value string, _ time.Time) { s.Dir = value }},
	{name: idleLimit, title: i18n.SettingIdle, about: i18n.SettingIdleAbout, row: 3,
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
		choose: func(s *conversation.Settings, value string, _ time.Time) {
			s.IdleAfter = nil
			if i := slices.IndexFunc(limits, func(d time.Duration) bool { return d.String() == value }); i >= 0 {
				s.IdleAfter = &limits[i]
			}
		}},
	{name: "steps", title: i18n.SettingSteps, about: i18n.SettingStepsAbout, row: 2,
		value: func(s conversation.Settings) string { return s.Steps },
		choices: func(v view) []choice {
			name := func(where string) choice { return choice{where, v.Say(i18n.StepsKey.Of(where))} }
			return append([]choice{v.byDefault(name(v.configured.Steps).label)}, each.As([]string{"card", "off"}, name)...)
		},
		choose: func(s *conversation.Settings, value string, _ time.Time) { s.Steps = value }},
	{name: atLimit, title: i18n.SettingLimit, about: i18n.SettingLimitAbout, row: 2,
		value: func(s conversation.Settings) string { return s.AtLimit },
		choices: func(v view) []choice {
			return []choice{v.byDefault(v.Say(i18n.AtLimitAsk)), {conversation.Continue, v.Say(i18n.AtLimitContinue)},
				{conversation.Stop, v.Say(i18n.AtLimitStop)}}
		},
		choose: func(s *conversation.Settings, value string, _ time.Time) { s.AtLimit = value }},
	budgetOf(sessionBudget, i18n.SettingSessionBudget, i18n.SettingSessionBudgetAbout, func(s *conversation.Settings) *float64 { return &s.SessionBudget }),
	budgetOf(dayBudget, i18n.SettingDayBudget, i18n.SettingDayBudgetAbout, func(s *conversation.Settings) *float64 { return &s.DayBudget }),
	timeZone,
	{name: notices, title: i18n.SettingNotices, about: i18n.SettingNoticesAbout, row: 1,
		value: func(s conversation.Settings) string { return s.Background },
		choices: func(v view) []choice {
			return []choice{{"", v.Say(i18n.NoticesLine)}, {conversation.Sound, v.Say(i18n.NoticesSound)},
				{conversation.Full, v.Say(i18n.NoticesFull)}, {conversation.Off, v.Say(i18n.NoticesOff)}}
		},
		extra:  noticesOfSessions,
		choose: func(s *conversation.Settings, value string, _ time.Time) { s.Background = value }},
	{name: quiet, title: i18n.SettingQuiet, about: i18n.SettingQuietAbout, row: 2,
		value:   func(s conversation.Settings) string { return hours(s.Quiet) },
		choices: quietHours,
		extra:   quietExtra,
		said:    quietText,
		choose:  chooseQuiet},
	{name: texts, title: i18n.SettingTexts, about: i18n.SettingTextsAbout, row: 1,
		value: func(s conversation.Settings) string { return s.Texts },
		choices: func(v view) []choice {
			return []choice{v.byDefault(v.Say(i18n.TextsPrompts)), {conversation.Named, v.Say(i18n.TextsNamed)}}
		},
		choose: func(s *conversation.Settings, value string, _ time.Time) { s.Texts = value }},
}

// budgets are the caps that a person can choose, in dollars.
var budgets = []float64{1, 2, 5, 10, 20, 50, 100, 200}

// budgetOf is the setting of a cap.
func budgetOf(name string, title, about i18n.Key, in func(s *conversation.Settings) *float64) one {
	word := func(dollars float64) string { return strconv.FormatFloat(dollars, 'f', -1, 64) }
	return one{name: name, title: title, about: about, row: 4,
		value: func(s conversation.Settings) string {
			if dollars := *in(&s); dollars > 0 {
				return word(dollars)
			}
			return ""
		},
		choices: func(v view) []choice {
			name := func(dollars float64) choice { return choice{word(dollars), v.Dollars(dollars, 0)} }
			return append([]choice{{"", v.Say(i18n.BudgetNone)}}, each.As(budgets, name)...)
		},
		choose: func(s *conversation.Settings, value string, _ time.Time) {
			*in(s), _ = strconv.ParseFloat(value, 64) // "": none
		}}
}

// byDefault is the choice of nothing; said: the value that then applies, if known.
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

// folders are the chosen one, the favourites, and the sessions' folders.
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
