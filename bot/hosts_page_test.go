package bot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/hosts"
	"ccbot/bot/inbox"
	"ccbot/bot/machine"
	"ccbot/fleet/wire"
	"ccbot/i18n"
	"ccbot/internal/health"
	"ccbot/internal/session"
	"ccbot/port/refusal"
)

// fleet is a fleet that a test fills.
type fleet struct {
	mu        sync.Mutex // guards status
	status    map[string]machine.Status
	candidate *hosts.Candidate
	until     time.Time
	decided   []string
	removed   []string
	followed  []string
	server    string
}

func (*fleet) Exists() bool { return true }

func (f *fleet) Status(_ context.Context, id string) machine.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status[id]
}

func (f *fleet) Offer(_ context.Context, name string) (hosts.Code, error) {
	if strings.Contains(name, " ") {
		return hosts.Code{}, refusal.New(refusal.HostName, name)
	}
	f.candidate = nil
	return hosts.Code{Text: "cc1.SECRET", Until: f.until}, nil
}

func (f *fleet) Candidate(string) (hosts.Candidate, bool) {
	if f.candidate == nil {
		return hosts.Candidate{}, false
	}
	return *f.candidate, true
}

func (f *fleet) Decide(_ context.Context, c hosts.Candidate, admit bool) error {
	if c.Fingerprint != f.candidate.Fingerprint {
		return refusal.New(refusal.HostCode, "another machine")
	}
	f.decided = append(f.decided, map[bool]string{true: "admit ", false: "refuse "}[admit]+c.Code+" "+c.Fingerprint)
	return nil
}

func (f *fleet) Remove(_ context.Context, id string) (server string, err error) {
	f.removed = append(f.removed, id)
	return f.server, nil
}

func (f *fleet) Follow(id, start string) error {
	if s := f.status[id]; !slices.ContainsFunc(s.Torn, func(one machine.Start) bool { return one.ID == start }) {
		return errors.New("not to be chosen")
	}
	f.followed = append(f.followed, id+" "+start)
	return nil
}

// withFleet gives a world a fleet.
func withFleet(t *testing.T, w *chattest.World) *fleet {
	t.Helper()
	f := &fleet{status: map[string]machine.Status{
		"":     {Version: "1.5.0", Agents: 2, Load: .25, DiskFree: 3e9, DiskSize: 4e9},
		"bbbb": {Version: "1.4.0", Agents: 1, Load: 1.5, DiskFree: 1e9, DiskSize: 2e9, Heard: w.Now().Add(-2 * time.Second)},
	}, until: w.Now().Add(10 * time.Minute)}
	w.Deps.Fleet = f
	w.Restart(t)
	return f
}

// TestHostsPage: /hosts shows each machine with its last report, and removes one after a question.
func TestHostsPage(t *testing.T) {
	w := chattest.NewWorld(t)
	f := withFleet(t, w)
	barn(t, w)
	w.MustHear(t, "/list") // barn has answered
	w.MustHear(t, "/hosts")
	id := w.Telegram.LastID()
	text := w.Shows(t, id).Text.Text
	assert.Contains(t, text, "barn\nLast contact 2 s ago.\nccbot 1.4.0, agents: 1, load: 150%, disk: 1.0 GB of 2.0 GB free")
	assert.Contains(t, text, "ccbot 1.5.0, agents: 2, load: 25%, disk: 3.0 GB of 4.0 GB free")

	assert.NotContains(t, w.Shows(t, id).Text.Text, "Update ccbot here")
	newer := f.status["bbbb"]
	newer.Unread = 3
	f.status["bbbb"] = newer
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonRefresh))
	assert.Contains(t, w.Shows(t, id).Text.Text, w.Word(i18n.HostUnread, i18n.Args{"Machine": "barn"}))

	assert.NotContains(t, w.Shows(t, id).Text.Text, "have not passed")
	newer.Faults = health.Machine{Name: "barn", Held: 2, For: time.Minute}
	f.status["bbbb"] = newer
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonRefresh))
	assert.Contains(t, w.Shows(t, id).Text.Text, chattest.Warning+"2 messages between barn and this chat have not passed for 1 min")

	wrong := "The clock of barn is"
	assert.NotContains(t, w.Shows(t, id).Text.Text, wrong)
	for ahead, want := range map[time.Duration]string{49 * time.Hour: wrong + " 2 d ahead of this one", -3 * time.Hour: wrong + " 3 h behind this one"} {
		newer.Ahead = ahead
		f.status["bbbb"] = newer
		w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonRefresh))
		assert.Contains(t, w.Shows(t, id).Text.Text, want)
	}

	w.Press(t, chattest.Bob, id, "Remove barn")
	assert.Empty(t, f.removed)
	w.Press(t, chattest.Alice, id, "Remove barn")
	assert.Contains(t, w.Shows(t, id).Text.Text, "Remove barn? Its sessions go on there")
	assert.Empty(t, f.removed)
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonRemove))
	assert.Equal(t, []string{"bbbb"}, f.removed)
	assert.NotContains(t, strings.Join(w.Telegram.Texts(), "\n"), "account.jwt")

	f.server = "tls://nats.example.net:4222" // its operator has to sign
	w.Press(t, chattest.Alice, id, "Remove barn")
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonRemove))
	assert.Contains(t, strings.Join(w.Telegram.Texts(), "\n"), "barn was removed, and this chat ignores it")
	assert.Contains(t, strings.Join(w.Telegram.Texts(), "\n"), "ccbot host hub tls://nats.example.net:4222 > account.jwt\nnsc import account --overwrite --file account.jwt\nnsc push")
}

