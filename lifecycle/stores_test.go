package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/typing"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

type launches struct{ base string }

func (l launches) Write(id uuid.UUID, _ string, _ func([]string) (map[string]string, error)) (path, hook string, err error) {
	path = filepath.Join(l.base, id.String()+".settings")
	return path, hookDigest, os.WriteFile(path, []byte("{}"), 0o600)
}

func (l launches) Remove(id uuid.UUID) error {
	return os.RemoveAll(filepath.Join(l.base, id.String()+".settings"))
}

func (launches) HasPendingEvents(uuid.UUID) (bool, error) { return false, nil }

const hookDigest = "digest of the hook"

var errUnreadable = errors.New("it is not JSON")

type promptStore struct {
	order  *order
	mu     sync.Mutex
	all    map[string]typing.Prompt
	saved  []typing.Prompt
	fail   error                // of SavePrompt and FinishPrompt
	onSave func(typing.Prompt)  // while SavePrompt writes
	unheld error                // of HoldPrompt
	of     map[string]uuid.UUID // whose it is, as far as it was moved
	// unreadable is a key whose entry cannot be read.
	unreadable string
}

// owner is the session that a prompt was moved to; nil: to none.
func (p *promptStore) owner(key string) uuid.UUID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[key]
}

func (p *promptStore) set(change func(p *promptStore)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

func (p *promptStore) put(q typing.Prompt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[q.Key] = q
}

func (p *promptStore) Prompt(key string) (typing.Prompt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key == p.unreadable {
		return typing.Prompt{}, errUnreadable
	}
	q, ok := p.all[key]
	if !ok || q.State == accepted {
		return typing.Prompt{}, fs.ErrNotExist
	}
	q.Session = p.of[key]
	if q.Mark != nil {
		mark := *q.Mark
		q.Mark = &mark
	}
	return q, nil
}

// accepted is the state of a prompt that no person holds yet.
const accepted typing.PromptState = "accepted"

// Accept returns the prompt that a test has put there.
func (p *promptStore) Accept(o talk.Offer, session uuid.UUID) (typing.Prompt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.all[o.Key]
	if !ok || q.State != accepted && q.State != typing.Held {
		return typing.Prompt{}, fs.ErrNotExist
	}
	q.State, q.Session = typing.Held, session
	return q, nil
}

func (p *promptStore) HoldPrompt(key string, session uuid.UUID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	q, ok := p.all[key]
	switch {
	case p.unheld != nil:
		return p.unheld
	case !ok, q.State != accepted && q.State != typing.Held:
		return fs.ErrNotExist
	}
	q.State = typing.Held
	p.all[key] = q
	p.ownLocked(key, session)
	p.order.add("hold %s", key)
	return nil
}

func (p *promptStore) ownLocked(key string, session uuid.UUID) {
	if p.of == nil {
		p.of = map[string]uuid.UUID{}
	}
	p.of[key] = session
}

func (p *promptStore) SavePrompt(q typing.Prompt) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		return p.fail
	}
	if q.Mark != nil {
		mark := *q.Mark
		q.Mark = &mark
	}
	if q.Session != uuid.Nil { // it was accepted just now
		p.ownLocked(q.Key, q.Session)
	}
	p.all[q.Key] = q
	p.saved = append(p.saved, q)
	if p.onSave != nil {
		p.onSave(q)
	}
	p.order.add("save %s %s", q.Key, q.State)
	return nil
}

func (p *promptStore) FinishPrompt(key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		return p.fail
	}
	delete(p.all, key)
	p.order.add("finish %s", key)
	return nil
}

func (p *promptStore) TakeBack(key string, _ int64, _ bool) error { return p.FinishPrompt(key) }

func (p *promptStore) Withdraw(key string, _ int64) error { return p.FinishPrompt(key) }

func (p *promptStore) Reword(key string, _ int64, text string, class talk.PromptClass) error {
	q, err := p.Prompt(key)
	if err != nil {
		return err
	}
	q.Text, q.Class = text, class
	return p.SavePrompt(q)
}

func (p *promptStore) state(key string) typing.PromptState {
	q, err := p.Prompt(key)
	if err != nil {
		return "finished"
	}
	return q.State
}

