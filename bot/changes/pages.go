package changes

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/folders"
)

const (
	pageFiles   = 8  // of the list
	shownPath   = 60 // letters, of the end
	shownButton = 13 // letters of a file's name on its button
)

// titles holds the title for each start of the comparison.
var titles = map[folders.Since]i18n.Key{folders.SessionStart: i18n.ChangesSinceStart, folders.LastCommit: i18n.ChangesSinceCommit}

// words writes the texts of the views.
type words struct{ chat.Phrases }

// list is a page of the files.
func (w words) list(r port.Session, v view, all folders.Changes) (render.Text, [][]card.Option) {
	title, known := titles[all.Of]
	if !known {
		title = i18n.ChangesInTurn
	}
	name := glyph.Name(r.Name)
	head := []render.Text{render.Bold(w.Say(title, i18n.Args{"Name": name}))}
	if all.Main != "" {
		head[0] = render.Join(head[0], render.Plain(w.Say(i18n.JoinParts)), w.Text(i18n.ChangesWorktree, i18n.Args{"Dir": render.Code(w.Short(all.Main))}))
	}
	if all.Of != v.Since { // the comparison starts at an earlier moment than requested
		why := i18n.ChangesStartUnknown
		if v.Since != folders.SessionStart {
			why = i18n.ChangesTurnForgotten
		}
		head = append(head, render.Plain(w.Say(why)))
	}
	part := card.PartOf(len(all.Files), pageFiles, v.Page)
	var lines []render.Text
	var files []card.Option
	for i, f := range all.Files[part.First:part.Last] {
		number := strconv.Itoa(part.First + i + 1)
		line := []render.Text{render.Plain(number + ". "), render.Code(shortPath(f.Path))}
		if said := w.describe(f); said != "" {
			line = append(line, render.Plain(" "+said))
		}
		lines = append(lines, render.Join(line...))
		files = append(files, to(number+" "+chat.Tail(glyph.Name(path.Base(f.Path)), shownButton), v.part(f.Path, 0)))
	}
	text := chat.Paragraphs(chat.Lines(append(head, w.sum(all))...), chat.Lines(lines...), w.foot(part, all))
	return text, append(chat.Rows(2, files...), w.pageButtons(v, part)...)
}

// sum returns the numbers of changed files and lines, and the branch.
func (w words) sum(all folders.Changes) render.Text {
	files, added, deleted := all.Sum()
	text := w.Say(i18n.ChangesNone)
	if files > 0 {
		text = w.Say(i18n.ChangesSum, i18n.Args{"Count": files, "Details": w.lines(added, deleted)})
	}
	parts := []render.Text{render.Plain(text)}
	if all.Branch != "" {
		parts = append(parts, render.Plain(w.Say(i18n.JoinParts)), render.Code(chat.Tail(glyph.Name(all.Branch), shownPath)))
	}
	return render.Join(append(parts, render.Plain(w.Say(i18n.JoinParts)+w.Moment(w.Now())))...)
}

// foot returns the place of the page in the list, and what the list leaves out.
func (w words) foot(part card.Part, all folders.Changes) render.Text {
	more, outside := "", ""
	if all.Cut {
		more = w.Say(i18n.ChangesMore)
	}
	if all.Outside > 0 {
		outside = w.Say(i18n.ChangesOutside, i18n.Args{"Count": all.Outside})
	}
	return chat.Lines(render.Plain(w.Place(part)), render.Plain(more), render.Plain(outside))
}

// pageButtons returns the buttons that turn the page, refresh it, and compare with another moment.
func (w words) pageButtons(v view, part card.Part) [][]card.Option {
	row := part.Turns(func(page int) card.Option { return to("", v.list(page)) })
	rows := [][]card.Option{append(row, w.option(i18n.ButtonRefresh, v.list(part.Page)))}
	other, word := view{Session: v.Session, Turn: v.Turn, Since: v.Turn}, i18n.ButtonThisTurn
	switch {
	case v.Turn == "":
		return rows
	case v.Since == v.Turn:
		other.Since, word = folders.SessionStart, i18n.ButtonSinceStart
	}
	return append(rows, []card.Option{w.option(word, other)})
}

