package ask

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/decisions"
	"ccbot/internal/address"
	"ccbot/internal/keepjson"
	"ccbot/internal/spool"
)

type (
	// Request is one that a hook waits with.
	Request = decisions.Request
	// decision is what the hook is told.
	decision = decisions.Decision
	// answerer is what answers requests without a person.
	answerer = decisions.Answerer
)

// version is the newest version of a card's file that this program knows.
const version = 1

// State says who may still do something about a card.
type State string

// The states of a card. From open a tap leads to sent, Leave to away and Return back. The
// transcript leads from each to over, and there it stays.
const (
	StateOpen State = "open" // a person may decide
	StateSent State = "sent" // a decision is on its way
	StateAway State = "away" // its hook does not wait any more: the transcript will say
	StateOver State = "over" // known what became of it
)

// Card is one request as it stands in the chat. It is a value: what it points to never changes.
type Card struct {
	Version      int                  `json:"version"`
	Request      Request              `json:"request"`
	Conversation address.Conversation `json:"conversation"`
	State        State                `json:"state"`
	Since        time.Time            `json:"since"` // when it came to be in that state
	Decision     *decision            `json:"decision,omitempty"`
	By           int64                `json:"by,omitempty"`        // who decided
	Given        time.Time            `json:"given,omitzero"`      // when a hook took the decision
	Desk         bool                 `json:"desk,omitempty"`      // it is away for good
	AllShown     bool                 `json:"all_shown,omitempty"` // all that All gives was delivered
	Why          *Writer              `json:"why,omitempty"`       // whose next text is for this card
	Missed       *Writer              `json:"missed,omitempty"`    // whose Why was ended, and when
	Caught       string               `json:"caught,omitempty"`    // inbox key of the text that Missed was about
	Progress     Progress             `json:"progress,omitzero"`
	Outcome      Outcome              `json:"outcome,omitzero"`
	Reason       string               `json:"reason,omitempty"`  // of a denial, in a person's words
	Prompt       string               `json:"prompt,omitempty"`  // inbox key of the text that decided
	Text         int                  `json:"text,omitempty"`    // message of that text
	Project      []answerer           `json:"project,omitempty"` // what else may answer

	unknown keepjson.Unknown
}

// Writer is a person who writes a text for a card: the reason of a denial or, for a question, an
// answer that is none of the options.
type Writer struct {
	By     int64     `json:"by"`
	At     time.Time `json:"at,omitzero"`      // since when
	Answer bool      `json:"answer,omitempty"` // of the question that Progress is at
	// Current is the current session of the conversation since the wait began. If another one is chosen, the person's
	// next text is meant for that one.
	Current uuid.UUID `json:"current,omitzero"`
}

const (
	// maxWhy is how long a text is waited for: what a person writes later is meant for something else.
	maxWhy = 10 * time.Minute
	// maxMissed is how long a text may still come that was being written when something else ended
	// the wait, if it does not come within maxWhy. It is not meant for an agent as a prompt.
	maxMissed = 2 * time.Minute
)

// Progress is how far the questions of AskUserQuestion are answered.
type Progress struct {
	Answers []string `json:"answers,omitempty"` // of the questions so far, in their order
	Chosen  []int    `json:"chosen,omitempty"`  // marked options of the present one
}

// What is what became of a request.
type What string

// What became of a request, see Outcome.
const (
	Allowed     What = "allowed" // or answered
	Denied      What = "denied"
	Interrupted What = "interrupted" // Esc
	Ended       What = "ended"       // the session ended first
	Unknown     What = "unknown"     // the transcript never said
)

// Outcome is what the transcript says became of a request.
type Outcome struct {
	What What   `json:"what,omitempty"`
	Chat bool   `json:"chat,omitempty"` // by the decision of this card; else by somebody at the desk
	Hook bool   `json:"hook,omitempty"` // by another hook
	Late bool   `json:"late,omitempty"` // a decision of this card came too late
	Said string `json:"said,omitempty"` // the answer that was given at the desk, as the agent was told, or the reason of a denial
}

// New is the card of a request that is to be shown in a conversation.
func New(q Request, to address.Conversation) Card {
	return Card{Version: version, Request: q, Conversation: to, State: StateOpen, Since: q.Asked}
}

// IsOver says that the card will not change any more.
func (c Card) IsOver() bool { return c.State == StateOver }

// Same says that a request which came back is this card's: a redial, not another under its id. The
// card's file holds the same JSON, escaped in its own way.
func (c Card) Same(q Request) bool {
	own := c.Request
	x, errA := json.Marshal(own.Input)
	y, errB := json.Marshal(q.Input)
	return own.ID == q.ID && own.Session == q.Session && own.Agent == q.Agent && own.Hook == q.Hook &&
		own.Tool == q.Tool && errA == nil && errB == nil && bytes.Equal(x, y)
}

