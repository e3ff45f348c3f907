package browse

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/folders"
)

// Limits of a page.
const (
	shownPlaces   = 6
	shownChildren = 10
	shownTalks    = 4
	shownPath     = 34 // letters of a folder on a button: a long one has a separate row
	shownBranch   = 24
	shownSaid     = 100
	menu          = "menu"
)

// draw draws an address.
func (b *Browser) draw(ctx context.Context, v chat.Visit) (s chat.Screen, err error) {
	a, p := chat.ViewAt[at](v.Rest), b.chat.In(v.To)
	if a.View != places && a.View != begun {
		dir, err := b.Places.Resolve(ctx, "/", a.Dir)
		if err != nil {
			return b.errorScreen(p, a, err), nil
		}
		a.Dir = dir
	}
	switch a.View {
	case children:
		s = b.children(ctx, p, v, a)
	case naming:
		s = chat.Screen{Text: p.Text(i18n.NewFolderName, i18n.Args{"Dir": render.Code(p.Short(a.Dir))}), Back: a.in(children, a.Dir).String()}
	case folder:
		s = b.folder(ctx, p, v, a)
	case busy:
		s = b.busy(p, a)
	case begun:
		// A work tree next to the chosen folder, perhaps. The last record counts: an earlier start
		// may have failed.
		for _, r := range b.chat.Book.Known() {
			if a.Key != "" && r.Origin == a.Key {
				a.Dir = r.Dir
			}
		}
		return chat.Screen{Text: p.Text(i18n.NewBegun, i18n.Args{"Dir": render.Code(p.Short(a.Dir))})}, nil
	default:
		if s, err = b.places(ctx, p, v, a); err != nil {
			return b.errorScreen(p, a, err), nil
		}
	}
	if s = b.withFirst(p, v, s); s.Back == menu {
		s.Back, s.Options = "", append(s.Options, []card.Option{p.Option(i18n.ButtonBack, leave, "")})
	}
	return s, nil
}

// errorScreen reports why a folder cannot be used, without options.
func (b *Browser) errorScreen(p chat.Phrases, a at, err error) chat.Screen {
	up := at{With: a.With}
	return chat.Screen{Text: p.Failure(port.Session{}, err).Text, Back: up.String()}
}

// withFirst adds the waiting first prompts.
func (b *Browser) withFirst(p chat.Phrases, v chat.Visit, s chat.Screen) chat.Screen {
	texts, since := b.First.Firsts(v.To, v.By)
	if len(texts) == 0 {
		return s
	}
	s.Text = chat.Paragraphs(s.Text, chat.Lines(p.Text(i18n.NewFirst, i18n.Args{"Time": p.Moment(since)}), chat.Quoted(strings.Join(texts, "\n"))))
	s.Options = append(s.Options, []card.Option{p.Option(i18n.ButtonTakeBack, takeBack, "")})
	return s
}

