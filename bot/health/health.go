package health

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/internal/health"
	"ccbot/port"
	"ccbot/port/news"
)

const (
	// FeatureName is the name of the feature.
	FeatureName = "health"

	address   = FeatureName
	byMessage = "asked" // after the address: opened by a message

	shownReason = 120 // letters of an error
)

// New returns the feature of /health and its page, and of the page of an unread file. others
// describes the other machines.
func New(c *chat.Chat, figures func(ctx context.Context) health.Figures, computer *Computer, others func(ctx context.Context, p chat.Phrases) []render.Text) chat.Feature {
	dir := computer.dir
	draw := func(ctx context.Context, v chat.Visit) (chat.Screen, error) {
		p := c.In(v.To)
		again := p.Option(i18n.ButtonRefresh, chat.ToPage(address), outbox.Style(""))
		f := figures(ctx)
		if v.Rest == byMessage { // the message that asks is not handled yet
			f.Inbox = max(0, f.Inbox-1)
		}
		return chat.Screen{Text: chat.Paragraphs(append([]render.Text{text(p, f, dir)}, others(ctx, p)...)...), Options: [][]card.Option{{again}}, Back: "menu"}, nil
	}
	command := c.Pages.Command(address, address+"/"+byMessage)
	command.Unkept = func(ctx context.Context, to outbox.Conversation) render.Text {
		return text(c.In(to), figures(ctx), dir)
	}
	return chat.Feature{Name: FeatureName, OnNews: computer.onNews, Commands: []chat.Command{command},
		Pages: map[string]chat.Page{address: {Draw: draw}, unread: computer.unreadPage(figures)}}
}

// text returns the warnings, and below them the figures.
func text(p chat.Phrases, f health.Figures, dir string) render.Text {
	wrong := each.As(health.Warnings(f), func(w health.Warning) render.Text { return render.Plain(chat.Warning + Sentence(p, w, dir)) })
	if len(wrong) == 0 {
		wrong = append(wrong, render.Plain("✓ "+p.Say(i18n.HealthWell)))
	}
	var all []render.Text
	line := func(key i18n.Key, args i18n.Args) { all = append(all, render.Plain(p.Say(key, args))) }
	line(i18n.HealthVersion, i18n.Args{"Version": f.Version, "Age": age(p, f.Up)})
	line(i18n.HealthSessions, i18n.Args{"Details": sessions(p, f.Sessions)})
	line(i18n.HealthQueues, i18n.Args{"Inbox": f.Inbox, "Outbox": f.Outbox, "Cards": f.Cards})
	if f.Poll.Ago >= 0 {
		line(i18n.HealthPoll, i18n.Args{"Age": p.Age(f.Poll.Ago)})
	}
	line(i18n.HealthAPI, i18n.Args{"Errors": f.API.Errors, "Waits": f.API.Waits})
	if f.API.Errors > 0 {
		why := p.Say(i18n.HealthNoAnswer)
		if last := chat.Head(chat.OneLine(f.API.Last), shownReason); last != "" {
			why = p.Quoted(last)
		}
		line(i18n.HealthLastError, i18n.Args{"Age": age(p, f.API.LastAgo), "Reason": why})
	}
	if refused := Refused(p, f.Refused); refused != "" {
		line(i18n.HealthRefused, i18n.Args{"Details": refused})
	}
	if f.Hook.Events > 0 {
		line(i18n.HealthHooks, i18n.Args{"Age": age(p, f.Hook.Slowest), "Count": f.Hook.Events})
	}
	if f.Disk.Known {
		line(i18n.HealthDisk, i18n.Args{"Free": p.Size(int64(f.Disk.Free)), "Total": p.Size(int64(f.Disk.Total)), "Dir": p.Short(dir), "Own": p.Size(int64(f.Disk.Own))})
	}
	if programs := programs(f); len(programs) > 0 {
		all = append(all, render.Plain(strings.Join(programs, p.Say(i18n.JoinParts))))
	}
	return chat.Paragraphs(chat.Lines(wrong...), chat.Lines(all...))
}

// Sentence returns a warning as a sentence.
func Sentence(p chat.Phrases, w health.Warning, dir string) string {
	return p.Say(i18n.HealthKey.Of(string(w.Code)), i18n.Args{
		"Path": p.Short(cmp.Or(w.Path, w.Keys.File)), "Dir": p.Short(dir), "Binding": w.Keys.Binding, "Chats": chats(w.Chats),
		"Machine": glyph.Name(w.Machine), "Name": glyph.Name(w.Own), "Count": w.Count, "Age": age(p, w.For), "Size": p.Size(int64(w.Bytes)),
		"Version": number(cmp.Or(w.Version, w.Word.Version)), "Needed": w.Needed, "Agent": cmp.Or(w.Word.Agent, "Claude Code"), "Said": chat.FailureText(w.Word.Word),
	})
}

