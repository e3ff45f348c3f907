package hub_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/hub/hubtest"
	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/internal/waittest"
)

// actor is a connection whose refusals are seen.
type actor struct {
	*nats.Conn
	inbox string
}

// publish reports whether the hub takes a message on a subject.
func (a actor) publish(t *testing.T, subject, reply string) bool {
	t.Helper()
	return a.allowed(t, func() error { return a.PublishMsg(&nats.Msg{Subject: subject, Reply: reply, Data: []byte("1")}) })
}

// subscribe reports whether the hub lets it read a subject.
func (a actor) subscribe(t *testing.T, subject string) bool {
	t.Helper()
	return a.allowed(t, func() error {
		sub, err := a.SubscribeSync(subject)
		if err == nil {
			t.Cleanup(func() { _ = sub.Unsubscribe() })
		}
		return err
	})
}

// allowed does something, and waits until the hub has processed it: the hub answers a refusal
// before it answers the ping of a flush.
func (a actor) allowed(t *testing.T, do func() error) bool {
	t.Helper()
	refused := make(chan error, 8)
	a.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err })
	require.NoError(t, do())
	require.NoError(t, a.FlushTimeout(2*time.Minute))
	// The client calls the handler on another goroutine, in the order of the refusals; LastError is
	// set at once.
	err := a.LastError()
	if err == nil {
		return true
	}
	require.ErrorIs(t, err, nats.ErrPermissionViolation)
	<-refused
	return false
}

const (
	host1, host2 = "h7k2m9qa", "h3c4d5ef"
	code1, code2 = "c1aaaaaa", "c2bbbbbb"
)

// users connects a fresh user of each kind for each cell, since LastError is kept.
type users struct {
	w     *hubtest.World
	names rights.Names
}

func (u users) connect(t *testing.T, kind string) actor {
	t.Helper()
	var as link.Login
	switch kind {
	case "host":
		as.User, _ = u.w.User(host1, time.Now().Add(time.Hour))
		as.Inbox = rights.Inbox(host1)
	case "joiner":
		as.User = joiner(t, u.w.Keys, code1, time.Now().Add(time.Hour))
		as.Inbox = rights.Inbox(code1)
	case "chat":
		var err error
		as.User, err = u.w.Keys.Chat()
		require.NoError(t, err)
	}
	conn := hubtest.Connect(t, func() (*nats.Conn, error) { return link.Dial(u.w.Hub(), as) })
	t.Cleanup(conn.Close)
	return actor{conn, as.Inbox}
}

// joiner returns the user that the holder of a code builds.
func joiner(t *testing.T, keys *rights.Keys, code string, until time.Time) rights.User {
	t.Helper()
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	public, err := pair.PublicKey()
	require.NoError(t, err)
	j := rights.Joiner{Account: keys.Account(), Code: code, User: public, Until: until}
	signature, err := keys.Sign(j)
	require.NoError(t, err)
	token, err := j.JWT(signature)
	require.NoError(t, err)
	return rights.User{JWT: token, Key: pair}
}