// places lists the default folder, the favorites, the folders of sessions, last used first, then
// the roots. A search adds unused folders.
func (b *Browser) places(ctx context.Context, p chat.Phrases, v chat.Visit, a at) (chat.Screen, error) {
	with, err := b.choices(ctx, p, v, a)
	if err != nil {
		return chat.Screen{}, err
	}
	set := b.chat.Book.Settings(v.To.ChatID)
	in, err := b.Places.Bounds("")
	if err != nil {
		return chat.Screen{}, err
	}
	all := known(append([]string{set.Dir}, set.Favourites...), in.Roots, b.chat.Book.Known())
	s, silent := chat.Screen{Text: p.Text(i18n.NewWhere), Back: menu}, []string(nil)
	if a.Filter != "" {
		all = slices.DeleteFunc(all, func(dir string) bool { return !matches(p.Short(dir), a.Filter) })
		var found folders.Found
		if found, silent, err = b.search(ctx, a.Filter); err != nil {
			return s, err
		}
		for _, dir := range found.Dirs {
			if !slices.Contains(all, dir) {
				all = append(all, dir)
			}
		}
		s.Text = chat.Lines(p.Text(i18n.NewFiltered, i18n.Args{"Sought": a.Filter, "Count": len(all)}), extent(p, found))
		s.Back = at{With: a.With}.String()
	}
	part := card.PartOf(len(all), shownPlaces, a.Page)
	for _, dir := range all[part.First:part.Last] {
		sign := ""
		if slices.Contains(set.Favourites, dir) {
			sign = "★ "
		}
		s.Options = append(s.Options, []card.Option{b.use(a, dir, sign+chat.Tail(p.Short(dir), shownPath))})
	}
	s.Options = append(s.Options, part.Turns(a.page))
	if len(b.chat.Machines.Others()) == 0 {
		browse := []card.Option{a.in(children, cmp.Or(set.Dir, top(in))).to(p.Say(i18n.ButtonBrowse))}
		s.Options = slices.Concat(s.Options, [][]card.Option{browse}, with)
		return s, nil
	}
	machines, away := b.machines(p, a, in, silent)
	s.Text = chat.Lines(append([]render.Text{s.Text}, away...)...)
	s.Options = slices.Concat(s.Options, chat.Rows(2, machines...), with)
	return s, nil
}

// firstPlaces is how many folders are offered to begin in.
const firstPlaces = 4

// Offer returns buttons of the folders that places lists first, by their names alone. A group of several
// people gets none that only sessions of other chats have.
func (b *Browser) Offer(p chat.Phrases, v chat.Visit) [][]card.Option {
	set := b.chat.Book.Settings(v.To.ChatID)
	in, err := b.Places.Bounds("")
	if err != nil {
		return nil // the page of folders says why
	}
	sessions := b.chat.Book.Known()
	if b.guards(v.To) {
		sessions = slices.DeleteFunc(sessions, func(r port.Session) bool { return conversation.IsHidden(r, v.To) })
	}
	all := known(append([]string{set.Dir}, set.Favourites...), in.Roots, sessions)
	var buttons []card.Option
	for _, dir := range all[:min(len(all), firstPlaces)] {
		name := path.Base(p.Short(dir))
		if slices.ContainsFunc(all, func(other string) bool { return other != dir && path.Base(other) == path.Base(dir) }) {
			name = p.Short(dir)
		}
		buttons = append(buttons, b.use(at{}, dir, chat.Tail(name, shownPath)))
	}
	return chat.Rows(2, buttons...)
}

// machines returns the buttons of the machines that answer, and names the others. in is of the
// chat's own; silent are the ids of those that have not answered a search.
func (b *Browser) machines(p chat.Phrases, a at, in folders.Bounds, silent []string) (buttons []card.Option, away []render.Text) {
	button := func(name string, there folders.Bounds) card.Option {
		return a.in(children, top(there)).to(chat.Head(glyph.Name(name), shownBranch))
	}
	buttons = []card.Option{button(b.chat.Host, in)}
	for _, m := range b.chat.Machines.Others() {
		there, err := b.Places.Bounds(folders.Address(m.ID, ""))
		if err != nil || m.Away || slices.Contains(silent, m.ID) {
			away = append(away, render.Plain(p.AwayText(m)))
			continue
		}
		buttons = append(buttons, button(m.Name, there))
	}
	return buttons, away
}

// top returns the folder in which the folders of a machine are shown first.
func top(in folders.Bounds) string {
	if len(in.Roots) > 0 && !slices.ContainsFunc(in.Roots, func(root string) bool { return folders.IsBelow(in.Home, root) }) {
		return in.Roots[0]
	}
	return in.Home
}