// number returns the version of Claude Code without the name.
func number(version string) string { return strings.TrimSuffix(version, " (Claude Code)") }

// chats lists the ids of chats.
func chats(all []int64) string {
	return strings.Join(each.As(all, func(id int64) string { return strconv.FormatInt(id, 10) }), ", ")
}

// Refused returns the counts of refused updates, by kind; empty if there are none.
func Refused(p chat.Phrases, by map[string]int) string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(by)) {
		all = append(all, p.Say(i18n.RefusedKey.Of(kind), i18n.Args{"Count": by[kind]}))
	}
	return strings.Join(all, p.Say(i18n.JoinNames))
}

func programs(f health.Figures) (all []string) {
	if f.Tmux != "" {
		all = append(all, "tmux "+f.Tmux)
	}
	if f.Claude != "" {
		all = append(all, "Claude Code "+number(f.Claude))
	}
	return all
}

// states holds all states of a session in the order of their counts: first the open ones.
var states = []port.State{port.StateRunning, port.StateStarting, port.StateRestoring, port.StateStopping, port.StateCleanupFailed,
	port.StateArchived, port.StateCompleted, port.StateLost, port.StateFailed, port.StateAbandoned}

func sessions(p chat.Phrases, in map[string]int) string {
	var all []string
	for _, state := range states {
		if n := in[string(state)]; n > 0 {
			all = append(all, p.Say(i18n.CountKey.Of(string(state)), i18n.Args{"Count": n}))
		}
	}
	if len(all) == 0 {
		return "0"
	}
	return strings.Join(all, p.Say(i18n.JoinNames))
}

// age is Phrases.Age for times that may be short.
func age(p chat.Phrases, d time.Duration) string {
	if d > 0 && d < time.Second {
		return p.Say(i18n.AgeMillis, i18n.Args{"Count": d.Milliseconds()})
	}
	return p.Age(d)
}

// Computer reports faults of the computer to each private chat: a full disk or a wrong clock. One
// goroutine calls it about the disk.
type Computer struct {
	ReadAgain func(path string) // reads a skipped file of an agent again

	chat     *chat.Chat
	send     func(ctx context.Context, m outbox.Message) (int, error) // immediately, without the disk
	dir      string
	reported []outbox.Conversation // the chats that have the report of DiskFree, while others do not
}

// NewComputer returns the news of the computer; dir is ccbot's own folder.
func NewComputer(c *chat.Chat, send func(ctx context.Context, m outbox.Message) (int, error), dir string) *Computer {
	return &Computer{chat: c, send: send, dir: dir}
}

// fullWithin is the timeout of the report of a full disk; the report is repeated a little later.
const fullWithin = time.Minute

// DiskFull reports that nothing can be stored. The report is not stored either: DiskFull returns
// nil when at least one chat has it.
func (c *Computer) DiskFull(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fullWithin)
	defer cancel()
	var all error
	said := false
	for _, to := range c.chat.Book.PrivateChats() {
		text := render.Plain(chat.Warning + c.chat.In(to).Say(i18n.DiskFull, i18n.Args{"Dir": c.chat.Short(c.dir)}))
		_, err := c.send(ctx, outbox.Message{To: to, Text: text, Sounds: c.chat.Sounds(chat.Fault, port.Session{Conversation: to})})
		said, all = said || err == nil, errors.Join(all, err)
	}
	if said {
		return nil
	}
	return all
}

// DiskFree reports that the disk has room again. A call after an error reports it to the remaining
// chats.
func (c *Computer) DiskFree(ctx context.Context) (err error) {
	for _, to := range c.chat.Book.PrivateChats() {
		if slices.Contains(c.reported, to) {
			continue
		}
		failed := c.chat.Say(ctx, to, c.chat.In(to).Say(i18n.DiskRoom, i18n.Args{"Dir": c.chat.Short(c.dir)}))
		if failed == nil {
			c.reported = append(c.reported, to)
		}
		err = errors.Join(err, failed)
	}
	if err == nil {
		c.reported = nil
	}
	return err
}

// onNews reports faults of a machine. Those of a machine that is not the chat's own begin with its
// name.
func (c *Computer) onNews(ctx context.Context, r port.Session, n news.News) error {
	switch n := n.(type) {
	case news.TmuxSilence:
		return c.tmuxSilence(ctx, r, n)
	case news.FileUnread:
		return c.fileUnread(ctx, r, n)
	}
	return nil
}

