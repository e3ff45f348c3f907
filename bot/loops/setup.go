package loops

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/timespan"
	"ccbot/port"
	"ccbot/port/talk"
)

const setupPage = "loop"

// wanted is the view of the page of /loop: the choices of a person until now.
type wanted struct {
	Session  uuid.UUID       `json:"session"`
	Key      uuid.UUID       `json:"key"` // of the request
	Task     string          `json:"task,omitempty"`
	Check    string          `json:"check,omitempty"`
	Bounds   port.LoopBounds `json:"bounds,omitzero"`
	Worktree bool            `json:"worktree,omitempty"`
	Of       *from           `json:"of,omitempty"`   // the template of the rest; nil: none
	Note     i18n.Key        `json:"note,omitempty"` // about the last reply
	Over     i18n.Key        `json:"over,omitempty"` // the last sentence of the page
}

func (v wanted) address() string { return chat.Address(setupPage, v) }

// usual are the bounds that the page proposes.
var usual = port.LoopBounds{Turns: 20, Cost: 10}

// ask opens the page, or the actions of the session's loop.
func (l *Loops) ask(ctx context.Context, in chat.Incoming, r port.Session) error {
	if r.Loop != nil {
		return l.Chat.Pages.Open(ctx, in, view{Loop: r.Loop.ID, Session: r.ID}.address())
	}
	v := wanted{Session: r.ID, Key: uuid.New(), Bounds: usual}
	if isTask(in.Answered) {
		v.Task = in.Answered
	}
	return l.Chat.Pages.Open(ctx, in, v.address())
}

// isTask reports whether a text can be sent as a prompt.
func isTask(text string) bool {
	_, class, ok := talk.Normalise(text)
	return ok && class == talk.ClassPlain
}

func (l *Loops) setup() chat.Page {
	return chat.Page{Draw: l.drawSetup, Do: l.choose, Typed: l.typed, Own: true}
}

// The options of the page.
const (
	startOption    = "start"
	worktreeOption = "worktree"
	cancelOption   = "cancel"
	turnsBound     = "turns:"
	costBound      = "cost:"
	hoursBound     = "hours:"
)

func (l *Loops) drawSetup(ctx context.Context, visit chat.Visit) (chat.Screen, error) {
	v, w := chat.ViewAt[wanted](visit.Rest), words{l.Chat.In(visit.To)}
	r, known := l.Chat.Book.Records.Get(v.Session)
	s := chat.Screen{Session: r.ID}
	cancel, note := w.Option(i18n.ButtonCancel, cancelOption, ""), render.Text{}
	if v.Note != "" {
		note = render.Plain(chat.Warning + w.Say(v.Note, i18n.Args{"Example": example}))
	}
	switch {
	case !known:
		s.Text = render.Plain(w.Say(i18n.SessionGone))
	case v.Over != "":
		s.Text = w.Text(v.Over, i18n.Args{"Name": r.Name})
	case !r.State.Open():
		s.Text = w.EndedText(r)
	case v.Task == "":
		s.Text = chat.Paragraphs(note, w.refused(v.Of), w.Text(i18n.LoopAskTask, i18n.Args{"Name": r.Name}))
		s.Options = append(l.offered(ctx, visit.To, r), []card.Option{cancel})
	case v.Check == "":
		ask := w.Text(i18n.LoopAskCheck, i18n.Args{"Example": render.Code("make test"), "Dir": render.Code(w.ShortTail(r.Dir))})
		s.Text, s.Options = chat.Paragraphs(w.task(v.Task), ask), chat.Rows(1, cancel)
	default:
		work, err := l.Brief(ctx, r.ID)
		if err != nil { // a person must see whether the agent asks before it acts
			return chat.Screen{Session: r.ID}, err
		}
		s.Text = chat.Paragraphs(note, w.question(r, v, r.Bypasses || work.Permissions == string(port.ModeBypass)))
		if s.Text.Length() > render.Limit { // a person could not read all of what would start
			s.Text, s.Options = render.Plain(chat.Warning+w.Say(i18n.LoopTooLong)), chat.Rows(1, cancel)
			break
		}
		worktree := card.Option{Text: ticked(v.Worktree) + w.Say(i18n.ButtonNewWorktree), Value: worktreeOption}
		s.Options = append(w.bounds(v.Bounds), []card.Option{worktree}, []card.Option{w.Option(i18n.ButtonLoopStart, startOption, outbox.Primary), cancel})
	}
	return s, nil
}

func (w words) task(task string) render.Text {
	return render.Quote(glyph.Signs(task)).Begin(shownTask)
}

// question is the page before the start. bypasses: the agent may act without asking.
func (w words) question(r port.Session, v wanted, bypasses bool) render.Text {
	ends := w.Say(i18n.LoopNoBound)
	if !v.Bounds.Empty() {
		ends = w.Say(i18n.LoopEndsAt, i18n.Args{"Details": w.bound(v.Bounds)})
	}
	warning := render.Plain(chat.Warning + w.Say(i18n.LoopOutside))
	if bypasses {
		warning = chat.Lines(warning, render.Join(render.Plain(chat.Warning), w.Text(i18n.LoopBypass, i18n.Args{"Name": r.Name})))
	}
	worktree := render.Text{}
	if v.Worktree {
		worktree = render.Plain(w.Say(i18n.LoopWorktreeAsk))
	}
	check := render.Join(render.Plain(w.Say(i18n.LoopCheck, i18n.Args{"Check": ""})), render.Code(glyph.LeftToRight(glyph.Block(v.Check))))
	return chat.Paragraphs(w.Text(i18n.LoopStartAsk, i18n.Args{"Name": r.Name}), w.wanted(v), chat.Lines(check, render.Plain(ends)), worktree, warning,
		render.Plain(w.Say(i18n.LoopBoundsHint, i18n.Args{"Example": example})))
}

