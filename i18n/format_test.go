package i18n

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const gap = "\u00a0"

func TestNumbersOfEachLanguage(t *testing.T) {
	type row = map[string]string
	c := Load(dotted)
	tests := []struct {
		name  string
		write func(w Words) string
		want  row
	}{
		{"a count", func(w Words) string { return w.Say(ListTitle, Args{"Count": 12345}) },
			row{"en": "12,345 sessions:", "ru": "12" + gap + "345 сессий:", "zh": "12,345 个会话：", "de": "12.345 Sitzungen:"}},
		{"a number", func(w Words) string { return w.Say(ChangesFile, Args{"First": 1234, "All": int64(5678)}) },
			row{"en": "file 1,234 of 5,678", "ru": "файл 1" + gap + "234 из 5" + gap + "678", "zh": "第 1,234/5,678 个文件", "de": "Datei 1.234 von 5.678"}},
		{"a pid", func(w Words) string { return w.Say(FailureKey.Of("unknown"), Args{"PID": 41234}) },
			row{"en": "pid 41234 may still belong to it", "ru": "pid 41234, возможно, всё ещё относится к ней", "zh": "pid 41234 可能仍属于它", "de": "pid 41234 gehört vielleicht noch dazu"}},
		{"a percentage", func(w Words) string { return w.Percent(41.6) }, row{"en": "42%", "ru": "42" + gap + "%", "zh": "42%", "de": "42" + gap + "%"}},
		{"dollars", func(w Words) string { return w.Dollars(1234.5, 2) }, row{"en": "$1,234.50", "ru": "1" + gap + "234,50" + gap + "$", "zh": "$1,234.50", "de": "1.234,50" + gap + "$"}},
		{"dollars without cents", func(w Words) string { return w.Dollars(20, 0) }, row{"en": "$20", "ru": "20" + gap + "$", "zh": "$20", "de": "20" + gap + "$"}},
		{"950", func(w Words) string { return w.Rounded(950) }, row{"en": "950", "ru": "950", "zh": "950", "de": "950"}},
		{"1,234", func(w Words) string { return w.Rounded(1234) }, row{"en": "1.2k", "ru": "1,2" + gap + "тыс.", "zh": "1,234", "de": "1,2" + gap + "Tsd."}},
		{"12,345", func(w Words) string { return w.Rounded(12_345) }, row{"en": "12k", "ru": "12" + gap + "тыс.", "zh": "1.2万", "de": "12" + gap + "Tsd."}},
		{"999,400", func(w Words) string { return w.Rounded(999_400) }, row{"en": "999k", "ru": "999" + gap + "тыс.", "zh": "100万", "de": "999" + gap + "Tsd."}},
		{"999,600", func(w Words) string { return w.Rounded(999_600) }, row{"en": "1.0M", "ru": "1,0" + gap + "млн", "zh": "100万", "de": "1,0" + gap + "Mio."}},
		{"25 million", func(w Words) string { return w.Rounded(25_000_000) }, row{"en": "25M", "ru": "25" + gap + "млн", "zh": "2,500万", "de": "25" + gap + "Mio."}},
		{"2.5 billion", func(w Words) string { return w.Rounded(2_500_000_000) }, row{"en": "2.5B", "ru": "2,5" + gap + "млрд", "zh": "25亿", "de": "2,5" + gap + "Mrd."}},
		{"999 bytes", func(w Words) string { return w.Size(999) }, row{"en": "999 B", "ru": "999" + gap + "Б", "zh": "999 B", "de": "999" + gap + "B"}},
		{"1.5 kilobytes", func(w Words) string { return w.Size(1500) }, row{"en": "1.5 kB", "ru": "1,5" + gap + "кБ", "zh": "1.5 kB", "de": "1,5" + gap + "kB"}},
		{"432 megabytes", func(w Words) string { return w.Size(412 << 20) }, row{"en": "432 MB", "ru": "432" + gap + "МБ", "zh": "432 MB", "de": "432" + gap + "MB"}},
		{"nearly a gigabyte", func(w Words) string { return w.Size(999_500_000) }, row{"en": "1.0 GB", "ru": "1,0" + gap + "ГБ", "zh": "1.0 GB", "de": "1,0" + gap + "GB"}},
		{"9000 terabytes", func(w Words) string { return w.Size(9e15) }, row{"en": "9,000 TB", "ru": "9" + gap + "000" + gap + "ТБ", "zh": "9,000 TB", "de": "9.000" + gap + "TB"}},
		{"90 minutes", func(w Words) string { return w.Age(90 * time.Minute) }, row{"en": "1 h", "ru": "1" + gap + "ч", "zh": "1 小时", "de": "1" + gap + "h"}},
		{"a day", func(w Words) string { return w.Age(30 * time.Hour) }, row{"en": "1 d", "ru": "1" + gap + "день", "zh": "1 天", "de": "1" + gap + "Tag"}},
		{"three days", func(w Words) string { return w.Age(80 * time.Hour) }, row{"en": "3 d", "ru": "3" + gap + "дня", "zh": "3 天", "de": "3" + gap + "Tage"}},
		{"less than nothing", func(w Words) string { return w.Age(-time.Hour) }, row{"en": "0 s", "ru": "0" + gap + "с", "zh": "0 秒", "de": "0" + gap + "s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, lang := range released {
				assert.Equal(t, tt.want[lang], tt.write(c.For(lang)), lang)
			}
		})
	}
}

