package schedule

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"ccbot/internal/timespan"
)

// A text may continue the time before it: 22:00 tomorrow, 9 on fridays, 10 30. ccbot then guesses
// no time and asks the person. The words are from all languages of the chat.

// timeWords belong to a time wherever they stand.
var timeWords = setOf(`am pm uhr o'clock oclock noon midnight today tonight tomorrow morning afternoon evening
	day weekday weekdays weekend weekends daily hourly weekly monthly utc gmt cet cest est edt cst cdt mst mdt pst pdt bst msk
	heute morgen übermorgen früh morgens vormittags mittags nachmittags abends nachts täglich stündlich wöchentlich werktags wochentags wochenende
	montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags dienstags mittwochs donnerstags freitags samstags sonntags
	сегодня завтра послезавтра утра утром дня днём днем вечера вечером ночи ночью полдень полночь ежедневно ежечасно еженедельно мск
	понедельник понедельникам вторник вторникам среду среда средам четверг четвергам пятницу пятница пятницам субботу суббота субботам воскресенье воскресеньям
	будни будням выходные выходным`)

// countedWords belong to a time next to a number or after a link.
var countedWords = setOf(`s sec secs second seconds m min mins minute minutes h hr hrs hour hours d days week weeks month months night
	january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
	sekunde sekunden minuten stunde stunden tag tage tagen woche wochen monat monate januar februar märz mai juni juli oktober dezember
	секунду секунды секунд минуту минуты минут мин час часа часов день дней неделю недели недель
	января февраля марта апреля мая июня июля августа сентября октября ноября декабря`)

// timeStarts begin words of a time in Chinese, which has no spaces, and the names of zones.
var timeStarts = []string{"今天", "明天", "后天", "今晚", "明早", "早上", "上午", "中午", "下午", "晚上", "凌晨", "每天", "每周", "每小时", "工作日", "周末", "周一", "周二", "周三", "周四",
	"周五", "周六", "周日", "星期", "礼拜", "点", "分钟", "小时", "utc+", "utc-", "gmt+", "gmt-", "europe/", "america/", "asia/", "africa/", "australia/"}

// linkWords may stand between the parts of a time, and rangeWords also before a number.
var (
	linkWords = setOf(`at on in the this next every each for except starting am um im am ab den nächsten jeden jede alle außer в во на по с со каждый каждую каждые через кроме`)

	rangeWords = setOf(`and or to till until from between - – — & + , und oder bis von zwischen и или до от`)
)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// goesOn reports whether the text after a time may be a part of it.
func goesOn(when, text string) bool {
	words := strings.Fields(strings.ToLower(text))
	linked, ranged := false, false
	for len(words) > 0 && (linkWords[words[0]] || rangeWords[words[0]]) && !ofTime(words[0]) {
		linked, ranged = true, ranged || rangeWords[words[0]]
		words = words[1:]
	}
	if len(words) == 0 {
		return false
	}
	word := trimmed(words[0])
	number := strings.TrimRight(word, "stndrhй") // 2nd, 5th
	switch {
	case ofTime(word), (linked || endsInHour(when)) && countedWords[word], monthThenNumber(words):
		return true
	case !isNumber(number):
		return false
	case ranged, endsInHour(when) && len(number) == 2 && number < "60":
		return true
	}
	next := ""
	if len(words) > 1 {
		next = trimmed(words[1])
	}
	return ofTime(next) || countedWords[next]
}

// ofTime reports whether a word alone belongs to a time.
func ofTime(word string) bool {
	_, clock := clockOf(word)
	_, err := timespan.Parse(word)
	starts := func(start string) bool { return strings.HasPrefix(word, start) }
	return timeWords[word] || isDays(word) || slices.ContainsFunc(timeStarts, starts) || !isNumber(word) && (clock || err == nil || isDigits(word))
}

// isDigits reports whether a word is numbers alone with signs between them: a date, a clock time or
// a range.
func isDigits(word string) bool {
	parts := strings.FieldsFunc(word, func(c rune) bool { return strings.ContainsRune(".:-–/", c) })
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(part string) bool { return !isNumber(part) })
}

// monthThenNumber reports whether words begin with a month, or another counted word, and a number.
func monthThenNumber(words []string) bool {
	return len(words) > 1 && countedWords[trimmed(words[0])] && isNumber(strings.TrimRight(trimmed(words[1]), "stndrh"))
}

// endsInHour reports whether the last number of a time is an hour alone.
func endsInHour(when string) bool {
	words := strings.Fields(strings.ToLower(when))
	if n := len(words); n > 1 && clockSigns[words[n-1]] {
		words = words[:n-1]
	}
	return len(words) > 0 && len(words) < 5 && isNumber(words[len(words)-1])
}

// trimmed returns a word without the signs around it, and p.m. as pm.
func trimmed(word string) string {
	word = strings.TrimFunc(word, func(c rune) bool { return unicode.IsPunct(c) && c != '+' && c != '-' })
	if plain := strings.ReplaceAll(word, ".", ""); plain == "am" || plain == "pm" {
		return plain
	}
	return word
}

func isNumber(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(c rune) bool { return c < '0' || c > '9' })
}

// clockSigns may follow a clock time as a word. They do not change it.
var clockSigns = map[string]bool{"uhr": true, "o'clock": true, "oclock": true}

// joinClock makes one word of a clock time at the end of words: 8:30 pm, 9 uhr.
func joinClock(words []string) []string {
	n := len(words)
	if n < 2 {
		return words
	}
	switch last := words[n-1]; {
	case clockSigns[last]:
		if _, is := clockOf(words[n-2]); is {
			return words[:n-1]
		}
	case slices.Contains([]string{"am", "pm", "a.m.", "p.m."}, last):
		return append(words[:n-2:n-2], words[n-2]+strings.ReplaceAll(last, ".", ""))
	}
	return words
}

// isDays reports whether a word is days as people name them: fri, mondays, mon-fri, mon,thu.
func isDays(word string) bool {
	parts := strings.FieldsFunc(word, func(c rune) bool { return c == ',' || c == '-' })
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(part string) bool { return !isDay(part) })
}

// isDay reports whether a word is the name of a day.
func isDay(word string) bool {
	for day := time.Sunday; day <= time.Saturday; day++ {
		name := strings.ToLower(day.String())
		if word == name || word == name+"s" || word == name[:3] {
			return true
		}
	}
	return false
}
