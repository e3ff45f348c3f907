package conversation

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/internal/address"
	"ccbot/internal/spool"
	"ccbot/port"
)

// Settings are the choices of a chat; the bot's configuration replaces zero values. A private chat
// belongs to one person. A group has a language, a time zone, quiet hours, favorites and its plain texts.
type Settings struct {
	Language   string         `json:"language,omitempty"`   // one of i18n.Languages
	Telegram   string         `json:"telegram,omitempty"`   // the language of the person's Telegram, as an IETF tag
	Mode       string         `json:"mode,omitempty"`       // the permission mode of new sessions
	Model      string         `json:"model,omitempty"`      // of new sessions
	Agent      string         `json:"agent,omitempty"`      // of new sessions, where it is installed
	Dir        string         `json:"dir,omitempty"`        // the folder of new sessions
	IdleAfter  *time.Duration `json:"idle_after,omitempty"` // after which a session of this chat is archived; 0: never
	Steps      string         `json:"steps,omitempty"`      // how a turn's steps are shown: card, off
	Background string         `json:"background,omitempty"` // the report of a session in the background at the end of a turn
	AtLimit    string         `json:"at_limit,omitempty"`   // what follows a limit that stopped a session: Continue, Stop; "": a question
	// The caps in dollars at list prices, of a session and of a day of this chat; 0: none.
	SessionBudget float64 `json:"session_budget,omitempty"`
	DayBudget     float64 `json:"day_budget,omitempty"`

	Quiet      *Hours   `json:"quiet,omitempty"`      // in which only urgent messages sound
	QuietFor   *Span    `json:"quiet_for,omitempty"`  // the same, once
	TimeZone   string   `json:"time_zone,omitempty"`  // of the IANA database
	Favourites []string `json:"favourites,omitempty"` // folders that /new shows first, also in a group
	Texts      string   `json:"texts,omitempty"`      // which texts of a group are prompts: Named; "": see package people

	Sessions map[uuid.UUID]string `json:"sessions,omitempty"` // Background of single sessions
}

// AgentAmong returns the chosen agent of new sessions, "" if it is not among those of a machine. A
// machine that has only another agent than the default one starts that.
func (s Settings) AgentAmong(installed []port.Installed) string {
	if slices.ContainsFunc(installed, func(one port.Installed) bool { return one.Name == s.Agent }) {
		return s.Agent
	}
	if len(installed) == 1 && installed[0].Name != port.DefaultAgent {
		return installed[0].Name
	}
	return ""
}

// AgentOf returns the agent of a new session and its abilities: the agent that is requested, or
// that a conversation has, otherwise the chosen one.
func (s Settings) AgentOf(ctx context.Context, agents port.Agents, q port.Start) (name string, can port.Abilities, err error) {
	if q.Agent == "" && q.ForkOf == uuid.Nil && q.Continues == uuid.Nil {
		installed, err := agents.Installed(ctx, q.Dir)
		if err != nil {
			return "", can, err
		}
		q.Agent = s.AgentAmong(installed)
	}
	can, err = agents.Abilities(ctx, q.Dir, q.Agent)
	return q.Agent, can, err
}

// Reports of a session in the background at the end of a turn.
const (
	Off   = "off"   // nothing; in other settings: switched off
	Line  = "line"  // a line without a sound
	Sound = "sound" // a line with a sound, outside quiet hours
	Full  = "full"  // its answers, as the current one's
)

// What follows the end of a limit that stopped a session.
const (
	Continue = "continue" // the prompt that continues it
	Stop     = "stop"     // nothing
)

// Named are the texts of a group that name the bot or answer it.
const Named = "named"

// Reports returns a session's choice while it is not the current one.
func (s Settings) Reports(session uuid.UUID) string {
	return cmp.Or(s.Sessions[session], s.Background, Line)
}

// Hours are a part of a day, in minutes since midnight in the time zone of the chat, possibly
// across midnight. 1440 is the end of a day.
type Hours struct {
	From  int   `json:"from"`
	Until int   `json:"until"`
	Days  uint8 `json:"days,omitempty"` // on which they begin, a bit for each [time.Weekday]; 0: each day
}