// TestEachNumberInBlankIsWritten: of whatever type it is.
func TestEachNumberInBlankIsWritten(t *testing.T) {
	w := Load(dotted).For("de")
	said := func(blank string, value any) string { return w.Say(Named, Args{"What": "n", blank: value}) }
	for _, n := range []any{12345, int16(12345), int32(12345), int64(12345), uint(12345), uint16(12345), uint32(12345), uint64(12345), float32(12345), 12345.0} {
		assert.Equal(t, "n: 12.345", said("Said", n), "%T", n)
	}
	assert.Equal(t, "n: 1,25", said("Said", 1.25))
	assert.Equal(t, "n: 5"+gap+"min", said("Said", 5*time.Minute))
	assert.Equal(t, "n: 28.11.2026, 09:00", said("Said", time.Date(2026, 11, 28, 9, 0, 0, 0, time.Local)))
	for _, pid := range []any{41234, int32(41234), int64(41234)} {
		assert.Contains(t, w.Say(FailureKey.Of("unknown"), Args{"PID": pid}), "41234", "%T", pid)
	}
}

func TestSizesOfZeroWordsAreEnglish(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9_949: "9.9 kB", 9_950: "10 kB", 99_499: "99 kB",
		999_499: "999 kB", 999_500: "1.0 MB", 50 << 20: "52 MB", 999_499_999: "999 MB", 3_000_000_000: "3.0 GB", 2_000_000_000_000: "2.0 TB"} {
		assert.Equal(t, want, Words{}.Size(bytes))
	}
}

func TestMomentsOfEachLanguage(t *testing.T) {
	now := time.Date(2026, 11, 25, 23, 30, 0, 0, time.Local)
	today, day, year := time.Date(2026, 11, 25, 9, 5, 7, 0, time.Local), time.Date(2026, 11, 28, 9, 0, 0, 0, time.Local), time.Date(2025, 2, 3, 15, 4, 0, 0, time.Local)
	c := Load(dotted)
	for lang, want := range map[string][]string{
		"en": {"09:05", "Nov 28, 09:00", "Feb 3, 2025, 15:04", "at 09:05", "Nov 28 at 09:00", "Feb 3, 2025 at 15:04",
			"since Nov 28, 09:00", "until 09:05", "Nov 28", "Feb 3, 2025", "09:05:07"},
		"ru": {"09:05", "28.11, 09:00", "03.02.2025, 15:04", "в 09:05", "28.11 в 09:00", "03.02.2025 в 15:04",
			"с 28.11, 09:00", "до 09:05", "28.11", "03.02.2025", "09:05:07"},
		"de": {"09:05", "28.11., 09:00", "3.2.2025, 15:04", "um 09:05", "am 28.11. um 09:00", "am 3.2.2025 um 15:04",
			"seit 28.11., 09:00", "bis 09:05", "28.11.", "3.2.2025", "09:05:07"},
		"zh": {"09:05", "11月28日 09:00", "2025年2月3日 15:04", "09:05", "11月28日 09:00", "2025年2月3日 15:04",
			"11月28日 09:00 起", "至 09:05", "11月28日", "2025年2月3日", "09:05:07"},
	} {
		w := c.For(lang)
		assert.Equal(t, want, []string{w.Moment(today, now), w.Moment(day, now), w.Moment(year, now), w.At(today, now), w.At(day, now), w.At(year, now),
			w.Since(day, now), w.Until(today, now), w.Day(day, now), w.Day(year, now), w.Seconds(today, now)}, lang)
	}
}