// TestP6_PersonChoosesAmongCopiesOfAMachine: the page names them, and one tap in the private chat decides.
func TestP6_PersonChoosesAmongCopiesOfAMachine(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		f := withFleet(t, w)
		_, _, _, link := barn(t, w)
		w.MustHear(t, "/list") // barn has answered
		starts := []machine.Start{{ID: "one", On: "old\u202e", Since: w.Now().Add(-time.Minute)}, {ID: "two", On: "vm", Since: w.Now().Add(-time.Hour)}}
		set := func(change func(s *machine.Status)) {
			f.mu.Lock()
			defer f.mu.Unlock()
			s := f.status["bbbb"]
			s.Undecided, s.Torn, s.Refused, s.Elsewhere = false, nil, nil, machine.Start{}
			change(&s)
			f.status["bbbb"] = s
		}
		set(func(s *machine.Status) { s.Undecided, s.Torn = true, starts })
		w.Later(time.Minute)
		told := w.Word(i18n.HostTorn, i18n.Args{"Machine": "barn"}) + "\n1. old⟨U+202E⟩, "
		unasked := 0
		for _, m := range w.Telegram.ShownOnce() {
			unasked += strings.Count(m.Text.Text, told)
		}
		assert.Equal(t, 1, unasked)
		w.MustHear(t, "/hosts")
		id := w.Telegram.LastID()
		text := w.Shows(t, id).Text.Text
		assert.Contains(t, text, w.Word(i18n.HostTorn, i18n.Args{"Machine": "barn"})+"\n1. old⟨U+202E⟩, ")
		assert.Contains(t, text, "\n2. vm, ")
		w.Press(t, chattest.Bob, id, "Use barn 2")
		assert.Empty(t, f.followed)
		w.Press(t, chattest.Alice, id, "Use barn 2")
		assert.Equal(t, []string{"bbbb two"}, f.followed)

		set(func(s *machine.Status) { s.Undecided = true }) // none speaks now
		w.Later(time.Minute)
		w.MustHear(t, "/hosts")
		text = w.Shows(t, w.Telegram.LastID()).Text.Text
		assert.Contains(t, text, w.Word(i18n.HostTorn, i18n.Args{"Machine": "barn"}))
		assert.NotContains(t, text, "Use barn")
		set(func(s *machine.Status) { s.Undecided, s.Torn = true, starts[1:] })
		w.MustHear(t, "/hosts")
		assert.Contains(t, w.Shows(t, w.Telegram.LastID()).Text.Text, "\n1. vm, ")

		set(func(s *machine.Status) { s.Refused = starts[:1] })
		w.MustHear(t, "/hosts")
		text = w.Shows(t, w.Telegram.LastID()).Text.Text
		assert.Contains(t, text, w.Word(i18n.HostRefusedStart, i18n.Args{"Machine": "barn"})+"\nold⟨U+202E⟩, ")
		assert.NotContains(t, text, "Use barn")
		w.Press(t, chattest.Alice, id, "Use barn 1") // of the earlier page
		assert.Len(t, f.followed, 1)

		set(func(s *machine.Status) { s.Elsewhere = starts[1] })
		w.MustHear(t, "/hosts")
		assert.Contains(t, w.Shows(t, w.Telegram.LastID()).Text.Text, w.Word(i18n.HostElsewhere, i18n.Args{"Machine": "barn"})+"\nvm, ")
		link.Set(wire.Faults{})
	})
}

// TestP4_RemovedMachineLosesNoText: the question names the number of the texts that wait for it, and
// each gets its outcome.
func TestP4_RemovedMachineLosesNoText(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		withFleet(t, w)
		_, ours, theirs, link := barn(t, w)
		w.MustHear(t, "/list") // barn has answered
		link.Set(wire.Faults{Unreachable: true})
		send := func(key string, r session.Record) {
			_, err := w.Inbox.Add(inbox.Entry{Key: key, State: inbox.Asked, Session: r.ID, Conversation: chattest.AtAlice, MessageID: 77, Text: "x"})
			require.NoError(t, err)
			_ = w.Prompts.Queue.Queue(t.Context(), r.ID, key)
		}
		send(inbox.UpdateKey(900), theirs)
		send(inbox.UpdateKey(901), ours)
		require.Equal(t, inbox.Held, w.EntryState(inbox.UpdateKey(900)))
		w.Work(t) // the messages about both are above the page
		w.MustHear(t, "/hosts")
		id := w.Telegram.LastID()
		w.Press(t, chattest.Alice, id, "Remove barn")
		assert.Contains(t, w.Shows(t, id).Text.Text, "1 message waits for it")
		w.Telegram.Forget()
		w.Fleet.Remove("bbbb")
		w.Later(time.Minute)
		assert.Empty(t, w.EntryState(inbox.UpdateKey(900)))
		assert.NotEmpty(t, w.EntryState(inbox.UpdateKey(901)))
		assert.Contains(t, w.Telegram.Done(), "post "+chattest.Warning+w.Word(i18n.HostRemovedText))
		assert.Equal(t, 77, w.Telegram.Last(t).ReplyTo)
	})
}

