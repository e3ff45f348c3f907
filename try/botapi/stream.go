package botapi

import (
	"net/http"
	"time"
)

// event is one line of the page's stream. The first one is always "state".
type event struct {
	// state, message, delete, action, answer, commands, topics, bot
	Type     string       `json:"type"`
	State    *pageState   `json:"state,omitempty"`
	Message  *messageView `json:"message,omitempty"`
	ID       int          `json:"id,omitempty"`
	Query    string       `json:"query,omitempty"`
	Text     string       `json:"text,omitempty"`
	Alert    bool         `json:"alert,omitempty"`
	Online   bool         `json:"online,omitempty"`
	Commands []Command    `json:"commands,omitempty"`
	Topics   []topicView  `json:"topics,omitempty"`
}

type pageState struct {
	Bot      string         `json:"bot"`
	Username string         `json:"username"`
	Person   string         `json:"person"`
	Online   bool           `json:"online"` // the bot has called
	Group    bool           `json:"group"`
	Commands []Command      `json:"commands"`
	Topics   []topicView    `json:"topics"`
	Messages []*messageView `json:"messages"`
}

// stream is one open page.
type stream struct {
	chat   int64
	events chan []byte
	// closed when the page reads too slowly; it connects again and gets the whole state
	full chan struct{}
}

// publishLocked sends an event to the open pages of a chat, also to the pages of other bots there.
func (s *Server) publishLocked(chatID int64, e event) {
	for _, one := range s.inChatLocked(chatID) {
		one.showLocked(chatID, e)
	}
}

// showLocked sends an event to the bot's own open pages of a chat. It never waits for them.
func (s *Server) showLocked(chatID int64, e event) {
	var line []byte
	for st := range s.streams {
		if st.chat != chatID {
			continue
		}
		if line == nil {
			line = mustJSON(e)
		}
		select {
		case st.events <- line:
		default:
			close(st.full)
			delete(s.streams, st)
		}
	}
}

// markOnline tells the page once that the bot is there.
func (s *Server) markOnline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.online {
		return
	}
	s.online = true
	s.showLocked(s.PageChat(), event{Type: "bot", Online: true})
}

// subscribe makes a stream and the state that it continues.
func (s *Server) subscribe() (*stream, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.opt.Person
	state := &pageState{
		Bot: s.bot.FirstName, Username: s.bot.Username, Person: u.FirstName, Online: s.online,
		Commands: s.menuLocked(u), Topics: []topicView{}, Messages: []*messageView{},
	}
	if c := s.chats[s.PageChat()]; c != nil {
		state.Group = c.Type != "private"
		state.Topics = c.topicList()
		for _, m := range c.messages {
			state.Messages = append(state.Messages, s.viewLocked(m))
		}
	}
	st := &stream{chat: s.PageChat(), events: make(chan []byte, 256), full: make(chan struct{})}
	s.streams[st] = struct{}{}
	return st, mustJSON(event{Type: "state", State: state})
}

func (s *Server) unsubscribe(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, st)
}

// serveEvents is the Server-Sent Events stream of the page.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	st, state := s.subscribe()
	defer s.unsubscribe(st)
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	write := func(line []byte) bool {
		_, err := w.Write(append(append([]byte("data: "), line...), "\n\n"...))
		return err == nil && out.Flush() == nil
	}
	if !write(state) {
		return
	}
	// a proxy or a sleeping laptop must notice a dead stream
	alive := time.NewTicker(20 * time.Second)
	defer alive.Stop()
	for {
		select {
		case line := <-st.events:
			if !write(line) {
				return
			}
		case <-alive.C:
			if !write([]byte(`{"type":"alive"}`)) {
				return
			}
		case <-st.full:
			return
		case <-s.closed:
			return
		case <-r.Context().Done():
			return
		}
	}
}