// beforeMoment are the prepositions of a moment. They are in the formats alone, because a day
// needs another one than a time, or none.
var beforeMoment = map[string]string{"en": "at|on|of|from|since|to|until", "ru": "в|на|от|с|до|к", "zh": "于|在|从|自|到|至", "de": "um|am|von|vom|seit|bis|ab"}

func TestTextsHaveNoPrepositionOfMoment(t *testing.T) {
	for _, lang := range Languages() {
		if beforeMoment[lang] == "" {
			continue
		}
		before := regexp.MustCompile(`(?i)(^|[\P{L}\p{Han}])(` + beforeMoment[lang] + `) ?\{\{\.(At|Date|End|Since|Start|Time|Until)\}\}`)
		for key, f := range sentences(t, lang) {
			for _, text := range f {
				if !strings.HasPrefix(key, string(FormatKey)) {
					assert.NotRegexp(t, before, text, "%s %s", lang, key)
				}
			}
		}
	}
}

// otherCase are the prepositions that want another case than the ages have: nominative in German,
// and accusative in Russian, which looks the same.
var otherCase = map[string]string{"de": "ab|aus|bei|binnen|in|mit|nach|seit|von|vor|zu", "ru": "без|более|больше|до|из|менее|меньше|около|от|с"}

func TestAgesHaveCaseOfTheirSentences(t *testing.T) {
	for lang, words := range otherCase {
		before := regexp.MustCompile(`(?i)(^|\PL)(` + words + `) (mehr als )?\{\{\.(Age|Took)\}\}`)
		for key, f := range sentences(t, lang) {
			for _, text := range f {
				assert.NotRegexp(t, before, text, "%s %s", lang, key)
			}
		}
	}
}

// ownReasons are the texts whose blank for a reason has ccbot's own words, or words that the caller
// quotes.
var ownReasons = []Key{"ending_spared", "folder_none", "get_unreadable", "health_last_error", "inbox_unwritable", "limit_not_sent",
	"loop_ended", "loop_paused", "new_folder_refused", "schedule_barred", "schedule_ended", "schedule_skipped", "skip_why_not_resumed", "writer_kept"}

// The words of other programs are quoted: of Claude, of git, of Telegram, of the system.
func TestForeignWordsAreQuoted(t *testing.T) {
	quote, reason := regexp.MustCompile(`[“«„]\{\{\.(Reason|Detail)\}\}[”»“]`), regexp.MustCompile(`\{\{\.(Reason|Detail)\}\}`)
	for _, lang := range released {
		for key, f := range sentences(t, lang) {
			for _, text := range f {
				if reason.MatchString(text) && !slices.Contains(ownReasons, Key(key)) {
					assert.Regexp(t, quote, text, "%s %s", lang, key)
				}
			}
		}
	}
}

// A text that names a button has the button's word, so that both change together.
func TestTextsTakeWordsOfButtons(t *testing.T) {
	quoted := regexp.MustCompile(`[“«„\[]([^”»“\]{}]+)[”»“\]]`)
	for _, lang := range Languages() {
		all, buttons := sentences(t, lang), make(map[string]string)
		for key, f := range all {
			if strings.HasPrefix(key, "button_") || strings.HasPrefix(key, "ask_") {
				buttons[strings.Trim(f["other"], "…← →☆★↑")] = key
			}
		}
		for key, f := range all {
			for _, text := range f {
				for _, m := range quoted.FindAllStringSubmatch(text, -1) {
					assert.Empty(t, buttons[m[1]], "%s %s: %s", lang, key, text)
				}
			}
		}
	}
}