// check says what makes a card unusable.
func (c Card) check() error {
	if err := c.Request.Check(); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]State{StateOpen, StateSent, StateAway, StateOver}, c.State):
		return fmt.Errorf("unknown state %q", c.State)
	case c.Decision == nil && (c.State == StateSent || c.Outcome.Chat):
		return fmt.Errorf("state %s without a decision", c.State)
	case c.Conversation.ChatID == 0:
		return errors.New("no conversation")
	}
	return nil
}

// plain has Card's fields without its methods.
type plain Card

// MarshalJSON writes the card together with the fields it did not know when it was read.
func (c Card) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plain(c), c.unknown) }

// UnmarshalJSON reads a card and keeps the fields it does not know.
func (c *Card) UnmarshalJSON(data []byte) error {
	unknown, err := keepjson.Unmarshal(data, version, (*plain)(c))
	c.unknown = unknown
	return cmp.Or(err, c.check())
}

const (
	suffix = ".json"
	// maxCard is far above a call on the control socket (8 MiB), escaped as badly as JSON can.
	maxCard = 128 << 20
	// maxKept is from where on the input of a card that is over is cut for good.
	maxKept = 16 << 10
)

// Store keeps the cards: in memory for reading, in one file each for good.
type Store struct {
	folder spool.Folder

	mu    sync.Mutex
	cards map[string]Card // by the request's id
}

// Open loads the cards of dir ($CCBOT_DIR/asks) and makes it when it is missing. A file that cannot
// be understood is moved to the quarantine folder and logged; a newer program's is left where it
// is. The error is about the folder.
func Open(dir, quarantine string, log *slog.Logger) (*Store, error) {
	s := &Store{folder: spool.Folder{Path: dir, MaxSize: maxCard, Fsync: true}, cards: make(map[string]Card)}
	err := s.folder.Make()
	if err == nil {
		_, err = spool.Loader{Quarantine: quarantine, Log: log}.Load(s.folder, suffix, s.take)
	}
	if err != nil {
		return nil, fmt.Errorf("open the asks: %w", err)
	}
	return s, nil
}

func (s *Store) take(name string, data []byte) error {
	var c Card
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if c.Request.ID+suffix != name {
		return fmt.Errorf("the file is named %s, but its id is %s", name, c.Request.ID)
	}
	s.cards[c.Request.ID] = c
	return nil
}

// Save puts a card on disk; readers see it from then on. Of the input of one that is over only the
// beginnings are kept.
func (s *Store) Save(c Card) error {
	c.Version = version
	if c.IsOver() { // nothing but its message is asked of it
		c.Request.Suggestions = nil
		if len(c.Request.Input) > maxKept {
			c.Request.Input = beginnings(c.Request.Input)
		}
		if c.Decision != nil {
			d := *c.Decision
			d.UpdatedInput = nil
			c.Decision = &d
		}
	}
	data, err := json.Marshal(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err = cmp.Or(c.check(), err); err == nil {
		err = s.folder.Put(c.Request.ID+suffix, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save ask %s: %w", c.Request.ID, err)
	}
	s.cards[c.Request.ID] = c
	return nil
}

// Get returns the card of a request.
func (s *Store) Get(id string) (Card, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.cards[id]
	return c, ok
}

// List returns all cards, oldest first.
func (s *Store) List() []Card { return s.list(func(Card) bool { return true }) }

// Unsettled returns the cards that are not over, oldest first.
func (s *Store) Unsettled() []Card { return s.list(func(c Card) bool { return !c.IsOver() }) }

func (s *Store) list(which func(Card) bool) (list []Card) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.cards {
		if which(c) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Card) int {
		return cmp.Or(a.Request.Asked.Compare(b.Request.Asked), strings.Compare(a.Request.ID, b.Request.ID))
	})
	return list
}

// ByPrompt returns the card whose reason is the text with an inbox key.
func (s *Store) ByPrompt(key string) (Card, bool) {
	all := s.list(func(c Card) bool { return c.Prompt == key })
	if len(all) == 0 {
		return Card{}, false
	}
	return all[0], true
}

// Prune forgets the cards that were over before a time. Those that are not over stay, however old.
func (s *Store) Prune(before time.Time) error {
	return s.remove(func(c Card) bool { return c.IsOver() && c.Since.Before(before) })
}

// Remove takes away the card of a request that nobody has seen.
func (s *Store) Remove(id string) error {
	return s.remove(func(c Card) bool { return c.Request.ID == id })
}

// Forget takes away all cards of a session that is itself forgotten.
func (s *Store) Forget(session uuid.UUID) error {
	return s.remove(func(c Card) bool { return c.Request.Session == session })
}

func (s *Store) remove(which func(Card) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for id, c := range s.cards {
		if !which(c) {
			continue
		}
		if err := s.folder.Remove(id + suffix); err != nil {
			errs = append(errs, fmt.Errorf("remove ask %s: %w", id, err))
			continue
		}
		delete(s.cards, id)
	}
	return errors.Join(errs...)
}
