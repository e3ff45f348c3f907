package servicemanager

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/coreos/go-systemd/v22/daemon"

	"ccbot/bot/inbox"
	"ccbot/internal/logkey"
)

// Service reports ccbot's state to the service manager, if one has started ccbot and asks for it:
// sd_notify(3). The watchdog is fed while the polls continue. If Telegram does not answer, ccbot
// must not be killed; if a loop is stuck, it must.
type Service struct {
	notify func(state string) error // nil: no service manager asks for it
	every  time.Duration            // between two reports
	fed    bool                     // the manager ends ccbot unless it is fed
	Pulse  *inbox.Pulse
	log    *slog.Logger
	name   atomic.Pointer[string] // of the bot, empty: not known; nil: ccbot is not up
	stuck  bool                   // the stuck loop was logged
}

// statusEvery is the interval between updates of the status when there is no watchdog to feed.
const statusEvery = 30 * time.Second

// New reads from the environment whether a service manager asks for reports, and which ones.
func New(environ []string, log *slog.Logger) *Service {
	s := &Service{every: statusEvery, Pulse: &inbox.Pulse{}, log: log}
	if env.ToMap(environ)["NOTIFY_SOCKET"] == "" {
		return s
	}
	s.notify = func(state string) error {
		_, err := daemon.SdNotify(false, state)
		return err
	}
	switch interval, err := daemon.SdWatchdogEnabled(false); {
	case err != nil:
		log.Warn("watchdog_not_understood", logkey.Error, err)
	case interval > 0:
		s.every, s.fed = interval/2, true
	}
	return s
}

// Run feeds the watchdog until ctx ends, and then reports that ccbot stops.
func (s *Service) Run(ctx context.Context) error {
	if s.notify == nil {
		return nil
	}
	look := time.NewTicker(s.every)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			s.send(daemon.SdNotifyStopping, "stopping")
			return nil
		case <-look.C:
			s.feedWatchdog(time.Now())
		}
	}
}

// feedWatchdog feeds the watchdog, if the polls continue. That it is no longer fed is logged once.
func (s *Service) feedWatchdog(now time.Time) {
	name := s.name.Load()
	if name == nil {
		return
	}
	_, goesOn, failing := s.Pulse.State(now)
	if !goesOn && !s.stuck {
		s.log.Error("polls_stuck", logkey.Watchdog, s.fed)
	}
	s.stuck = !goesOn
	state := ""
	if goesOn && s.fed {
		state = daemon.SdNotifyWatchdog
	}
	s.send(state, statusOf(*name, goesOn, failing, s.Pulse.UnknownToken()))
}

// statusOf returns the manager's status line of ccbot.
func statusOf(name string, goesOn, failing, unknownToken bool) string {
	switch {
	case !goesOn:
		return "the polls are stuck"
	case unknownToken:
		return "Telegram does not know the bot's token, trying again for ten minutes"
	case failing || name == "":
		return "no updates from Telegram, trying again"
	}
	return "listening as @" + name
}

// Begun reports that ccbot is up: it serves, and it either knows the bot's name or cannot reach
// Telegram at present. Begun does not wait for Telegram, because the manager would give up such a
// start.
func (s *Service) Begun(name string) {
	s.name.Store(&name)
	s.send(daemon.SdNotifyReady, statusOf(name, true, name == "", false))
}

// Tried notes a call of getMe. wait is the pause until the next try, zero if Telegram has answered.
func (s *Service) Tried(wait time.Duration) {
	now := time.Now()
	s.Pulse.Beat(now)
	if wait > 0 {
		s.Pulse.Rest(now, wait)
		s.Begun("")
	}
}

// send sends a state to the manager, with the status: repeating a state does no harm.
func (s *Service) send(state, status string) {
	if s.notify == nil {
		return
	}
	if err := s.notify(strings.TrimSpace(state + "\nSTATUS=" + status)); err != nil {
		s.log.Debug("service_manager_not_told", logkey.Error, err)
	}
}