// TestTableOfRights tries each cell of the table against a hub: the subjects that a host, a joiner
// and the chat may publish on and read.
func TestTableOfRights(t *testing.T) {
	w := hubtest.Start(t)
	w.Chat(host1, host2)
	u := users{w, w.Keys.Names()}
	n := u.names
	none := n.Fleet[:len(n.Fleet)-1] + "!" // no fleet
	type cell struct {
		what, subject      string
		host, joiner, chat bool
	}
	yes, no := true, false
	publish := []cell{
		{"its events", n.Event(host1), yes, no, yes},
		{"another host's events", n.Event(host2), no, no, yes},
		{"a value in a bucket", "$KV.hosts." + host1, no, no, yes},
		{"its answers and beats", n.Answer(host1), yes, no, yes},
		{"another host's answers and beats", n.Answer(host2), no, no, yes},
		{"a command to itself", n.Command(host1), no, no, yes},
		{"a command to another", n.Command(host2), no, no, yes},
		{"a request to itself", n.Request(host1), no, no, yes},
		{"a request to another", n.Request(host2), no, no, yes},
		{"its consumer's description", "$JS.API.CONSUMER.INFO." + n.Commands() + "." + host1, yes, no, yes},
		{"another's consumer's description", "$JS.API.CONSUMER.INFO." + n.Commands() + "." + host2, no, no, yes},
		{"its next command", "$JS.API.CONSUMER.MSG.NEXT." + n.Commands() + "." + host1, yes, no, yes},
		{"another's next command", "$JS.API.CONSUMER.MSG.NEXT." + n.Commands() + "." + host2, no, no, yes},
		{"the next event", "$JS.API.CONSUMER.MSG.NEXT." + n.Events() + ".chat", no, no, yes},
		{"an acknowledgement", "$JS.ACK." + n.Commands() + "." + host1 + ".1.1.1.1.0", yes, no, yes},
		{"another's acknowledgement", "$JS.ACK." + n.Commands() + "." + host2 + ".1.1.1.1.0", no, no, yes},
		{"an acknowledgement of 12 tokens", "$JS.ACK._.x." + n.Commands() + "." + host1 + ".1.1.1.1.0.r", yes, no, yes},
		{"another's of 12 tokens", "$JS.ACK._.x." + n.Commands() + "." + host2 + ".1.1.1.1.0.r", no, no, yes},
		{"an acknowledgement of events", "$JS.ACK." + n.Events() + ".chat.1.1.1.1.0", no, no, yes},
		{"a new consumer", "$JS.API.CONSUMER.CREATE." + n.Commands() + "." + host1, no, no, yes},
		{"a new consumer of events", "$JS.API.CONSUMER.CREATE." + n.Events() + ".x", no, no, yes},
		{"a new durable consumer", "$JS.API.CONSUMER.DURABLE.CREATE." + n.Commands() + "." + host1, no, no, yes},
		{"the end of a consumer", "$JS.API.CONSUMER.DELETE." + n.Commands() + "." + host1, no, no, yes},
		{"names of consumers", "$JS.API.CONSUMER.NAMES." + n.Commands(), no, no, yes},
		{"a new stream", "$JS.API.STREAM.CREATE.X", no, no, yes},
		{"a stream's description", "$JS.API.STREAM.INFO." + n.Events(), no, no, yes},
		{"a message of a stream", "$JS.API.STREAM.MSG.GET." + n.Commands(), no, no, yes},
		{"a message by direct get", "$JS.API.DIRECT.GET." + n.Events(), no, no, yes},
		{"the end of a stream", "$JS.API.STREAM.DELETE.none", no, no, yes},
		{"the account's description", "$JS.API.INFO", no, no, yes},
		{"its join", n.Join(code1), no, yes, yes},
		{"another's join", n.Join(code2), no, no, yes},
		{"its own inbox", rights.Inbox(host1) + ".x", no, no, yes},
		{"another host's inbox", rights.Inbox(host2) + ".x", no, no, yes},
		{"a joiner's inbox", rights.Inbox(code2) + ".x", no, no, yes},
		{"the chat's inbox", "_INBOX.x.y", no, no, yes},
		{"another subject", "x", no, no, yes},
		{"another fleet's events", rights.Names{Fleet: none}.Event(host1), no, no, yes},
	}
	read := []cell{
		{"everything", ">", no, no, yes},
		{"everything of the fleet", "cc.>", no, no, yes},
		{"one token of everything", "*", no, no, yes},
		{"requests to it", n.Request(host1), yes, no, yes},
		{"what follows requests to it", n.Request(host1) + ".>", no, no, yes},
		{"requests to another", n.Request(host2), no, no, yes},
		{"requests to all", n.Request("*"), no, no, yes},
		{"commands to it", n.Command(host1), no, no, yes},
		{"commands to another", n.Command(host2), no, no, yes},
		{"its events", n.Event(host1), no, no, yes},
		{"another's events", n.Event(host2), no, no, yes},
		{"events", n.Event("*"), no, no, yes},
		{"values in buckets", "$KV.>", no, no, yes},
		{"answers and beats", n.Answer("*"), no, no, yes},
		{"joins", n.Join("*"), no, no, yes},
		{"its join", n.Join(code1), no, no, yes},
		{"the inbox of this host", rights.Inbox(host1) + ".>", yes, no, yes},
		{"the inbox of another", rights.Inbox(host2) + ".>", no, no, yes},
		{"the inbox of this code", rights.Inbox(code1) + ".>", no, yes, yes},
		{"the inbox of another code", rights.Inbox(code2) + ".>", no, no, yes},
		{"the chat's inbox", "_INBOX.>", no, no, yes},
		{"all inboxes", "*.>", no, no, yes},
		{"an inbox and a beginning", rights.Inbox(host1) + "*.>", no, no, yes},
		{"acknowledgements", "$JS.ACK.>", no, no, yes},
		{"advisories", "$JS.EVENT.>", no, no, yes},
		{"the server's events", "$SYS.>", no, no, no},
	}
	denied, allowed := 0, 0
	check := func(t *testing.T, kind string, want bool, try func(a actor) bool) {
		t.Helper()
		if want {
			allowed++
		} else {
			denied++
		}
		assert.Equal(t, want, try(u.connect(t, kind)), kind)
	}
	for _, c := range publish {
		t.Run("publish "+c.what, func(t *testing.T) {
			for kind, want := range map[string]bool{"host": c.host, "joiner": c.joiner, "chat": c.chat} {
				check(t, kind, want, func(a actor) bool { return a.publish(t, c.subject, "") })
			}
		})
	}
	for _, c := range read {
		t.Run("read "+c.what, func(t *testing.T) {
			for kind, want := range map[string]bool{"host": c.host, "joiner": c.joiner, "chat": c.chat || c.subject == "$SYS.>"} {
				check(t, kind, want, func(a actor) bool { return a.subscribe(t, c.subject) })
			}
		})
	}
	t.Logf("%d cells allowed, %d denied", allowed, denied)
}