type heardNews struct {
	order *order
	mu    sync.Mutex
	heard []heard
	fail  func(news.News) error
	plain []news.News // those that Translate has got in other terms
	// last are the numbers of the last kept news, by session; repeats are those that came again.
	last    map[uuid.UUID]int64
	repeats []heard
}

// heard is one piece of news, with the session as it was then.
type heard struct {
	session session.Record
	news    news.News
}

// Translate names a receipt or writers by their place among those that it got.
func (n *heardNews) Translate(_ session.Record, told news.News) news.News {
	n.mu.Lock()
	defer n.mu.Unlock()
	place := strconv.Itoa(len(n.plain))
	switch told.(type) {
	case ending.Receipt:
		n.plain = append(n.plain, told)
		return news.Stopped{Endings: []port.Ending{{Reason: place}}}
	case OtherWriters:
		n.plain = append(n.plain, told)
		return news.OtherWriters{{Kept: place}}
	}
	return told
}

// original returns the news that Translate got.
func (n *heardNews) original(told news.News) news.News {
	var place string
	switch told := told.(type) {
	case news.Stopped:
		place = told.Endings[0].Reason
	case news.OtherWriters:
		place = told[0].Kept
	default:
		return told
	}
	i, _ := strconv.Atoi(place)
	return n.plain[i]
}

// View has the whole record as its command, so that tests see what is stored of it.
func (n *heardNews) View(r session.Record) port.Session {
	data, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return port.Session{ID: r.ID, Name: r.Name, State: r.State, Conversation: r.Conversation, Prompts: r.Prompts, News: r.LastNews, Attach: string(data)}
}

func (n *heardNews) SessionNews(_ context.Context, s port.Session, told news.News) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var r session.Record
	if err := json.Unmarshal([]byte(s.Attach), &r); err != nil {
		return err
	}
	r.Name, r.Conversation, r.Prompts, r.LastNews = s.Name, s.Conversation, s.Prompts, s.News
	stored := told
	told = n.original(told)
	if n.fail != nil {
		if err := n.fail(told); err != nil {
			return err
		}
	}
	switch told.(type) {
	case news.Lost, news.Ended, news.Failed:
		if r.ClosedReason != "" { // recovery reports such ends together
			return fmt.Errorf("news %T of a session that ended by %s", told, r.ClosedReason)
		}
	}
	if news.IsKept(stored) {
		if r.LastNews <= n.last[r.ID] {
			n.repeats = append(n.repeats, heard{r, told})
			return nil
		}
		n.last[r.ID] = r.LastNews
	}
	n.heard = append(n.heard, heard{r, told})
	n.order.add("tell %T", told)
	return nil
}

// count returns the number of news.
func (n *heardNews) count(is func(h heard) bool) (count int) {
	for _, h := range n.all() {
		if is(h) {
			count++
		}
	}
	return count
}

// held returns the number of prompts reported as waiting for a reason.
func (n *heardNews) held(why news.Wait) int {
	return n.count(func(h heard) bool { told, is := h.news.(news.Held); return is && told.Why == why })
}

// seconds and ghosts count news of other writers: of running sessions, and of ended ones.
func (n *heardNews) seconds() int {
	return n.count(func(h heard) bool { _, is := h.news.(OtherWriters); return is && h.session.State.Live() })
}

func (n *heardNews) ghosts() int {
	return n.count(func(h heard) bool { _, is := h.news.(OtherWriters); return is && !h.session.State.Live() })
}

// toldOf counts the news of one type.
func toldOf[N news.News](n *heardNews) int {
	return n.count(func(h heard) bool { _, is := h.news.(N); return is })
}

func lastHeard[N news.News](n *heardNews) (r session.Record, last N) {
	for _, h := range n.all() {
		if told, is := h.news.(N); is {
			r, last = h.session, told
		}
	}
	return r, last
}

func lastOf[N news.News](n *heardNews) N {
	_, last := lastHeard[N](n)
	return last
}

func lastSession[N news.News](n *heardNews) session.Record {
	r, _ := lastHeard[N](n)
	return r
}

func (n *heardNews) set(change func(n *heardNews)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(n)
}

func (n *heardNews) all() []heard {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.heard)
}
