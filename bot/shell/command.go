package shell

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/talk"
	"ccbot/bot/render"
)

// command is what a card knows of the command whose output it shows.
type command struct {
	Session uuid.UUID `json:"session"`
	Text    string    `json:"text"` // with its sign
	// Path is the transcript when the command was typed, empty where there was none, and Offset its
	// end then: what the command has printed comes behind it.
	Path    string    `json:"path,omitempty"`
	Offset  int64     `json:"offset,omitempty"`
	Rows    []string  `json:"rows,omitempty"`   // what the terminal has shown last
	Ended   int64     `json:"ended,omitempty"`  // offset of the output that the card shows; 0: of none
	Stopped time.Time `json:"stopped,omitzero"` // by then the command had been stopped
}

// output is the message of a command.
type output = card.Card[command]

// takes says whether an output may be the command's. What is younger than the stop of a command is
// of another one, perhaps of the same words.
func (c command) takes(item talk.Item) bool {
	at := item.At
	words := func(text string) []string { return strings.Fields(strings.TrimPrefix(text, "!")) }
	return (c.Ended == 0 || c.Ended == at.Offset) &&
		(c.Path == "" || c.Path == at.Path && c.Offset <= at.Offset) &&
		(c.Stopped.IsZero() || !item.Time.After(c.Stopped)) &&
		slices.Equal(words(c.Text), words(item.Bash))
}

// shownCommand is how much of a command stands above what it has printed, in letters.
const shownCommand = 120

// title is a command as the first line of a message.
func title(c command) render.Text {
	text := chat.Head(chat.Visible(strings.TrimPrefix(c.Text, "!")), shownCommand)
	return render.Code("$ " + text)
}

// outputGap stands for rows that the terminal does not show.
const outputGap = "…"