// What a host needs for its work is allowed as a whole: a command, its acknowledgement, an event, a
// request and its answer.
func TestHostWorksWithItsRights(t *testing.T) {
	w := hubtest.Start(t)
	chat := w.Chat(host1)
	host := w.Host(host1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	commands := make(chan string, 4)
	go func() { _ = host.Commands(ctx, func(data []byte) { commands <- string(data) }) }()
	require.NoError(t, chat.SendCommand(ctx, host1, "1", []byte("start")))
	assert.Equal(t, "start", <-commands)
	js, err := jetstream.New(chat.Conn())
	require.NoError(t, err)
	waittest.Until(t, func() bool { // the acknowledgement takes the command out of the stream
		stream, err := js.Stream(ctx, w.Keys.Names().Commands())
		return err == nil && stream.CachedInfo().State.Msgs == 0
	})
	require.NoError(t, host.SendEvent(ctx, "1", []byte("note")))
	names := w.Keys.Names()
	_, err = host.Conn().Subscribe(names.Request(host1), func(*nats.Msg) { _ = host.Conn().Publish(names.Answer(host1), []byte("seen")) })
	require.NoError(t, err)
	require.NoError(t, host.Conn().Flush())
	answers, err := chat.Conn().SubscribeSync(names.Answer(host1))
	require.NoError(t, err)
	require.NoError(t, chat.Conn().Publish(names.Request(host1), nil))
	answer, err := answers.NextMsgWithContext(ctx)
	require.NoError(t, err)
	assert.Equal(t, "seen", string(answer.Data))
}

// TestHostAnswersNoRequester: a request that names a reply subject gives its receiver no right to
// that subject.
func TestHostAnswersNoRequester(t *testing.T) {
	w := hubtest.Start(t)
	chat := w.Chat(host1)
	host := users{w, w.Keys.Names()}.connect(t, "host")
	requests, err := host.SubscribeSync(w.Keys.Names().Request(host1))
	require.NoError(t, err)
	require.NoError(t, host.Flush())
	require.NoError(t, chat.Conn().PublishRequest(w.Keys.Names().Request(host1), "_INBOX.x.y", nil))
	m, err := requests.NextMsgWithContext(t.Context())
	require.NoError(t, err)
	assert.False(t, host.publish(t, m.Reply, ""))
}

// TestForgedReplySubject: the server delivers the answer to a pull without asking for a right to
// its subject, so the hub ends the connection before.
func TestForgedReplySubject(t *testing.T) {
	w := hubtest.Start(t)
	chat := w.Chat(host1, host2)
	require.NoError(t, chat.SendCommand(t.Context(), host1, "1", []byte("for the first host")))
	thief := users{w, w.Keys.Names()}.connect(t, "host")
	cut := thief.StatusChanged(nats.RECONNECTING)
	require.NoError(t, thief.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+w.Keys.Names().Commands()+"."+host1, w.Keys.Names().Event(host2), nil))
	<-cut
	js, err := jetstream.New(chat.Conn())
	require.NoError(t, err)
	stream, err := js.Stream(t.Context(), w.Keys.Names().Events())
	require.NoError(t, err)
	assert.Zero(t, stream.CachedInfo().State.Msgs)
	require.NoError(t, w.Host(host2).SendEvent(t.Context(), "1", []byte("note")))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan string, 4)
	go func() { _ = chat.Events(ctx, func(from string, data []byte) { got <- from + " " + string(data) }) }()
	assert.Equal(t, host2+" note", <-got)
}

