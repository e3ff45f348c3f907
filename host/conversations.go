package host

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/internal/clip"
	"ccbot/internal/disk"
	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Conversations reads the transcripts of a session as one conversation. It implements the chat's
// port history.
type Conversations struct {
	Agents  agent.Agents
	Records Records
	Dir     string // a folder of ccbot's own for files that are being exported
	Tickets *Tickets
}

var (
	_ talk.Conversations = Conversations{}
	_ talk.Exports       = Conversations{}
	_ talk.LastQuestions = Conversations{}
)

// file is one transcript of a conversation.
type file struct {
	history.Reader
	id   uuid.UUID
	path string
}

func (f file) place(offset int64) talk.Place {
	return talk.Place(f.id.String() + ":" + strconv.FormatInt(offset, 10))
}

// files are the transcripts of a session that are there, the newest first: the present one, and
// those before each /clear. Of a repaired copy the original is left out.
func (c Conversations) files(id uuid.UUID) (all []file, err error) {
	r, _ := c.Records.Get(id)
	reader := c.Agents.Of(r.AgentName).History
	for _, conversation := range slices.Backward(slices.Concat(r.EarlierSessionIDs, []uuid.UUID{r.AgentSessionID})) {
		f := file{reader, conversation, c.find(r, conversation)}
		if f.path == "" {
			continue
		}
		if last := len(all) - 1; last >= 0 {
			if first := f.FirstID(f.path); first != "" && first == f.FirstID(all[last].path) {
				continue
			}
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		return nil, refuse(refusal.Unsaid)
	}
	return all, nil
}

// find returns the path of a transcript of a session; empty: it is not there.
func (c Conversations) find(r session.Record, conversation uuid.UUID) string {
	written := c.Agents.Of(r.AgentName).Transcripts
	for _, cursor := range r.Cursors {
		if _, err := written.End(cursor.Path); err == nil && written.Sibling(cursor.Path, conversation) == cursor.Path {
			return cursor.Path
		}
	}
	path, _ := written.Find(conversation) // a folder that cannot be read has nothing to show
	return path
}

// from returns the transcript that a place is in, with those that lie further on that way, and
// where to begin in it.
func (c Conversations) from(id uuid.UUID, at talk.Place, way talk.Direction) (all []file, offset int64, err error) {
	if all, err = c.files(id); err != nil {
		return nil, 0, err
	}
	offset = history.End
	if at != "" {
		name, number, _ := strings.Cut(string(at), ":")
		offset, err = strconv.ParseInt(number, 10, 64)
		first := slices.IndexFunc(all, func(f file) bool { return f.id.String() == name })
		if err != nil || first < 0 {
			return nil, 0, refuse(refusal.Replaced)
		}
		if way == talk.Newer {
			all = all[:first+1]
		} else {
			all = all[first:]
		}
	}
	if way == talk.Newer {
		all = slices.Clone(all)
		slices.Reverse(all)
	}
	return all, offset, nil
}

// replaced translates the error of a place that does not fit its file.
func replaced(err error) error {
	if errors.Is(err, history.ErrTruncated) || errors.Is(err, fs.ErrNotExist) {
		return &refusal.Error{Code: refusal.Replaced, Err: err}
	}
	return err
}

// walk calls see with the entries of a session's conversation in one direction from a place, until
// it returns false.
func (c Conversations) walk(ctx context.Context, id uuid.UUID, at talk.Place, way talk.Direction, see func(f file, e history.Entry) bool) error {
	rest, offset, err := c.from(id, at, way)
	if err != nil || at == "" && way == talk.Newer {
		return err
	}
	more := true
	for _, f := range rest {
		one := func(e history.Entry) bool { more = see(f, e); return more }
		if way == talk.Newer {
			err, offset = f.Newer(ctx, f.path, max(offset, 0), one), 0
		} else {
			err, offset = f.Older(ctx, f.path, offset, one), history.End
		}
		if err != nil || !more {
			return replaced(err)
		}
	}
	return nil
}

// Read implements [talk.Conversations].
func (c Conversations) Read(ctx context.Context, id uuid.UUID, at talk.Place, way talk.Direction, most int) (all []talk.Entry, err error) {
	err = c.walk(ctx, id, at, way, func(f file, e history.Entry) bool {
		all = append(all, entryOf(f, e))
		return len(all) < most
	})
	if way == talk.Newer {
		slices.Reverse(all)
	}
	return all, err
}

// shownText bounds the texts of an entry that are shown, in bytes.
const shownText = 128 << 10

func entryOf(f file, e history.Entry) talk.Entry {
	shown := talk.Entry{At: f.place(e.At), Next: f.place(e.End), Kind: e.Kind, Time: e.Time, Images: e.Images,
		Interrupted: e.Interrupted, Tools: tools(e.Calls), Cut: e.Cut}
	room := shownText
	for _, text := range e.Texts {
		long := len(text) > room
		if long {
			text, shown.Cut = clip.Bytes(text, room, "…"), true
		}
		shown.Texts = append(shown.Texts, text)
		if room -= len(text); long || room <= 0 {
			break
		}
	}
	return shown
}

// tools counts the calls of each tool.
func tools(calls []string) (all []talk.EntryTool) {
	for _, name := range calls {
		i := slices.IndexFunc(all, func(t talk.EntryTool) bool { return t.Name == name })
		if i < 0 {
			i, all = len(all), append(all, talk.EntryTool{Name: name})
		}
		all[i].Count++
	}
	slices.SortStableFunc(all, func(a, b talk.EntryTool) int { return cmp.Compare(b.Count, a.Count) })
	return all
}

// The numbers of letters that are shown around a hit.
const (
	shownBefore = 60
	shownAfter  = 100
)

// Find implements [talk.Conversations].
func (c Conversations) Find(ctx context.Context, id uuid.UUID, at talk.Place, word string, most int, budget time.Duration) (found talk.Found, err error) {
	rest, offset, err := c.from(id, at, talk.Older)
	if err != nil {
		return found, err
	}
	limited, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	for i, f := range rest {
		reached, err := f.Search(limited, f.path, offset, word, func(hit history.Found) bool {
			found.Hits = append(found.Hits, hitOf(f, hit))
			return len(found.Hits) < most
		})
		if err != nil && !errors.Is(err, limited.Err()) {
			return found, replaced(err)
		}
		if reached != 0 {
			found.Next = f.place(reached)
			return found, ctx.Err()
		}
		if offset = history.End; len(found.Hits) == most && i < len(rest)-1 {
			found.Next = rest[i+1].place(history.End)
			return found, nil
		}
	}
	return found, nil
}

func hitOf(f file, hit history.Found) talk.Hit {
	before, after := hit.Text[:hit.From], hit.Text[hit.To:]
	if n := len(before) - 4*shownBefore; n > 0 { // runes of a text of 10 MB are not counted
		before = strings.ToValidUTF8(before[n:], "")
	}
	if runes := []rune(before); len(runes) > shownBefore || len(before) < hit.From {
		before = "…" + string(runes[max(0, len(runes)-shownBefore):])
	}
	if short := clip.Runes(after, shownAfter); short != after {
		after = short + "…"
	}
	return talk.Hit{At: f.place(hit.At), Kind: hit.Kind, Time: hit.Time, Before: before,
		Word: hit.Text[hit.From:hit.To], After: after}
}

// Days implements [talk.Conversations]. Days are those of this machine's clock.
func (c Conversations) Days(ctx context.Context, id uuid.UUID, at talk.Place, most int, budget time.Duration) (found talk.Days, err error) {
	rest, offset, err := c.from(id, at, talk.Older)
	if err != nil {
		return found, err
	}
	limited, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	for _, f := range rest {
		reached, err := f.Days(limited, f.path, offset, time.Local, func(d history.Day) bool {
			if last := len(found.Days) - 1; last >= 0 && found.Days[last].Time.Format(time.DateOnly) == d.Time.Format(time.DateOnly) {
				found.Days = found.Days[:last] // it began in the file before
			}
			found.Days = append(found.Days, talk.Day{At: f.place(d.At), Time: d.Time})
			return len(found.Days) < most
		})
		if err != nil && errors.Is(err, limited.Err()) {
			found.Next = f.place(reached)
			return found, ctx.Err()
		}
		if len(found.Days) >= most {
			return found, nil
		}
		if offset = history.End; err != nil {
			return found, replaced(err)
		}
	}
	return found, nil
}

// LastQuestions implements [talk.LastQuestions].
func (c Conversations) LastQuestions(ctx context.Context, sessions []uuid.UUID) ([]string, error) {
	texts := make([]string, len(sessions))
	for i, id := range sessions {
		r, _ := c.Records.Get(id)
		texts[i] = lastQuestion(ctx, c.Agents.Of(r.AgentName).Proof, c.find(r, r.AgentSessionID))
	}
	return texts, nil
}

// Export implements [talk.Exports]. The conversation is read twice: from its end, to know where
// the part begins that fits, and from there on, to write it down entry by entry. The file loses its
// name at once: a crash leaves nothing but the file of that moment, which Tidy removes.
func (c Conversations) Export(ctx context.Context, id uuid.UUID, most int64, words talk.Words) (f folders.File, err error) {
	head, size := "# "+words.Title+"\n", int64(len(words.Title)+len(words.Cut)+100)
	begin, cut := talk.Place(""), false
	err = c.walk(ctx, id, "", talk.Older, func(at file, e history.Entry) bool {
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
	if err := disk.MkdirAll(c.Dir, 0o700); err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	body, err := disk.CreateTemp(c.Dir, "")
	if err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, body.Close())
		}
	}()
	if err := disk.Remove(body.Name()); err != nil { // it is empty, and stays until the next start
		return f, fmt.Errorf("export: %w", err)
	}
	out := bufio.NewWriter(body)
	n, err := out.WriteString(head)
	f.Size = int64(n)
	if err == nil {
		err = c.walk(ctx, id, begin, talk.Newer, func(_ file, e history.Entry) bool {
			text := markdownOf(e, words)
			if f.Size+int64(len(text)) > most { // it has grown since
				return false
			}
			f.Size += int64(len(text))
			_, _ = out.WriteString(text) // Flush returns the error
			return true
		})
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return f, fmt.Errorf("export: %w", err)
	}
	return c.Tickets.read(id.String()+".md", uuid.NewString(), f.Size, body, nil), nil
}

// Tidy removes what a kill has left of exports. None is under way yet.
func (c Conversations) Tidy() error { return disk.RemoveAll(c.Dir) }

// markdownOf is an entry as Markdown. A prompt is a quotation, not Markdown.
func markdownOf(e history.Entry, words talk.Words) string {
	var b strings.Builder
	who := map[talk.EntryKind]string{talk.EntryPrompt: words.Prompt, talk.EntryAnswer: words.Answer, talk.EntryCompacted: words.Compacted}[e.Kind]
	b.WriteString("\n## " + who)
	if !e.Time.IsZero() {
		b.WriteString(" · " + e.Time.Local().Format(time.DateTime))
	}
	b.WriteString("\n")
	for _, text := range e.Texts {
		if e.Kind == talk.EntryPrompt {
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