// describe describes the change of a file.
func (w words) describe(f folders.ChangedFile) string {
	var said []string
	switch f.Kind {
	case folders.Added:
		said = append(said, w.Say(i18n.ChangesNew))
	case folders.Deleted:
		said = append(said, w.Say(i18n.ChangesDeleted))
	case folders.Renamed:
		said = append(said, w.Say(i18n.ChangesRenamed, i18n.Args{"Path": shortPath(f.From)}))
	case folders.Untracked:
		said = append(said, w.Say(i18n.ChangesUntracked))
	case folders.Modified:
	}
	switch {
	case f.Withheld:
		said = append(said, w.Say(i18n.ChangesWithheld))
	case f.Binary:
		said = append(said, w.Say(i18n.ChangesBinary))
	case f.TooLarge:
		said = append(said, w.Say(i18n.ChangesTooLarge))
	case f.Added > 0 || f.Deleted > 0:
		said = append(said, w.lines(f.Added, f.Deleted))
	}
	return strings.Join(said, w.Say(i18n.JoinParts))
}

func (w words) lines(added, deleted int) string {
	var said []string
	if added > 0 || deleted == 0 {
		said = append(said, "+"+w.Number(int64(added)))
	}
	if deleted > 0 {
		said = append(said, "−"+w.Number(int64(deleted)))
	}
	return strings.Join(said, " ")
}

func shortPath(path string) string {
	return chat.Tail(glyph.Name(strings.ToValidUTF8(path, "\uFFFD")), shownPath)
}

// hunks returns a part of a file's hunks. The arrows lead through its parts, then to the
// neighboring files.
func (w words) hunks(v view, p folders.Patch) (render.Text, [][]card.Option) {
	files, at := p.All.Files, p.At
	parts := split(p.Text)
	part := min(max(v.Part, 0), max(len(parts)-1, 0))
	args := i18n.Args{"First": at + 1, "All": len(files), "Page": part + 1, "Pages": len(parts)}
	place := w.Say(i18n.ChangesFile, args)
	if len(parts) > 1 {
		place = w.Say(i18n.ChangesPart, args)
	}
	head := []string{place}
	if said := w.describe(p.File()); said != "" {
		head = append(head, said)
	}
	text := []render.Text{render.Code(shortPath(p.File().Path)), render.Plain(strings.Join(head, w.Say(i18n.JoinParts)))}
	switch {
	case len(parts) > 0:
		text = append(text, render.Pre(parts[part], "diff"))
	case p.File().Withheld:
		text = append(text, render.Plain("\n"+w.Say(i18n.ChangesWithheldWhy)))
	default:
		text = append(text, render.Plain("\n"+w.Say(i18n.ChangesNoLines)))
	}
	if p.Cut && part >= len(parts)-1 {
		text = append(text, render.Plain(w.Say(i18n.ChangesCut)))
	}
	var row []card.Option
	switch {
	case part > 0:
		row = append(row, to("←", v.part(v.File, part-1)))
	case at > 0:
		row = append(row, to("← "+arrowName(files[at-1]), v.part(files[at-1].Path, 0)))
	}
	switch {
	case part < len(parts)-1:
		row = append(row, to("→", v.part(v.File, part+1)))
	case at < len(files)-1:
		row = append(row, to(arrowName(files[at+1])+" →", v.part(files[at+1].Path, 0)))
	}
	foot := []card.Option{w.option(i18n.ButtonFiles, v.list(at/pageFiles))}
	if len(parts) > 0 {
		foot = append(foot, w.Option(i18n.ButtonAsFile, save, ""))
	}
	return chat.Lines(text...), [][]card.Option{row, foot}
}

// arrowName returns a file's name for the arrow that leads to it.
func arrowName(f folders.ChangedFile) string {
	return chat.Tail(glyph.Name(strings.ToValidUTF8(path.Base(f.Path), "\uFFFD")), shownButton)
}

const (
	partLength = 2800 // of a part of the hunks, in UTF-16 units
	partLines  = 60   // together about three screens of a phone
	lineLength = 400  // letters of a line, also in one-line files
)

// split splits the hunks of a file into parts, each as it is shown. A part ends before a hunk that
// begins in its second half.
func split(patch string) (parts []string) {
	var part []string
	length, hunk := 0, 0 // of the part, and the index of the line with its last hunk
	take := func(n int) {
		parts = append(parts, strings.Join(part[:n], "\n"))
		part = slices.Clone(part[n:])
		length, hunk = 0, 0
		for _, line := range part {
			length += units(line)
		}
	}
	for _, line := range folders.PatchLines(patch) {
		line = chat.Head(line, lineLength)
		begins := strings.HasPrefix(line, "@@")
		if len(part) > 0 && (length+units(line) > partLength || len(part) == partLines) {
			if !begins && hunk > len(part)/2 {
				take(hunk)
			} else {
				take(len(part))
			}
		}
		if begins {
			hunk = len(part)
		}
		part, length = append(part, line), length+units(line)
	}
	if len(part) > 0 {
		take(len(part))
	}
	return parts
}

func units(line string) int { return render.Plain(line).Length() + 1 }