// disconnected waits until the hub has ended a connection and refuses it.
func disconnected(t *testing.T, conn *nats.Conn) {
	t.Helper()
	waittest.Until(t, func() bool {
		return !conn.IsConnected() && conn.LastError() != nil && strings.Contains(strings.ToLower(conn.LastError().Error()), "authorization violation")
	})
}

func dialer(w *hubtest.World, as rights.User) func() (*nats.Conn, error) {
	return func() (*nats.Conn, error) { return link.Dial(w.Hub(), link.Login{User: as}) }
}

func TestRevokedHostIsCutOff(t *testing.T) {
	w := hubtest.Start(t)
	chat := w.Chat(host1, host2)
	user, public := w.User(host1, time.Now().Add(time.Hour))
	dial := dialer(w, user)
	conn := hubtest.Connect(t, dial)
	defer conn.Close()
	other := w.Host(host2)
	require.NoError(t, chat.SetFleet(t.Context(), w.Fleet(rights.Revoked{public: time.Now()}, host2)))
	disconnected(t, conn)
	hubtest.Refused(t, dial)
	require.NoError(t, other.SendEvent(t.Context(), "1", []byte("still here")))
	// A hub that has lost its disk, and with it the revocation, refuses all users until it has the
	// revocation again.
	w.Stop()
	w.Restart(true)
	hubtest.Refused(t, dial)
	for other.SendEvent(t.Context(), "2", []byte("again")) != nil { // until the chat has reached the hub
	}
	hubtest.Refused(t, dial)
}

func TestRightsExpire(t *testing.T) {
	w := hubtest.Start(t)
	w.Chat(host1)
	late, _ := w.User(host1, time.Now().Add(-time.Second))
	hubtest.Refused(t, dialer(w, late))
	hubtest.Refused(t, dialer(w, joiner(t, w.Keys, code1, time.Now().Add(-time.Second))))
	soon, _ := w.User(host1, time.Now().Add(3*time.Second)) // a connection ends with its rights
	conn, err := link.Dial(w.Hub(), link.Login{User: soon})
	if err == nil {
		defer conn.Close()
		waittest.Until(t, func() bool { return !conn.IsConnected() })
	}
}

// A host with another key has the rights of its id; the earlier key is revoked.
func TestRotatedKey(t *testing.T) {
	w := hubtest.Start(t)
	chat := w.Chat(host1)
	old, public := w.User(host1, time.Now().Add(time.Hour))
	fresh, _ := w.User(host1, time.Now().Add(time.Hour))
	oldConn := hubtest.Connect(t, dialer(w, old))
	defer oldConn.Close()
	host := hubtest.Connect(t, func() (*link.Host, error) {
		return link.OpenHost(w.Hub(), link.Login{User: fresh}, w.Keys.Names(), host1)
	})
	defer host.Close()
	require.NoError(t, chat.SetFleet(t.Context(), w.Fleet(rights.Revoked{public: time.Now()}, host1)))
	disconnected(t, oldConn)
	require.NoError(t, host.SendEvent(t.Context(), "1", []byte("here")))
}

// Without the account's signature, and with that of other values, there are no rights.
func TestJoinerCannotWidenItsRights(t *testing.T) {
	w := hubtest.Start(t)
	w.Chat(host1)
	pair, err := nkeys.CreateUser()
	require.NoError(t, err)
	public, err := pair.PublicKey()
	require.NoError(t, err)
	real := rights.Joiner{Account: w.Keys.Account(), Code: code1, User: public, Until: time.Now().Add(time.Hour)}
	signature, err := w.Keys.Sign(real)
	require.NoError(t, err)
	other := func(change func(j *rights.Joiner)) rights.Joiner {
		j := real
		change(&j)
		return j
	}
	for name, j := range map[string]rights.Joiner{
		"another code": other(func(j *rights.Joiner) { j.Code = code2 }),
		"all codes":    other(func(j *rights.Joiner) { j.Code = "*" }),
		"later":        other(func(j *rights.Joiner) { j.Until = j.Until.Add(time.Hour) }),
	} {
		t.Run(name, func(t *testing.T) {
			token, err := j.JWT(signature)
			require.NoError(t, err)
			hubtest.Refused(t, dialer(w, rights.User{JWT: token, Key: pair}))
		})
	}
}
