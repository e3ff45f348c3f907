package naming

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccbot/internal/clip"
	"ccbot/internal/glyph"
	"ccbot/internal/lazyregexp"
)

const (
	// MaxName is the maximum length of a session's name, in letters, so that it fits on buttons.
	MaxName = 48

	maxMade      = MaxName - 4 // of a name that is made: a number may follow
	tellingWords = 3
	maxWord      = 20 // letters of a word; a longer one is a key or a hash
	maxHan       = 8  // letters of a run of Chinese, in which no blanks part the words
	maxFolder    = 16
	maxRead      = 4000 // bytes of a prompt that are read: its subject is at its beginning
)

// OfPrompt names a session after its folder and the first telling words of its first prompt:
// "ccbot-fix-login-test". It returns "" for a prompt that does not describe its work: a command, or
// only code, logs and quotations.
func OfPrompt(folder, prompt string) string {
	prompt = strings.TrimSpace(clip.Bytes(prompt, maxRead, ""))
	if strings.HasPrefix(prompt, "/") || strings.HasPrefix(prompt, "!") {
		return ""
	}
	folder = clip.Runes(strings.Join(wordsOf(folder), "-"), maxFolder)
	var telling []string
	for line := range strings.Lines(code.ReplaceAllString(prompt, "\n")) {
		if !isProse(line) {
			continue
		}
		for _, word := range wordsOf(address.ReplaceAllStringFunc(line, lastOf)) {
			if isTelling(word) && !strings.EqualFold(word, folder) && len(telling) < tellingWords {
				telling = append(telling, plainCase(word))
			}
		}
		if len(telling) > 0 { // a sentence further down is about details
			break
		}
	}
	if len(telling) == 0 {
		return ""
	}
	name := folder
	for _, word := range telling {
		if longer := strings.Trim(name+"-"+word, "-"); utf8.RuneCountInString(longer) <= maxMade {
			name = longer
		}
	}
	return name
}

// code matches text between fences; the last fence may be missing.
var code = lazyregexp.New("(?s)```.*?(```|$)")

// address is a URL, or a path of several parts.
var address = lazyregexp.New(`[\w+.-]+://\S+|[~.@]?[\p{L}\p{N}_.@-]*(/[\p{L}\p{N}_.@-]+)+/?`)

// lastOf is the last part of a path, which names the file; of a URL nothing.
func lastOf(found string) string {
	if strings.Contains(found, "://") {
		return " "
	}
	found = strings.TrimRight(found, "/")
	return found[strings.LastIndex(found, "/")+1:]
}

// notOwn matches the start of a line that the person did not write as a sentence: a quotation and
// its source, a heading of a log, code, the shell's prompt. Logs begin with a time or a level.
var notOwn = lazyregexp.New(`(?i)^(\t| {4}|\s*([>|│$#<{}]|\[?\d+[-:./]\d|\[?(error|warn|warning|info|debug|trace|fatal|panic|traceback|goroutine \d+)\b\]?:?|` +
	`forwarded message from |message sent (through|by) the bot |(file )?"[^"]*", line \d+|at \S+\())`)

// isProse says that a line is mostly letters, as sentences are.
func isProse(line string) bool {
	if notOwn.MatchString(line) {
		return false
	}
	letters, others := 0, 0
	for _, r := range line {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letters++
		case !unicode.IsSpace(r):
			others++
		}
	}
	return letters > others
}

// wordsOf returns the words of a line: letters, digits and visible marks, and the signs that join
// them. A word ends between Chinese and other letters.
func wordsOf(line string) (all []string) {
	keep := func(r rune) rune {
		switch {
		case r == '\'' || r == '’': // don't
			return -1
		case r == '-' || r == '_' || r == '.':
			return r
		case !(unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) || glyph.Unseen(r) || r == utf8.RuneError:
			return ' '
		}
		return r
	}
	apart := hanRun.ReplaceAllString(strings.Map(keep, line), " $0 ")
	for word := range strings.FieldsSeq(apart) {
		if word = strings.TrimFunc(word, func(r rune) bool { return strings.ContainsRune("-_.", r) || unicode.IsMark(r) }); word != "" {
			all = append(all, word)
		}
	}
	return all
}

var hanRun = lazyregexp.New(`\p{Han}+`)

// isTelling says that a word tells one task from another.
func isTelling(word string) bool {
	fits := utf8.RuneCountInString(word) <= maxWord || hanRun.MatchString(word)
	return fits && strings.ContainsFunc(word, unicode.IsLetter) && !slices.Contains(silent, strings.ToLower(word)) && plainCase(word) != ""
}

// plainCase is a word as names have it: small, but for one with capitals inside, such as README; of
// Chinese without the polite beginning.
func plainCase(word string) string {
	if hanRun.MatchString(word) {
		return clip.Runes(polite.ReplaceAllString(word, ""), maxHan)
	}
	_, first := utf8.DecodeRuneInString(word)
	if rest := word[first:]; rest == strings.ToLower(rest) {
		return strings.ToLower(word)
	}
	return word
}

// polite matches the polite beginning of a request in Chinese.
var polite = lazyregexp.New(`^(你好|您好|请问|请|麻烦|帮忙|帮我|帮|给我|你|您|我们|我想|我要|我|能不能|可不可以|可以|能否|能|需要|想|一下|先|现在|把|将|吗|的|和)+`)

// silent are words that most requests have, in English and Russian.
var silent = strings.Fields(`
	a an the this that these those it its is are was were be been being am do does did done have has had
	i im ive id we you your my our me us he she they them there here what whats which who how why when where
	can could would should will shall may might must need want like lets let please pls hi hello hey thanks thank ok okay so
	to of in on at by for from with without into onto over under about as and or but if then than not no yes
	now just also again still some any all each every both only very really currently think try make sure go ahead
	im dont doesnt cant wont isnt ill youre help
	а и в во на с со к ко у о об от до из за по под над при для без через про же ли бы не ни но или что чтобы как где когда
	если то это этот эта эти этого тот та те там тут здесь он она оно они мы вы ты я мне меня нам нас вам вас тебя себя мой моя мои
	наш наша наши твой ваш его ее её их есть был была было были быть будет можно можешь можете нужно надо хочу хотим давай давайте
	пожалуйста привет здравствуйте спасибо ок так уже еще ещё сейчас теперь просто тоже также все всё весь вся очень помоги помогите какой какая какие почему зачем
`)