// known returns folders without repeats: chosen, those of sessions, last used first, then others.
func known(chosen, others []string, sessions []port.Session) (all []string) {
	used := func(r port.Session) time.Time {
		return slices.MaxFunc([]time.Time{r.CreatedAt, r.StartedAt, r.EndedAt, r.NowSince}, time.Time.Compare)
	}
	slices.SortStableFunc(sessions, func(x, y port.Session) int { return used(y).Compare(used(x)) })
	all = slices.Clone(chosen)
	for _, r := range sessions {
		all = append(all, r.Dir)
	}
	seen := make(map[string]bool)
	return slices.DeleteFunc(append(all, others...), func(dir string) bool {
		again := dir == "" || seen[dir]
		seen[dir] = true
		return again
	})
}

// use leads to a folder. It gets a new key, so two taps start one session.
func (b *Browser) use(a at, dir, text string) card.Option {
	to := a.in(folder, dir)
	to.Key = card.NewKey()
	return to.to(text)
}

// matches reports whether a folder's name contains part, ignoring case.
func matches(dir, part string) bool {
	return strings.Contains(strings.ToLower(dir), strings.ToLower(part))
}

// choices returns the rows of the new session's agent, if several are installed, and of its model
// and mode, as far as the agent has them; a tap on one of the two shows the next value.
func (b *Browser) choices(ctx context.Context, p chat.Phrases, v chat.Visit, a at) (rows [][]card.Option, err error) {
	installed, err := b.Agents.Installed(ctx, a.Dir)
	if err != nil {
		return nil, err
	}
	chosen := b.chat.Book.Settings(v.To.ChatID).AgentAmong(installed)
	if len(installed) > 1 {
		rows = append(rows, each.As(installed, func(one port.Installed) card.Option {
			label := one.Product
			if one.Name == cmp.Or(chosen, installed[0].Name) {
				label = "✓ " + label
			}
			return card.Option{Text: label, Value: by + ":" + one.Name}
		}))
	}
	can, err := b.Agents.Abilities(ctx, a.Dir, chosen)
	var with []card.Option
	if len(can.Models) > 0 {
		model := a
		model.With.Model = next(can.Models, a.With.Model)
		name := cmp.Or(a.With.Model, p.Say(i18n.NewAsSet))
		with = append(with, model.to(p.Say(i18n.ButtonNewModel, i18n.Args{"Model": name})))
	}
	if len(can.Modes) > 0 {
		mode := a
		mode.With.Mode = next(can.Modes, a.With.Mode)
		name := cmp.Or(p.ModeText(string(a.With.Mode), ""), p.Say(i18n.NewAsSet))
		with = append(with, mode.to(p.Say(i18n.ButtonNewMode, i18n.Args{"Mode": name})))
	}
	return append(rows, with), err
}

// children lists the folders in a folder.
func (b *Browser) children(ctx context.Context, p chat.Phrases, v chat.Visit, a at) chat.Screen {
	names, more, err := b.Places.Children(ctx, a.Dir, a.Hidden)
	s := chat.Screen{Text: render.Code(p.Short(a.Dir)), Back: at{With: a.With}.String()}
	if err != nil {
		s.Text = p.Failure(port.Session{}, err).Text
		s.Options = [][]card.Option{b.up(p, a)}
		return s
	}
	if a.Filter != "" {
		names = slices.DeleteFunc(names, func(name string) bool { return !matches(name, a.Filter) })
		s.Text = chat.Lines(s.Text, p.Text(i18n.NewFiltered, i18n.Args{"Sought": a.Filter, "Count": len(names)}))
		s.Back = a.in(children, a.Dir).String()
	} else if len(names) == 0 {
		s.Text = chat.Lines(s.Text, p.Text(i18n.NewChildrenNone))
	} else {
		s.Text = chat.Lines(s.Text, p.Text(i18n.NewChildren, i18n.Args{"Count": len(names)}))
	}
	if more {
		s.Text = chat.Lines(s.Text, p.Text(i18n.NewChildrenMore))
	}
	part := card.PartOf(len(names), shownChildren, a.Page)
	var row []card.Option
	for _, name := range names[part.First:part.Last] {
		row = append(row, a.in(children, path.Join(a.Dir, name)).to(chat.Head(glyph.Name(name), shownPath)))
	}
	s.Options = append(chat.Rows(2, row...), part.Turns(a.page))
	hidden, word := a.in(children, a.Dir), i18n.ButtonShowHidden
	if hidden.Hidden = !a.Hidden; a.Hidden {
		word = i18n.ButtonHideHidden
	}
	use := b.use(a, a.Dir, p.Say(i18n.ButtonUseThis))
	use.Style = outbox.Primary
	s.Options = append(s.Options, append(b.up(p, a), hidden.to(p.Say(word))),
		[]card.Option{a.in(naming, a.Dir).to(p.Say(i18n.ButtonNewFolder)), b.star(p, v, a.Dir)},
		[]card.Option{use})
	return s
}