// On reports whether the hours begin on a day of the week.
func (h Hours) On(day time.Weekday) bool { return h.Days == 0 || h.Days&(1<<day) != 0 }

// Toggle adds a day of the week, or removes it. If none is left, the hours begin on each day.
func (h *Hours) Toggle(day time.Weekday) {
	const each = 1<<7 - 1
	if h.Days == 0 {
		h.Days = each
	}
	if h.Days ^= 1 << day; h.Days == each {
		h.Days = 0
	}
}

// Span is a time that begins and ends once.
type Span struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

// Lasts reports whether the span has not ended.
func (s *Span) Lasts(now time.Time) bool { return s != nil && now.Before(s.Until) }

// Quiet is [Hours.Quiet] for the span.
func (s *Span) Quiet(now, asked time.Time) bool {
	return s.Lasts(now) && !now.Before(s.From) && asked.Before(s.From)
}

// Quiet reports whether an answer at now to a prompt sent at asked makes no sound: now is in the
// hours, and asked before them.
func (h *Hours) Quiet(now, asked time.Time) bool {
	if h == nil {
		return false
	}
	minute, day := now.Hour()*60+now.Minute(), now.Day()
	switch {
	case h.From <= h.Until && (minute < h.From || minute >= h.Until):
		return false
	case h.From > h.Until && minute < h.Until: // they began the day before
		day--
	case h.From > h.Until && minute < h.From:
		return false
	}
	began := time.Date(now.Year(), now.Month(), day, 0, h.From, 0, 0, now.Location())
	return h.On(began.Weekday()) && asked.Before(began)
}

// Settings returns the settings of a chat, for all its topics.
func (c *Store) Settings(chat int64) Settings {
	return c.read(address.Conversation{ChatID: chat}).Settings
}

// ReadSettings reads the settings of all chats of a folder, without changing it. It skips invalid
// files.
func ReadSettings(dir string) (all []Settings, err error) {
	from := spool.Loader{Log: slog.New(slog.DiscardHandler)}
	_, err = from.Load(spool.Folder{Path: dir, MaxSize: maxFile}, suffix, func(name string, data []byte) error {
		to, ok := placeOf(name)
		if !ok || to.ThreadID != 0 {
			return nil
		}
		var f file
		if err := json.Unmarshal(data, &f); err != nil {
			return err
		}
		all = append(all, f.Settings)
		return nil
	})
	return all, err
}

// Budget is the state of a new session, where a day of all sessions has a cap of day dollars: a cap
// lets no prompt be typed before it was compared.
func (s Settings) Budget(day float64) port.BudgetState {
	if day > 0 || s.SessionBudget > 0 || s.DayBudget > 0 {
		return port.BudgetUnknown
	}
	return port.BudgetNone
}

// MachineZone is the name of the machine's own time zone.
const MachineZone = "Local"

// ZoneOf returns the name of the time zone of a chat.
func (c *Store) ZoneOf(chat int64) string {
	return cmp.Or(c.Settings(chat).TimeZone, c.Zone, MachineZone)
}

// Location returns the time zone of a chat. For one that this machine does not know it returns the
// machine's.
func (c *Store) Location(chat int64) *time.Location {
	if zone, err := time.LoadLocation(c.ZoneOf(chat)); err == nil {
		return zone
	}
	return time.Local
}

// Set changes the settings of a chat.
func (c *Store) Set(chat int64, change func(s *Settings)) error {
	was := c.Settings(chat)
	err := c.change(address.Conversation{ChatID: chat}, func(f *file) {
		change(&f.Settings)
		f.People.Told = f.People.Told && f.Settings.Texts == was.Texts
	})
	now := c.Settings(chat)
	if c.Changed != nil {
		c.Changed(was, now)
	}
	return err
}

// NoteLanguage stores the language of a person's Telegram, for the person's private chat.
func (c *Store) NoteLanguage(chat models.Chat, language string) error {
	if language == "" || chat.Type != models.ChatTypePrivate || language == c.Settings(chat.ID).Telegram {
		return nil
	}
	return c.Set(chat.ID, func(s *Settings) { s.Telegram = language })
}
