package card

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// Places of the model: a private chat, a topic of it, and a group that may become another chat.
var places = []outbox.Conversation{{ChatID: 5}, {ChatID: 5, ThreadID: 3}, {ChatID: -6}}

const grown = int64(-600) // the chat that the group becomes

// wanted is the expected state of a card.
type wanted struct {
	open    bool
	content Content
	n       int
	deleted bool // people have deleted its message, and it has no Renew
}

// model is a random life of a board: the requested cards, and what people see.
type model struct {
	t      *testing.T
	draws  []int // random numbers of the step
	chat   *telegram
	now    *process
	cards  map[string]*wanted
	sends  int // maximum number of messages
	copies int // number of messages that a kill or a suspended chat may have left
	fault  string
}

func (m *model) failf(format string, args ...any) {
	if m.fault == "" {
		m.fault = fmt.Sprintf(format, args...)
	}
}

// pick returns the next random choice below n.
func (m *model) pick(n int) int {
	c := m.draws[0] % n
	m.draws = m.draws[1:]
	return c
}

func (m *model) place() outbox.Conversation { return places[m.pick(len(places))] }

// wordsOf returns the label of a button: all that a tap on it may mean.
func wordsOf(key string, n int, value string) string { return fmt.Sprintf("%s/%d/%s", key, n, value) }

func (m *model) show() {
	key, n := []string{"a", "b"}[m.pick(2)], m.pick(3)
	content := Content{To: m.place(), Text: render.Plain(fmt.Sprint("text of ", key, n/2)), Renew: key == "a"}
	for _, value := range []string{"yes", "no"} {
		content.Options = append(content.Options, []Option{{Text: wordsOf(key, n, value), Value: value}})
	}
	if m.pick(4) == 0 {
		content.Until = time.Now().Add(40 * time.Second)
	}
	if c, ok := m.known(key); !ok || c.Content.To != content.To {
		m.sends++
	}
	if err := m.now.kind.Show(m.t.Context(), key, content, payload{n}); err != nil {
		m.failf("show: %v", err)
	}
	w := m.cards[key]
	if !w.open || w.content.To != content.To {
		w.deleted = false
	}
	w.open, w.content, w.n = true, content, n
}

func (m *model) close() {
	key := []string{"a", "b"}[m.pick(2)]
	if err := m.now.kind.Close(m.t.Context(), key, render.Plain("over "+key)); err != nil {
		m.failf("close: %v", err)
	}
	*m.cards[key] = wanted{}
}

// tap taps any button that was ever drawn on any message.
func (m *model) tap() {
	seen := m.chat.seen()
	var data []string
	m.chat.do(func() { data = append(data, m.chat.order...) })
	if len(seen) == 0 || len(data) == 0 {
		return
	}
	m.tapOn(seen[m.pick(len(seen))], data[m.pick(len(data))])
}

// tapOn taps one button. A tap that counts does what its label shows, which is the wanted state.
func (m *model) tapOn(on shownMessage, data string) bool {
	words := ""
	m.chat.do(func() { words = m.chat.drawn[data] })
	at, id := m.now.inside(on)
	if m.now.Aliases.Lost(at.ChatID, id) {
		return false
	}
	tapped, ok := m.now.board.Tap(m.t.Context(), at, id, data)
	if !ok {
		return false
	}
	p, err := m.now.kind.Payload(tapped)
	if err != nil || wordsOf(tapped.Key, p.N, tapped.Option) != words {
		m.failf("a tap on %q means %+v, payload %d (%v)", words, tapped, p.N, err)
	}
	w := m.cards[tapped.Key]
	if !w.open || m.over(w) || w.n != p.N || w.content.To != at {
		m.failf("a tap on %q in %v counts, wanted is %+v", words, on.at, w)
	}
	return true
}

func (m *model) over(w *wanted) bool {
	return !w.content.Until.IsZero() && !time.Now().Before(w.content.Until)
}

