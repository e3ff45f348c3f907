package settings

import (
	"fmt"
	"slices"
	"time"

	"ccbot/bot/conversation"
	"ccbot/bot/port/modes"
	"ccbot/i18n"
)

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
			list := []choice{v.byDefault("")}
			for _, m := range modes.Modes {
				list = append(list, choice{string(m), v.Say(i18n.ModeKey(string(m)))})
			}
			return list
		},
		choose: func(s *conversation.Settings, value string) { s.Mode = value }},
	{name: "model", title: i18n.SettingModel, about: i18n.SettingModelAbout, row: 2,
		value: func(s conversation.Settings) string { return s.Model },
		choices: func(v view) []choice {
			list := []choice{v.byDefault("")}
			for _, model := range modes.Models {
				list = append(list, choice{modes.Flag(model), model})
			}
			return list
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
			list := []choice{v.byDefault(v.limit(v.configured.IdleAfter))}
			for _, d := range limits {
				list = append(list, choice{d.String(), v.limit(d)})
			}
			return list
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
			list := []choice{v.byDefault(v.Say(i18n.StepsKey(v.configured.Steps)))}
			for _, where := range []string{"card", "messages", "off"} {
				list = append(list, choice{where, v.Say(i18n.StepsKey(where))})
			}
			return list
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
		choose:  func(s *conversation.Settings, value string) { s.Quiet = hoursOf(value) }},
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
	for _, dir := range dirs {
		list = append(list, choice{dir, v.ShortTail(dir)})
	}
	return list
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

func hoursOf(said string) *conversation.Hours {
	var from, fromMinute, until, untilMinute int
	if _, err := fmt.Sscanf(said, "%d:%d–%d:%d", &from, &fromMinute, &until, &untilMinute); err != nil {
		return nil
	}
	return &conversation.Hours{From: from*60 + fromMinute, Until: until*60 + untilMinute}
}
