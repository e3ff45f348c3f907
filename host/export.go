package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/files"
	"ccbot/bot/port/history"
	"ccbot/internal/transcript"
)

// Export implements [history.Exports]. The conversation is read twice: from its end, to know where the part begins that
// fits, and from there on, to write it down entry by entry. The file loses its name at once: a crash leaves nothing but the
// file of that moment, which Tidy removes.
func (c Conversations) Export(ctx context.Context, id uuid.UUID, most int64, words history.Words) (f files.File, err error) {
	head, size := "# "+words.Title+"\n", int64(len(words.Title)+len(words.Cut)+100)
	begin, cut := history.Place(""), false
	err = c.walk(ctx, id, "", history.Older, func(at file, e transcript.Entry) bool {
		size += int64(len(markdownOf(e, words)))
		if cut = size > most; !cut {
			begin = at.place(e.At)
		}
		return !cut
	})
	if err != nil {
		return f, err
	}
	if cut {
		head += "\n*" + words.Cut + "*\n"
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	body, err := os.CreateTemp(c.Dir, "")
	if err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, body.Close())
		}
	}()
	if err := os.Remove(body.Name()); err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	out := bufio.NewWriter(body)
	n, err := out.WriteString(head)
	f.Size = int64(n)
	if err == nil {
		err = c.walk(ctx, id, begin, history.Newer, func(_ file, e transcript.Entry) bool {
			text := markdownOf(e, words)
			if f.Size+int64(len(text)) > most { // it has grown meanwhile
				return false
			}
			f.Size += int64(len(text))
			_, _ = out.WriteString(text) // Flush gives the error
			return true
		})
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	f.Name, f.Body = id.String()+".md", body
	return f, nil
}

// Tidy removes what a kill has left of exports. None is under way yet.
func (c Conversations) Tidy() error { return os.RemoveAll(c.Dir) }

// markdownOf is an entry as Markdown. A prompt is a quotation: it is no Markdown itself.
func markdownOf(e transcript.Entry, words history.Words) string {
	var b strings.Builder
	who := map[transcript.EntryKind]string{transcript.Asked: words.Prompt, transcript.Answered: words.Answer, transcript.Compacted: words.Compacted}[e.Kind]
	b.WriteString("\n## " + who)
	if !e.Time.IsZero() {
		b.WriteString(" · " + e.Time.Local().Format(time.DateTime))
	}
	b.WriteString("\n")
	for _, text := range e.Texts {
		if e.Kind == transcript.Asked {
			text = "> " + strings.ReplaceAll(text, "\n", "\n> ")
		}
		b.WriteString("\n" + text + "\n")
	}
	var notes []string
	for _, t := range tools(e.Calls) {
		notes = append(notes, t.Name+" "+strconv.Itoa(t.Count))
	}
	if e.Images > 0 {
		notes = append(notes, words.Picture+" "+strconv.Itoa(e.Images))
	}
	if e.Interrupted {
		notes = append(notes, words.Interrupted)
	}
	if len(notes) > 0 {
		b.WriteString("\n*" + strings.Join(notes, ", ") + "*\n")
	}
	return b.String()
}