// tmuxSilence reports to each private chat that tmux does not answer, or that it answers again.
func (c *Computer) tmuxSilence(ctx context.Context, r port.Session, n news.TmuxSilence) error {
	_, err := c.each(func(to outbox.Conversation) error {
		p := c.chat.In(to)
		if n.Ended {
			return c.chat.Post(ctx, card.Content{To: to, Text: of(p, r, p.Text(i18n.TmuxAnswers))})
		}
		return c.chat.Warn(ctx, to, 0, of(p, r, p.Text(i18n.TmuxSilence)), nil)
	})
	return err
}

// of names the machine that a sentence is about, if it is not the chat's own.
func of(p chat.Phrases, r port.Session, said render.Text) render.Text {
	if r.Machine == "" {
		return said
	}
	return p.Text(i18n.Named, i18n.Args{"What": render.Bold(r.Name), "Said": said})
}

// OldClaudeText reports to each private chat that Claude Code is older than the oldest version that
// works with ccbot. reported is false if there is no chat yet.
func OldClaudeText(ctx context.Context, c *chat.Chat, version, needed string) (reported bool, err error) {
	if len(c.Book.PrivateChats()) == 0 {
		return false, nil
	}
	err = c.WarnAll(ctx, i18n.HealthClaudeOld, i18n.Args{"Version": number(version), "Needed": needed})
	return err == nil, err
}

// ClockDiffers reports that the computer's clock is ahead of Telegram's, or slow. It returns false
// if no chat got the report.
func (c *Computer) ClockDiffers(ctx context.Context, ahead time.Duration) (reported bool, err error) {
	word := i18n.ClockAhead
	if ahead < 0 {
		word = i18n.ClockBehind
	}
	return c.each(func(to outbox.Conversation) error {
		p := c.chat.In(to)
		return c.chat.Warn(ctx, to, 0, render.Plain(p.Say(word, i18n.Args{"Age": p.Age(ahead.Abs().Round(time.Minute))})), nil)
	})
}

// RivalPolls reports to each private chat that another program takes the messages of this bot, or
// that it no longer does. It returns false if no chat got the report about the other
// program.
func (c *Computer) RivalPolls(ctx context.Context, polls bool) (reported bool, err error) {
	if polls {
		return c.each(func(to outbox.Conversation) error {
			return c.chat.Warn(ctx, to, 0, render.Plain(c.chat.In(to).Say(i18n.RivalPolls)), nil)
		})
	}
	reported, err = c.each(func(to outbox.Conversation) error { return c.chat.Say(ctx, to, c.chat.In(to).Say(i18n.RivalGone)) })
	return reported || err == nil, err
}

// each sends a report to each private chat. One chat that got it is enough: a repetition for the
// sake of another would reach it again.
func (c *Computer) each(send func(to outbox.Conversation) error) (reported bool, err error) {
	for _, to := range c.chat.Book.PrivateChats() {
		failed := send(to)
		reported, err = reported || failed == nil, errors.Join(err, failed)
	}
	return reported, err
}

// OutageEnded reports to each chat with an open session when Telegram was unreachable, without a
// sound. While sessions are unread, it also reports to the private chats.
func (c *Computer) OutageEnded(ctx context.Context, since, now time.Time) (err error) {
	var all, reported []outbox.Conversation
	known, unread := c.chat.Book.Records.List()
	for _, r := range known {
		if r.State.Open() && r.Conversation.ChatID != 0 {
			all = append(all, outbox.Conversation{ChatID: r.Conversation.ChatID})
		}
	}
	if unread != nil {
		all = append(all, c.chat.Book.PrivateChats()...)
	}
	for _, to := range all {
		if slices.Contains(reported, to) || !c.chat.Book.MayShow(to) {
			continue
		}
		reported = append(reported, to)
		p := c.chat.In(to)
		said := i18n.Args{"Start": p.Moment(since), "End": p.Moment(now)}
		err = errors.Join(err, c.chat.Say(ctx, to, p.Say(i18n.OutageOver, said)))
	}
	return err
}

// DiskLow reports that the disk is almost full.
func (c *Computer) DiskLow(ctx context.Context, free int64) error {
	var all error
	for _, to := range c.chat.Book.PrivateChats() {
		p := c.chat.In(to)
		text := render.Plain(p.Say(i18n.DiskLow, i18n.Args{"Dir": p.Short(c.dir), "Free": p.Size(free)}))
		all = errors.Join(all, c.chat.Warn(ctx, to, 0, text, nil))
	}
	return all
}