// delete deletes a message, as people may.
func (m *model) delete() {
	m.chat.do(func() {
		if len(m.chat.messages) == 0 {
			return
		}
		one := m.chat.messages[m.pick(len(m.chat.messages))]
		one.deleted = true
		m.sends++
		for key, w := range m.cards {
			if c, ok := m.known(key); ok && m.isOf(*one, c) {
				w.deleted = true
			}
		}
	})
}

// isOf reports whether a message is the one that a card knows.
func (m *model) isOf(one shownMessage, c record) bool {
	at, id := m.now.inside(one)
	return c.Message == id && c.At == at
}

// known returns the card that the board knows.
func (m *model) known(key string) (record, bool) {
	m.now.board.mu.Lock()
	defer m.now.board.mu.Unlock()
	return m.now.board.openLocked("test", key)
}

// move moves a place, or turns the group into another chat.
func (m *model) move() {
	from, to := m.place(), m.place()
	if m.pick(3) > 0 {
		m.moveTo(from, to)
		return
	}
	m.leave()
	m.chat.do(func() { m.chat.became[places[2].ChatID] = grown })
	if m.pick(2) > 0 { // otherwise the outbox finds out
		if err := m.now.Aliases.Note(places[2].ChatID, grown); err != nil {
			m.failf("note: %v", err)
		}
		m.renumber()
	}
}

// renumber posts the cards again whose messages are in an earlier chat.
func (m *model) renumber() {
	m.sends += len(m.cards)
	lost := map[string]bool{}
	for key := range m.cards {
		c, ok := m.known(key)
		lost[key] = ok && m.now.Aliases.Lost(c.At.ChatID, c.Message)
	}
	if err := m.now.board.Moved(m.t.Context(), m.now.renumbered); err != nil {
		m.failf("renumber: %v", err)
	}
	for key, w := range m.cards {
		w.deleted = w.deleted && !lost[key]
	}
}

func (m *model) moveTo(from, to outbox.Conversation) {
	if from == to {
		return
	}
	m.sends += len(m.cards)
	if err := m.now.board.Moved(m.t.Context(), becomes(from, to)); err != nil {
		m.failf("move: %v", err)
	}
	for key, w := range m.cards {
		if w.content.To == from {
			_, ok := m.known(key)
			w.content.To, w.deleted = to, w.deleted && !ok // a forgotten card does not return
		}
	}
}

// draws is the maximum number of random numbers per step.
const draws = 7

func (m *model) step() {
	switch m.pick(14) {
	case 0, 1, 2, 3:
		m.show()
	case 4:
		m.close()
	case 5, 6:
		m.tap()
	case 7:
		m.delete()
	case 8:
		m.chat.do(func() { m.chat.blocked[5] = true })
		m.leave()
	case 9:
		m.reach()
	case 10:
		m.move()
	case 11:
		m.restart()
	case 12:
		m.now.killAt.Store([]int32{beforeNote, afterNote}[m.pick(2)])
	case 13:
		m.chat.do(func() { m.chat.refuse = true })
	}
	m.pass([]time.Duration{0, callTakes / 2, time.Second, 35 * time.Second}[m.pick(4)])
}

// reach makes the chats accept messages again.
func (m *model) reach() {
	m.chat.do(func() { clear(m.chat.blocked) })
	for _, chat := range []int64{5, -6} {
		m.now.Resume(chat)
		m.now.board.Reachable(m.t.Context(), chat)
	}
}

// restart kills the process and starts another one.
func (m *model) restart() {
	m.leave()
	old := m.now
	m.now = old.restarted(m.t, m.chat, anywhere)
	for id, c := range old.board.cards { // a message may be in the chat whose id is not on disk
		if (c.offered != "" || c.Message > 0) && m.now.board.get(id).Message == 0 {
			m.sends++
		}
	}
	m.take(old)
	m.renumber() // as each start does
}

func (b *Board) get(id string) record {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cards[id]
}

// leave allows for lost edits: each message in the chat now may keep its buttons, and each card may
// have an unknown message.
func (m *model) leave() {
	m.copies += len(m.cards)
	for _, one := range m.chat.seen() {
		if len(one.buttons) > 0 {
			m.copies++
		}
	}
}

// pass lets time pass, then applies what the process has found out.
func (m *model) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	if m.now.dead.Load() {
		m.restart()
	}
	m.take(m.now)
}

