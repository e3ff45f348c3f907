package show

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/pause"
	"ccbot/port/talk"
)

// Entry is one prompt, answer or summary, in JSON.
type Entry struct {
	At   time.Time `json:"at,omitzero"`
	Kind string    `json:"kind"` // prompt, answer or compacted
	// of an answer Markdown, as the agent wrote it
	Text        string           `json:"text"`
	Cut         bool             `json:"cut,omitempty"`   // the text is longer
	Tools       []talk.EntryTool `json:"tools,omitempty"` // that were called, the most used first
	Images      int              `json:"images,omitempty"`
	Interrupted bool             `json:"interrupted,omitempty"` // a person has stopped the answer
}

// Hit is a place that has a word, in JSON.
type Hit struct {
	At     time.Time `json:"at,omitzero"`
	Kind   string    `json:"kind"`
	Before string    `json:"before"`
	Word   string    `json:"word"`
	After  string    `json:"after"`
}

// Entries prints the last entries of a conversation, oldest first.
func Entries(ctx context.Context, out io.Writer, said talk.Conversations, session uuid.UUID, most int, asJSON bool) error {
	found, err := said.Read(ctx, session, "", talk.Older, most)
	if err != nil {
		return err
	}
	entries := []Entry{}
	for _, e := range slices.Backward(found) {
		entries = append(entries, Entry{At: e.Time.UTC(), Kind: string(e.Kind), Text: strings.Join(e.Texts, "\n\n"),
			Cut: e.Cut, Tools: e.Tools, Images: e.Images, Interrupted: e.Interrupted})
	}
	return terminal.Show(out, asJSON, entries, func(p *terminal.Printer) {
		for i, e := range entries {
			if i > 0 {
				p.Line("")
			}
			e.print(p)
		}
	})
}

func (e Entry) print(p *terminal.Printer) {
	head := when(e.At) + "  " + e.Kind
	if e.Interrupted {
		head += ", interrupted"
	}
	p.Line("%s", head)
	if e.Text != "" {
		p.Line("%s", terminal.Text(e.Text))
	}
	if e.Cut {
		p.Line("(there is more)")
	}
	var tools []string
	for _, t := range e.Tools {
		tools = append(tools, fmt.Sprintf("%s %d", terminal.Printable(t.Name), t.Count))
	}
	if len(tools) > 0 {
		p.Line("(tools: %s)", strings.Join(tools, ", "))
	}
	if e.Images > 0 {
		p.Line("(%s)", terminal.Several(e.Images, "picture"))
	}
}

// Found prints the last places of a conversation that have a word, oldest first.
func Found(ctx context.Context, out io.Writer, said talk.Conversations, session uuid.UUID, word string, most int, asJSON bool) error {
	found, err := said.Find(ctx, session, "", word, most, pause.Forever)
	if err != nil {
		return err
	}
	hits := []Hit{}
	for _, h := range slices.Backward(found.Hits) {
		hits = append(hits, Hit{At: h.Time.UTC(), Kind: string(h.Kind), Before: h.Before, Word: h.Word, After: h.After})
	}
	return terminal.Show(out, asJSON, hits, func(p *terminal.Printer) {
		if len(hits) == 0 {
			p.Line("nothing was found")
		}
		for _, h := range hits {
			p.Line("%s  %s: %s", when(h.At), h.Kind, terminal.Printable(strings.Join(strings.Fields(h.Before+h.Word+h.After), " ")))
		}
	})
}

// when is a time by this machine's clock.
func when(at time.Time) string {
	if at.IsZero() {
		return strings.Repeat("-", len(time.DateTime))
	}
	return at.Local().Format(time.DateTime)
}