// up leads to the folder above, if sessions may work there.
func (b *Browser) up(p chat.Phrases, a at) []card.Option {
	above := folders.Above(a.Dir)
	in, err := b.Places.Bounds(a.Dir)
	roots := in.Roots
	if err != nil || above == a.Dir || len(roots) > 0 && !slices.ContainsFunc(roots, func(root string) bool { return folders.IsBelow(above, root) }) {
		return nil
	}
	return []card.Option{a.in(children, above).to(p.Say(i18n.ButtonUp))}
}

// star adds a folder to the favorites, or removes it.
func (b *Browser) star(p chat.Phrases, v chat.Visit, dir string) card.Option {
	word := i18n.ButtonStar
	if slices.Contains(b.chat.Book.Settings(v.To.ChatID).Favourites, dir) {
		word = i18n.ButtonUnstar
	}
	return p.Option(word, star, "")
}

// folder shows the ways to begin in a folder: a new conversation, an earlier one, a work tree.
func (b *Browser) folder(ctx context.Context, p chat.Phrases, v chat.Visit, a at) chat.Screen {
	s := chat.Screen{Text: p.Text(i18n.NewIn, i18n.Args{"Dir": render.Code(p.Short(a.Dir))}), Back: at{With: a.With}.String()}
	talks, more, err := b.Places.Conversations(ctx, a.Dir, a.Page*shownTalks, shownTalks)
	if err != nil {
		return b.errorScreen(p, a, err)
	}
	with, err := b.choices(ctx, p, v, a)
	if err != nil {
		return b.errorScreen(p, a, err)
	}
	works := b.chat.SharedText(v.To, port.Session{Dir: a.Dir})
	s.Text = chat.Lines(s.Text, works)
	s.Options = append(s.Options, []card.Option{p.Option(i18n.ButtonStartFresh, start, outbox.Primary)})
	var numbers []card.Option
	for i, c := range talks {
		n := a.Page*shownTalks + i + 1
		if i == 0 {
			s.Text = chat.Paragraphs(s.Text, p.Text(i18n.NewEarlier))
		}
		s.Text = chat.Paragraphs(s.Text, b.talk(p, v.To, n, c))
		numbers = append(numbers, b.number(a, n, c))
	}
	s.Options = append(s.Options, numbers, card.Turns(a.Page, more, a.page))
	branch, others := b.checkouts(ctx, p, a)
	s.Text, s.Options = chat.Paragraphs(s.Text, branch), append(s.Options, others...)
	if !works.Blank() {
		s.Options = append(s.Options, []card.Option{p.Option(i18n.ButtonNewWorktree, inWorktree, "")})
	} else if w, ours, _ := b.Places.Find(ctx, a.Dir); ours {
		s.Text = chat.Paragraphs(s.Text, p.Text(i18n.NewIsWorktree, i18n.Args{"Dir": render.Code(p.Short(w.Of)), "Branch": render.Code(w.Branch)}))
		s.Options = append(s.Options, []card.Option{{Text: p.Say(i18n.ButtonRemoveWorktree), Value: chat.ToPage(worktree + "/" + w.Dir)}})
	}
	s.Options = append(append(s.Options, with...),
		[]card.Option{a.in(children, a.Dir).to(p.Say(i18n.ButtonBrowse)), b.star(p, v, a.Dir)})
	return s
}

