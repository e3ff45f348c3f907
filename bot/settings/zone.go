package settings

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/internal/lazyregexp"
)

// zone is the name of the setting, and unknown follows it in the address after a reply that names
// no time zone.
const (
	zone    = "zone"
	unknown = "/unknown"
)

// usualZones are the zones that the page offers.
var usualZones = []string{"America/Los_Angeles", "America/New_York", "Europe/London", "Europe/Berlin", "Europe/Moscow", "Asia/Kolkata", "Asia/Shanghai", "Asia/Tokyo"}

// timeZone is the setting of a chat's time zone.
var timeZone = one{name: zone, title: i18n.SettingZone, about: i18n.SettingZoneAbout, row: 2,
	value: func(s conversation.Settings) string { return s.TimeZone },
	choices: func(v view) []choice {
		all := []choice{v.byDefault(v.zoneText(v.zone))}
		if v.set.TimeZone != "" && !slices.Contains(usualZones, v.set.TimeZone) {
			all = append(all, choice{v.set.TimeZone, v.zoneText(v.set.TimeZone)})
		}
		for _, name := range usualZones {
			_, city, _ := strings.Cut(name, "/")
			all = append(all, choice{name, strings.ReplaceAll(city, "_", " ") + " " + v.clock(name)})
		}
		return all
	},
	said: func(v view) string {
		if v.set.TimeZone == "" {
			return v.byDefault(v.zoneText(v.zone)).label
		}
		return v.zoneText(v.set.TimeZone)
	},
	choose: func(s *conversation.Settings, value string, _ time.Time) {
		if _, err := time.LoadLocation(value); err == nil {
			s.TimeZone = value
		}
	}}

// zoneText is a time zone and its present time.
func (v view) zoneText(name string) string {
	what := name
	if name == conversation.MachineZone {
		what = v.Say(i18n.ZoneMachine)
	}
	return what + " " + v.clock(name)
}

// clock is the present time in a zone.
func (v view) clock(name string) string {
	there := v.now
	if location, err := time.LoadLocation(name); err == nil {
		there = v.now.In(location)
	}
	return v.Words.Moment(there, there)
}

// typed takes a reply to the page of the time zone: a name or a city.
func (s *Settings) typed(_ context.Context, v chat.Visit, text string) (string, error) {
	if o, ok := s.find(v, agents{}); !ok || o.name != zone {
		return "", chat.ErrNotTaken
	}
	name, known := findZone(text)
	if !known {
		return page + "/" + zone + unknown, nil
	}
	return page + "/" + zone, s.chat.Book.Set(v.To.ChatID, func(set *conversation.Settings) { set.TimeZone = name })
}

var (
	offsetForm = lazyregexp.New(`^(?:(?i)utc|gmt)?\s*([+-])(\d{1,2})$`)
	areas      = []string{"", "Europe/", "America/", "Asia/", "Africa/", "Australia/", "Pacific/", "Atlantic/", "Indian/", "America/Argentina/"}
)

// findZone returns the time zone with a name, of a city, or with full hours from UTC.
func findZone(text string) (name string, known bool) {
	text = strings.TrimSpace(text)
	if offset := offsetForm.FindStringSubmatch(text); offset != nil {
		sign := map[string]string{"+": "-", "-": "+"}[offset[1]] // as POSIX counts
		text = fmt.Sprintf("Etc/GMT%s%s", sign, strings.TrimPrefix(offset[2], "0"))
	}
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '_' }) {
		parts := strings.Split(word, "/")
		for i, part := range parts {
			first := []rune(part)[:min(1, len([]rune(part)))]
			parts[i] = strings.ToUpper(string(first)) + strings.ToLower(strings.TrimPrefix(part, string(first)))
		}
		words = append(words, strings.Join(parts, "/"))
	}
	title := strings.Join(words, "_")
	for _, name := range append([]string{text, strings.ToUpper(text)}, prefixed(areas, title)...) {
		if _, err := time.LoadLocation(name); err == nil && name != "" && !strings.EqualFold(name, conversation.MachineZone) {
			return name, true
		}
	}
	return "", false
}

func prefixed(prefixes []string, name string) (all []string) {
	for _, p := range prefixes {
		all = append(all, p+name)
	}
	return all
}
