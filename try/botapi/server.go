package botapi

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Options of a server. The zero value is a working one.
type Options struct {
	Token string // the bot's token; random when empty
	Key   string // the chat page's key; random when empty
	Log   *slog.Logger
	// BotName and BotUsername are what getMe and the page show; "Claude Code" and
	// "ccbot_sandbox_bot" when empty.
	BotName, BotUsername string
	// Person uses the chat page; id 1001, "You" when empty.
	Person User
	// RealLimits makes the server answer 429 like Telegram: about 1 message a second in a chat
	// (burst 3), 20 a minute in a group, 30 a second in all.
	RealLimits bool
	// Rich enables rich messages (Bot API 10.1); otherwise their methods are unknown, as at an
	// older server.
	Rich bool
	// Topics enables the bot's threaded mode: its private chats have topics.
	Topics bool
	// Strays makes messages to a deleted topic of a private chat go to the plain chat, without an
	// error.
	Strays bool
	// Forum is the forum (id below -1000000000000) that the chat page shows, and that the server
	// makes; 0: the private chat.
	Forum int64
	// Beside is another bot's server: both bots are in the same supergroups. The servers share
	// nothing else.
	Beside *Server
	// Privacy enables the bot's privacy mode, see [Server.SetPrivacy].
	Privacy bool
	// TapTimeout is how long Person.Tap waits for the bot's answer; 10 s when 0.
	TapTimeout time.Duration
	// Now is the clock of message dates and of the Date header; time.Now when nil.
	Now func() time.Time
	// Undated leaves the Date header out.
	Undated bool
}

// Server is one bot's Telegram. Its methods may be called from any goroutine.
type Server struct {
	opt Options
	bot User
	key string
	// value of the page's cookie; never the key, so that a printed link and a stored cookie are two
	// secrets
	auth string

	closed    chan struct{}
	closeOnce sync.Once

	*telegram // its mu guards everything below
	state
	addr string // host:port once listening
}

// New makes a server that does not listen yet.
func New(opt Options) *Server {
	if opt.Token == "" {
		opt.Token = "7" + digits(9) + ":" + secret(26)
	}
	if opt.Key == "" {
		opt.Key = secret(24)
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.BotName == "" {
		opt.BotName = "Claude Code"
	}
	if opt.BotUsername == "" {
		opt.BotUsername = "ccbot_sandbox_bot"
	}
	if opt.Person.ID == 0 {
		opt.Person.ID = 1001
	}
	if opt.Person.FirstName == "" {
		opt.Person.FirstName = "You"
	}
	if opt.TapTimeout == 0 {
		opt.TapTimeout = 10 * time.Second
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	s := &Server{opt: opt, key: opt.Key, auth: secret(24), closed: make(chan struct{}), telegram: newTelegram(), state: newState()}
	if opt.Beside != nil {
		s.telegram = opt.Beside.telegram
	}
	id, _ := strconv.ParseInt(strings.SplitN(opt.Token, ":", 2)[0], 10, 64)
	s.bot = User{ID: id, IsBot: true, FirstName: opt.BotName, Username: opt.BotUsername}
	s.join(opt.Person)
	if opt.Forum != 0 {
		s.Group(opt.Forum, opt.BotName, true)
	}
	return s
}

// join makes the server a bot of its Telegram.
func (s *Server) join(person User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people[person.ID] = person
	for _, other := range s.bots[:min(1, len(s.bots))] {
		for id, c := range other.chats {
			if c.Type == "supergroup" {
				s.chats[id] = c
			}
		}
	}
	s.bots = append(s.bots, s)
}

// Token is the bot's token.
func (s *Server) Token() string { return s.opt.Token }

// PageChat is the chat that the page shows.
func (s *Server) PageChat() int64 { return cmp.Or(s.opt.Forum, s.opt.Person.ID) }

// Bot is the bot as the people see it.
func (s *Server) Bot() User { return s.bot }

// Listen opens a free port of 127.0.0.1, so that URL works before Run.
func (s *Server) Listen() (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("stand-in: listen: %w", err)
	}
	s.setAddr(l.Addr())
	return l, nil
}

// Run serves the API and the page on l until ctx ends or Close; l is closed then. Only loopback is
// accepted (ErrNotLoopback).
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	if !loopback(l.Addr()) {
		l.Close()
		return fmt.Errorf("%w: %s", ErrNotLoopback, l.Addr())
	}
	s.setAddr(l.Addr())
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		// Long polls, hanging faults and the page's event streams end with ctx, not with their
		// clients.
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.opt.Log.Handler(), slog.LevelDebug),
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer cancel()
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("stand-in: serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		select {
		case <-groupCtx.Done():
		case <-s.closed:
		}
		cancel()
		// Everything that waits ends with ctx; an answer under way may finish.
		grace, done := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer done()
		if srv.Shutdown(grace) != nil {
			return srv.Close()
		}
		return nil
	})
	return group.Wait()
}

// Close ends Run and everything that waits in the server. It may be called more than once.
func (s *Server) Close() error {
	s.closeOnce.Do(func() { close(s.closed) })
	return nil
}

// Handler serves the API below /bot and /file/bot, and the chat page everywhere else.
func (s *Server) Handler() http.Handler {
	page := s.pageHandler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if local == nil || !loopback(local) {
			http.Error(w, "loopback only", http.StatusForbidden)
			return
		}
		switch {
		case strings.HasPrefix(r.URL.Path, "/bot"):
			s.serveAPI(w, r)
		case strings.HasPrefix(r.URL.Path, "/file/bot"):
			s.serveFile(w, r)
		default:
			page.ServeHTTP(w, r)
		}
	})
}

// URL is the base for TELEGRAM_API_URL; "" before Listen or Run.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.addr == "" {
		return ""
	}
	return "http://" + s.addr
}

// PageURL is the address to open in a browser. It contains the key, which is enough to talk to the
// bot.
func (s *Server) PageURL() string {
	base := s.URL()
	if base == "" {
		return ""
	}
	return base + "/?key=" + url.QueryEscape(s.key)
}

func (s *Server) setAddr(a net.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addr = a.String()
}

func loopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

func secret(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b)
}

func digits(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	for i := range b {
		b[i] = '0' + b[i]%10
	}
	return string(b)
}
