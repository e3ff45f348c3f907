package jsonl

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"ccbot/agent"
	"ccbot/internal/glyph"
	"ccbot/port/talk"
)

// Contains reports whether a prompt, as Claude Code has written it down, contains the text that was
// sent. White space is folded, because a long paste comes back inside a <pasted_content> wrapper,
// tabs come back as spaces, and queued prompts are joined. Only whole words count, so that "ok" is
// not found in "look". Blank text is contained in nothing.
func Contains(promptInTranscript, sent string) bool {
	want := strings.Join(words(sent), " ")
	if want == "" {
		return false
	}
	have := strings.Join(words(promptInTranscript), " ")
	return strings.Contains(" "+have+" ", " "+want+" ")
}

// Same is Contains for a prompt that must consist of the sent text and nothing else.
func Same(promptInTranscript, sent string) bool {
	return slices.Equal(words(promptInTranscript), words(sent))
}

// words are the words of a text without the changes that Claude Code makes to a prompt. It drops
// invisible characters, except those that join an emoji, so all of these are ignored on both sides;
// it composes letters and their marks; and it writes `<\` if "<" begins one of its marks.
func words(text string) []string {
	text = norm.NFC.String(strings.ReplaceAll(text, `<\`, "<"))
	return strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && glyph.Unseen(r) {
			return -1
		}
		return r
	}, text))
}

// Matches folds white space.
func (f *Form) Matches(submitted, sent string, whole bool) bool {
	if whole {
		return Same(submitted, sent)
	}
	return Contains(submitted, sent)
}

// Trace searches the transcript from offset to its present end, in lines dated since or later.
// The offset is the size of the file before text was typed and may stand inside a line. A line
// without a date does not count, unless since is zero. If there is no file, there is no trace and
// no error; a file shorter than offset is ErrTruncated.
func (f *Form) Trace(path string, offset int64, since time.Time, text string) (t agent.Trace, err error) {
	err = f.Each(talk.Cursor{Path: path, Offset: offset}, true, func(item Item) bool {
		t.Earlier = t.Earlier || !item.Time.IsZero() && item.Time.Before(since)
		switch {
		case item.Time.Before(since) || item.Sidechain || item.Meta:
		case t.Arrived:
			t.Refused = item.Refused != "" && Same(item.Refused, text)
			return !t.Refused && item.Kind != UserPrompt
		case proves(item, text):
			t = agent.Trace{Arrived: true, Refused: item.Refused != "", Earlier: t.Earlier}
			// A queued prompt may be refused when its turn comes.
			return item.Kind == QueueOperation
		default:
			t.Foreign = t.Foreign || item.typed()
		}
		return true
	})
	return t, err
}

// typed reports whether an item is another text of a person, or a compaction. After either, the
// prompt box may be another one.
func (i Item) typed() bool {
	return slices.Contains([]talk.Kind{UserPrompt, LocalCommand, CompactBoundary}, i.Kind) ||
		i.Kind == QueueOperation && i.Operation == "enqueue"
}

// proves reports whether an item shows that text arrived.
func proves(item Item, text string) bool {
	text = strings.TrimSpace(text)
	switch item.Kind {
	case UserPrompt:
		return Contains(item.Text, text)
	case QueueOperation:
		return item.Operation == "enqueue" && Contains(item.Text, text)
	case LocalCommand:
		if command, ok := strings.CutPrefix(text, "!"); ok {
			return item.Command == "!" && Contains(strings.TrimPrefix(item.Text, "!"), command)
		}
		return isCommand(text, item.Command)
	case LocalOutput:
		return isCommand(text, item.Command) || Contains(item.Refused, text)
	}
	return false
}

// isCommand reports whether text calls the slash command. Arguments are not compared in every case,
// because Claude Code does not always write them down.
func isCommand(text, command string) bool {
	name, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), " ")
	return strings.HasPrefix(command, "/") && name == command
}