// mostCheckouts bounds the work trees that a page offers.
const mostCheckouts = 12

// checkouts returns this folder's branch, and the repository's other work trees by branch.
func (b *Browser) checkouts(ctx context.Context, p chat.Phrases, a at) (here render.Text, rows [][]card.Option) {
	all, _ := b.Places.Checkouts(ctx, a.Dir) // the rest of the page has them as shortcuts
	for _, c := range all {
		name := chat.Head(glyph.Name(c.Branch), shownBranch)
		switch {
		case c.Here && name != "":
			here = render.Join(render.Plain(p.Say(i18n.StatusGit)+" "), render.Code(name))
		case !c.Here && len(rows) < mostCheckouts:
			if name != "" {
				name += " · "
			}
			rows = append(rows, []card.Option{b.use(a, c.Dir, name+chat.Tail(p.Short(c.Dir), shownBranch))})
		}
	}
	return here, rows
}

// talk describes an earlier conversation in two lines.
func (b *Browser) talk(p chat.Phrases, to address.Conversation, n int, c folders.Conversation) render.Text {
	about := []string{p.Say(i18n.NewAgo, i18n.Args{"Age": p.Age(p.Now().Sub(c.At))}), p.Size(c.Size)}
	if c.Product != "" {
		about = append(about, c.Product)
	}
	r, known := b.chat.Book.Records.Get(c.Session)
	switch {
	case known && r.State.Live():
		about = append(about, p.Say(i18n.WriterSession, i18n.Args{"Name": chat.ShownName(r.Name)}))
	case c.Unseen:
		about = append(about, p.Say(i18n.NewUnseen))
	case c.Written:
		about = append(about, p.Say(i18n.NewElsewhere))
	case known:
		about = append(about, chat.ShownName(r.Name))
	}
	said, number := chat.Head(chat.OneLine(c.LastQuestion), shownSaid), strconv.Itoa(n)
	if from, known := b.had(c.AgentSessionID, cmp.Or(c.Session, c.Had)); b.guards(to) && (!known || conversation.IsHidden(from, to)) {
		said = ""
	}
	return chat.Lines(render.Join(render.Bold(number+". "), render.Plain(said)),
		render.Plain(strings.Join(about, p.Say(i18n.JoinParts))))
}

// number continues a conversation. If another process writes it, the button leads to busy, unless
// an open session has it.
func (b *Browser) number(a at, n int, c folders.Conversation) card.Option {
	r, _ := b.chat.Book.Records.Get(c.Session)
	number := strconv.Itoa(n)
	if c.Written && !r.State.Live() {
		to := a.in(busy, a.Dir)
		to.Key, to.AgentSessionID, to.Agent, to.Unseen = a.Key, c.AgentSessionID, c.Agent, c.Unseen
		to.Had = cmp.Or(c.Session, c.Had)
		return to.to(number)
	}
	return card.Option{Text: number, Value: strings.Join([]string{goOn, c.AgentSessionID.String(), c.Agent, cmp.Or(c.Session, c.Had).String()}, ":")}
}

// busy reports that a conversation is, or may be, open elsewhere, and offers a copy (P1).
func (b *Browser) busy(p chat.Phrases, a at) chat.Screen {
	back, says := a.in(folder, a.Dir), i18n.NewBusy
	if back.Key = a.Key; a.Unseen {
		says = i18n.NewMaybeBusy
	}
	return chat.Screen{Text: p.Text(says), Back: back.String(),
		Options: [][]card.Option{{p.Option(i18n.ButtonForkInstead, fork, "")}}}
}