// take applies what a process has found out. The next process may learn of a refusal during the
// kill.
func (m *model) take(p *process) {
	p.mu.Lock()
	refused, moves := p.refused, p.moves
	p.refused, p.moves = nil, 0
	p.mu.Unlock()
	for _, key := range refused {
		if _, ok := m.known(key); !ok {
			*m.cards[key] = wanted{}
		}
	}
	if moves > 0 {
		m.renumber()
	}
}

// check waits until nothing changes and compares what people see with the wanted state.
func (m *model) check() {
	m.now.killAt.Store(notKilled)
	m.chat.do(func() { m.chat.refuse = false })
	for range 3 {
		if len(m.chat.blocked) > 0 {
			m.reach()
		}
		m.pass(3 * time.Minute)
	}
	if m.chat.sends > m.sends {
		m.failf("%d messages were sent, %d should be", m.chat.sends, m.sends)
	}
	left := 0
	known := map[string]bool{}
	for key, w := range m.cards {
		c, ok := m.known(key)
		if w.deleted && !w.content.Renew { // forgotten once an edit finds out, and new when it is shown later
			known[fmt.Sprint(c.At, c.Message)] = ok
			continue
		}
		if ok != (w.open && !m.over(w)) {
			m.failf("card %s: known %v, wanted %+v", key, ok, w)
		}
		if ok {
			known[fmt.Sprint(c.At, c.Message)] = true
			m.checkCard(key, w, c)
		}
	}
	for _, one := range m.chat.seen() {
		at, id := m.now.inside(one)
		if len(one.buttons) == 0 || known[fmt.Sprint(at, id)] {
			continue
		}
		left++
		for _, b := range one.buttons {
			if m.tapOn(one, b.CallbackData) {
				m.failf("a tap on the old message %d counts", one.id)
			}
		}
	}
	if left > m.copies {
		m.failf("%d messages are left with buttons, %d may be", left, m.copies)
	}
	if names := filesIn(m.t, m.now.dir+"/outbox"); len(names) > 0 {
		m.failf("posts are left: %v", names)
	}
}

// checkCard checks the message of an open card.
func (m *model) checkCard(key string, w *wanted, c record) {
	var at *shownMessage
	for _, one := range m.chat.seen() {
		if m.isOf(one, c) {
			at = &one
		}
	}
	switch {
	case at == nil && w.deleted:
		return // no edit has found out yet
	case at == nil:
		m.failf("card %s has no message: %+v", key, c)
	case c.At != w.content.To || m.now.Aliases.Lost(c.At.ChatID, c.Message) || at.text != w.content.Text.Text || len(at.buttons) != 2:
		m.failf("card %s: wanted %+v, seen %+v", key, w, at)
	default:
		for i, value := range []string{"yes", "no"} {
			if at.buttons[i].Text != wordsOf(key, w.n, value) || !m.tapOn(*at, at.buttons[i].CallbackData) {
				m.failf("card %s: button %+v, wanted %+v", key, at.buttons[i], w)
			}
		}
	}
}

// TestP8_CardsShowTheirLastState shows, closes, taps, deletes, moves, refuses and kills in random
// order: a tap does only what its revision shows, and each card has exactly one known message,
// which shows the last state.
func TestP8_CardsShowTheirLastState(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		home, err := os.MkdirTemp(t.TempDir(), "life")
		if err != nil {
			r.Fatal(err)
		}
		draws := rapid.SliceOfN(rapid.IntRange(0, 59), draws, draws)
		steps := rapid.SliceOfN(draws, 1, 25).Draw(r, "steps")
		var fault string
		synctest.Test(t, func(t *testing.T) {
			m := &model{t: t, chat: newTelegram(), cards: map[string]*wanted{"a": {}, "b": {}}}
			m.now = startProcess(t, home, m.chat, anywhere)
			for _, m.draws = range steps {
				m.step()
			}
			m.check()
			m.restart()
			m.check()
			fault = m.fault
		})
		if fault != "" {
			r.Fatal(fault)
		}
	})
}