// ticked is the beginning of a button that may be chosen.
func ticked(is bool) string {
	if is {
		return "✓ "
	}
	return ""
}

// bounds are the buttons of the usual bounds; the chosen ones have a tick.
func (w words) bounds(b port.LoopBounds) [][]card.Option {
	var turns, cost, hours []card.Option
	for _, n := range []int{5, 20, 50} {
		turns = append(turns, card.Option{Text: ticked(b.Turns == n) + w.Say(i18n.StatusTurns, i18n.Args{"Count": n}), Value: turnsBound + strconv.Itoa(n)})
	}
	for _, n := range []int{2, 10, 50} {
		cost = append(cost, card.Option{Text: ticked(b.Cost == float64(n)) + w.Dollars(float64(n), 0), Value: costBound + strconv.Itoa(n)})
	}
	for _, n := range []int{1, 4, 12} {
		hours = append(hours, card.Option{Text: ticked(b.Minutes == 60*n) + w.span(60*n), Value: hoursBound + strconv.Itoa(n)})
	}
	return [][]card.Option{turns, cost, hours}
}

// choose chooses a bound, or takes it away; starts the loop; or cancels.
func (l *Loops) choose(ctx context.Context, visit chat.Visit, what string) (chat.Answer, string, error) {
	v := chat.ViewAt[wanted](visit.Rest)
	v.Note = ""
	kind, number, _ := strings.Cut(what, ":")
	n, _ := strconv.Atoi(number)
	if kind+":" == templateOption {
		return l.chooseTemplate(ctx, visit.To, v, number)
	}
	switch b := &v.Bounds; {
	case what == cancelOption:
		v.Over = i18n.Cancelled
	case what == startOption && b.Empty():
		return chat.Answer{Text: l.Chat.In(visit.To).Say(i18n.LoopNoBound), Alert: true}, "", nil
	case what == startOption:
		next := v
		next.Over = i18n.LoopBegun
		return chat.Answer{Then: func(ctx context.Context) error {
			_, err := l.Loops.Start(ctx, v.request(visit.By))
			return err
		}}, next.address(), nil
	case what == worktreeOption:
		v.Worktree = !v.Worktree
	case kind+":" == turnsBound:
		b.Turns = other(b.Turns, n)
	case kind+":" == costBound:
		b.Cost = float64(other(int(b.Cost), n))
	case kind+":" == hoursBound:
		b.Minutes = other(b.Minutes, 60*n)
	}
	return chat.Answer{}, v.address(), nil
}

// other is a tapped value; 0 if it was chosen before.
func other(was, tapped int) int {
	if was == tapped {
		return 0
	}
	return tapped
}

// typed takes a reply to the page: the task, the check, or bounds.
func (l *Loops) typed(_ context.Context, visit chat.Visit, text string) (string, error) {
	v := chat.ViewAt[wanted](visit.Rest)
	v.Note, text = "", strings.TrimSpace(text)
	switch {
	case v.Over != "" || text == "":
		return "", chat.ErrNotTaken
	case v.Task == "" && !isTask(text):
		v.Note = i18n.LoopTaskBad
	case v.Task == "":
		v.Task, v.Of = text, nil
	case v.Check == "":
		v.Check = text
	default:
		now := l.Chat.In(visit.To).Now()
		b, ok := boundsOf(text, conversation.AskedAt(visit.Sent, now).In(now.Location()))
		switch {
		case !ok:
			v.Note = i18n.LoopBoundsBad
		case !b.Until.IsZero() && !b.Until.After(now):
			v.Note = i18n.SchedulePast
		default:
			v.Bounds = b.Or(v.Bounds)
		}
	}
	return v.address(), nil
}

// example has a bound of each kind, as people type them in any language.
const example = "30 $15 2h 08:00 500k"

var (
	dollarSign = lazyregexp.New(`(\d) \$(\D|$)`) // 15 $
	dollars    = lazyregexp.New(`^(?:\$(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\$)$`)
	amount     = lazyregexp.New(`^(\d+)([kKM])$`)
)

// boundsOf reads bounds: a number of turns, dollars with their sign, a time span, the time of an
// end, and thousands or millions of tokens.
func boundsOf(text string, now time.Time) (b port.LoopBounds, ok bool) {
	text = strings.NewReplacer(",", " ", ";", " ").Replace(dollarSign.ReplaceAllString(text, "$1$$$2"))
	for word := range strings.FieldsSeq(text) {
		n, notNumber := strconv.Atoi(word)
		clock, isClock := timespan.NextClock(word, now)
		span, notSpan := timespan.Parse(word)
		money, tokens := dollars.FindStringSubmatch(word), amount.FindStringSubmatch(word)
		switch {
		case notNumber == nil && n > 0:
			b.Turns = n
		case money != nil:
			b.Cost, _ = strconv.ParseFloat(money[1]+money[2], 64)
		case tokens != nil:
			n, err := strconv.ParseInt(tokens[1], 10, 32)
			if err != nil {
				return b, false
			}
			b.Tokens = n * 1000
			if tokens[2] == "M" {
				b.Tokens *= 1000
			}
		case isClock:
			b.Until = clock
		case notSpan == nil && span >= time.Minute:
			b.Minutes = int(span.Minutes())
		default:
			return b, false
		}
	}
	return b, !b.Empty() && b.Possible()
}