// TestP9_MachineJoinsByFingerprint: a code is shown to the person who asked for it, and a machine
// is let in by the fingerprint that this person saw.
func TestP9_MachineJoinsByFingerprint(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		f := withFleet(t, w)
		w.MustHear(t, "/hosts")
		w.Press(t, chattest.Alice, w.Telegram.LastID(), w.Word(i18n.ButtonAdd))
		reply := func(to int, text string) {
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: text,
				ReplyToMessage: &models.Message{ID: to, From: &models.User{IsBot: true, Username: w.Username}}})
			require.NoError(t, w.HandleText(t, key, u))
			w.Work(t)
		}
		reply(w.Telegram.LastID(), "two words")
		assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.HostNameBad))
		reply(w.Telegram.LastID(), "B")
		id := w.Telegram.LastID()
		assert.Contains(t, w.Shows(t, id).Text.Text, "ccbot join cc1.SECRET")

		f.candidate = &hosts.Candidate{Code: "c0de", Fingerprint: "4F-19", System: "debian\u202e", Owner: "ann"}
		w.Hosts.OnCandidate()
		w.Work(t)
		text := w.Shows(t, id).Text.Text
		assert.NotContains(t, text, "SECRET")
		assert.Contains(t, text, "B wants to join: debian⟨U+202E⟩ · ann\nDoes it show the fingerprint 4F-19?")

		f.candidate.Fingerprint = "00-00" // the page shows the first one
		w.Press(t, chattest.Bob, id, w.Word(i18n.HostAdmit))
		w.Press(t, chattest.Alice, id, w.Word(i18n.HostAdmit))
		assert.Empty(t, f.decided)
		w.Press(t, chattest.Alice, id, w.Word(i18n.HostAdmit))
		assert.Equal(t, []string{"admit c0de 00-00"}, f.decided)
		assert.Contains(t, w.Shows(t, id).Text.Text, "B has joined. Start a session there: /new B:~")
	})
}

// TestP9_GroupAddsNoMachine: a group only sees the machines.
func TestP9_GroupAddsNoMachine(t *testing.T) {
	w := chattest.NewWorld(t)
	withFleet(t, w)
	barn(t, w)
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.GroupChat(chattest.Ours), Text: "/hosts"})
	require.NoError(t, w.HandleText(t, key, u))
	assert.Equal(t, w.WordsOf(i18n.ButtonRefresh), chattest.Words(w.Telegram.Last(t)))
}

// TestOneMachineHasNoHostsPage: without a fleet the command is unknown.
func TestOneMachineHasNoHostsPage(t *testing.T) {
	w := chattest.NewWorld(t)
	for _, list := range w.Menus() {
		for _, c := range list.Commands {
			assert.NotEqual(t, "hosts", c.Name)
		}
	}
}

// TestHelpNamesHosts where the menu of commands has it.
func TestHelpNamesHosts(t *testing.T) {
	w := chattest.NewWorld(t)
	assert.NotContains(t, helpPages(t, w), "/hosts")
	withFleet(t, w)
	assert.Contains(t, helpPages(t, w), "\n/hosts: Machines with agents\n")
}

// TestP6_SentencesNameSilentMachine: a page that lacks the facts of a machine names it and the last
// contact, and /health shows the last report of each machine.
func TestP6_SentencesNameSilentMachine(t *testing.T) {
	w := chattest.NewWorld(t)
	withFleet(t, w)
	_, _, _, link := barn(t, w)
	w.MustHear(t, "/list")
	w.MustHear(t, "/health")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "barn\nLast contact 2 s ago.\nccbot 1.4.0, agents: 1, load: 150%, disk: 1.0 GB of 2.0 GB free")

	link.Set(wire.Faults{Unreachable: true})
	heard := w.Now().Add(-time.Minute)
	w.Fleet.Note("bbbb", true, heard)
	for _, command := range []string{"/health", "/archive", "/status barn:api"} {
		w.Telegram.Forget()
		w.MustHear(t, command)
		assert.Contains(t, w.Telegram.Last(t).Text.Text, "barn has not answered "+w.In(chattest.AtAlice).Since(heard), command)
	}
}
