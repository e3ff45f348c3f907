package join_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/hub/hubtest"
	"ccbot/fleet/join"
	"ccbot/fleet/link"
	"ccbot/fleet/seal"
	"ccbot/internal/disk"
	"ccbot/internal/spool"
	"ccbot/internal/waittest"
)

// world is a hub, and the chat's side of joins.
type world struct {
	*hubtest.World
	t          *testing.T
	chat       *link.Chat
	settings   join.Settings
	desk       *join.Desk
	candidates chan join.Candidate
	stop       func()

	mu  sync.Mutex
	now time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: hubtest.Start(t), t: t, candidates: make(chan join.Candidate, 100), now: time.Now()}
	w.chat = w.Chat()
	key, err := seal.NewKey()
	require.NoError(t, err)
	w.settings = join.Settings{Keys: w.Keys, Key: key, Hub: w.Hub(), Hosts: join.Hosts{Folder: spool.Folder{Path: t.TempDir(), Fsync: true}},
		Now: w.clock, SetFleet: w.chat.SetFleet, OnCandidate: func(c join.Candidate) { w.candidates <- c }}
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// start starts the chat's side, with what it has on disk.
func (w *world) start() {
	w.desk = join.NewDesk(w.settings)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.desk.Serve(ctx, w.chat.Conn()) }()
	w.stop = func() { cancel(); <-done }
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// offer returns a code as the machine reads it.
func (w *world) offer(name string) join.Code {
	w.t.Helper()
	made, err := w.desk.Offer(name)
	require.NoError(w.t, err)
	text, err := made.Text()
	require.NoError(w.t, err)
	code, err := join.ParseCode(text)
	require.NoError(w.t, err)
	return code
}

func newKeys(t *testing.T) join.HostKeys {
	t.Helper()
	keys, err := join.NewHostKeys()
	require.NoError(t, err)
	return keys
}

// asked is the result of a machine's Ask.
type asked struct {
	join.Admission
	err error
}

func ask(t *testing.T, code join.Code, keys join.HostKeys) <-chan asked {
	result := make(chan asked, 1)
	go func() {
		a, err := hubtest.Ask(t.Context(), code, keys, join.Machine{System: "debian", Owner: "ann"})
		result <- asked{a, err}
	}()
	return result
}

// joined lets a machine in.
func (w *world) joined(name string) (join.Admission, join.HostKeys) {
	w.t.Helper()
	keys := newKeys(w.t)
	result := ask(w.t, w.offer(name), keys)
	c := <-w.candidates
	_, err := w.desk.Decide(w.t.Context(), c.Code, c.Fingerprint, true)
	require.NoError(w.t, err)
	got := <-result
	require.NoError(w.t, got.err)
	return got.Admission, keys
}

// work shows that an admission is enough for a host's work.
func (w *world) work(a join.Admission, keys join.HostKeys) {
	w.t.Helper()
	host := hubtest.Connect(w.t, func() (*link.Host, error) { return link.OpenHost(a.Hub, a.Login(keys), a.Names, a.ID) })
	defer host.Close()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	got := make(chan string, 1)
	go func() {
		_ = host.Commands(ctx, func(data []byte) { got <- string(data) })
	}()
	require.NoError(w.t, w.chat.SendCommand(ctx, a.ID, fmt.Sprint(time.Now().UnixNano()), []byte("start")))
	assert.Equal(w.t, "start", <-got)
	require.NoError(w.t, host.SendEvent(ctx, fmt.Sprint(time.Now().UnixNano()), []byte("note")))
}

func TestMachineJoins(t *testing.T) {
	w := newWorld(t)
	keys := newKeys(t)
	code := w.offer("B")
	result := ask(t, code, keys)
	c := <-w.candidates
	assert.Equal(t, keys.Fingerprint(), c.Fingerprint, "the person compares them")
	assert.Equal(t, "B", c.Name)
	assert.Equal(t, join.Machine{System: "debian", Owner: "ann"}, c.Machine)
	host, err := w.desk.Decide(t.Context(), c.Code, c.Fingerprint, true)
	require.NoError(t, err)
	got := <-result
	require.NoError(t, got.err)
	assert.Equal(t, host.ID, got.ID)
	assert.Equal(t, "B", got.Name)
	assert.Equal(t, w.settings.Key.Public(), got.Chat)
	w.work(got.Admission, keys)

	// Both ends have the keys of the other, so that they can seal.
	folder := spool.Folder{Path: t.TempDir(), Fsync: true}
	chat, err := seal.NewChatLink(w.settings.Key, host.ID, host.Key, seal.EpochFile{Folder: folder, Name: "chat"})
	require.NoError(t, err)
	there, err := seal.NewHostLink(keys.Seal, got.ID, got.Chat, seal.EpochFile{Folder: folder, Name: "host"})
	require.NoError(t, err)
	data, err := there.Seal(seal.Message{Kind: seal.Hello})
	require.NoError(t, err)
	_, err = chat.Open(data)
	require.NoError(t, err)
	data, err = chat.Seal(seal.Message{Kind: "start", Body: []byte("x")})
	require.NoError(t, err)
	_, err = there.Open(data)
	require.NoError(t, err)
}

func TestPersonRefuses(t *testing.T) {
	w := newWorld(t)
	keys, code := newKeys(t), w.offer("B")
	result := ask(t, code, keys)
	c := <-w.candidates
	_, err := w.desk.Decide(t.Context(), c.Code, "0000-0000", true)
	require.ErrorIs(t, err, join.ErrChanged, "the person saw another fingerprint")
	_, err = w.desk.Decide(t.Context(), c.Code, c.Fingerprint, false)
	require.NoError(t, err)
	require.ErrorIs(t, (<-result).err, join.ErrRefused)
	_, err = w.desk.Decide(t.Context(), c.Code, c.Fingerprint, true)
	require.ErrorIs(t, err, join.ErrRefused)
	require.ErrorIs(t, (<-ask(t, code, keys)).err, join.ErrRefused)
	require.ErrorIs(t, (<-ask(t, code, newKeys(t))).err, join.ErrUsed)
}

func TestUsedCode(t *testing.T) {
	w := newWorld(t)
	code, keys := w.offer("B"), newKeys(t)
	result := ask(t, code, keys)
	c := <-w.candidates
	_, err := w.desk.Decide(t.Context(), c.Code, c.Fingerprint, true)
	require.NoError(t, err)
	require.NoError(t, (<-result).err)
	require.ErrorIs(t, (<-ask(t, code, newKeys(t))).err, join.ErrUsed)
	// The machine itself gets its answer again, also from a chat that was restarted and knows no
	// open code.
	first := <-ask(t, code, keys)
	require.NoError(t, first.err)
	w.stop()
	w.start()
	again := <-ask(t, code, keys)
	require.NoError(t, again.err)
	assert.Equal(t, first.ID, again.ID)
	require.ErrorIs(t, (<-ask(t, code, newKeys(t))).err, join.ErrUsed)
}

// TestRivalsAreLimited: the holder of a stolen code changes the person's message a few times only.
func TestRivalsAreLimited(t *testing.T) {
	w := newWorld(t)
	code := w.offer("B")
	ask(t, code, newKeys(t))
	assert.Equal(t, 0, (<-w.candidates).Rivals)
	for i := range 12 {
		require.ErrorIs(t, (<-ask(t, code, newKeys(t))).err, join.ErrUsed)
		if i < 9 {
			assert.Equal(t, i+1, (<-w.candidates).Rivals)
		}
	}
	assert.Empty(t, w.candidates)
}

func TestCodeUsedByTwoMachines(t *testing.T) {
	w := newWorld(t)
	code := w.offer("B")
	machines := []join.HostKeys{newKeys(t), newKeys(t)}
	results := []<-chan asked{ask(t, code, machines[0]), ask(t, code, machines[1])}
	first, rival := <-w.candidates, <-w.candidates
	assert.Equal(t, 0, first.Rivals)
	assert.Equal(t, 1, rival.Rivals, "the person sees that the code was seen")
	assert.Equal(t, first.Fingerprint, rival.Fingerprint, "the first machine holds the code")
	winner := 0
	if machines[1].Fingerprint() == first.Fingerprint {
		winner = 1
	}
	require.ErrorIs(t, (<-results[1-winner]).err, join.ErrUsed)
	_, err := w.desk.Decide(t.Context(), rival.Code, machines[1-winner].Fingerprint(), true)
	require.ErrorIs(t, err, join.ErrChanged)
	_, err = w.desk.Decide(t.Context(), first.Code, first.Fingerprint, true)
	require.NoError(t, err)
	require.NoError(t, (<-results[winner]).err)
	all, _, err := w.settings.Hosts.List()
	require.NoError(t, err)
	assert.Len(t, all, 1)
}

func TestLateCode(t *testing.T) {
	w := newWorld(t)
	code := w.offer("B")
	w.pass(join.TTL + time.Second)
	require.ErrorIs(t, (<-ask(t, code, newKeys(t))).err, join.ErrLate)
	// Much later the hub refuses the joiner.
	w.pass(-3 * time.Hour)
	old := w.offer("B")
	require.ErrorIs(t, (<-ask(t, old, newKeys(t))).err, join.ErrLate)
	// A chat that was restarted does not know its unused codes.
	w.pass(3 * time.Hour)
	lost := w.offer("B")
	w.stop()
	w.start()
	require.ErrorIs(t, (<-ask(t, lost, newKeys(t))).err, join.ErrLate)
}

// TestRefusedCodeNamesClocks: a fresh code is not called too old because the hub's clock is ahead.
func TestRefusedCodeNamesClocks(t *testing.T) {
	w := newWorld(t)
	w.pass(-3 * time.Hour) // the clock of the chat is behind that of the hub
	code := w.offer("B")
	code.Until = time.Now().Add(time.Hour) // and so is that of this machine
	err := (<-ask(t, code, newKeys(t))).err
	require.ErrorIs(t, err, join.ErrClock)
	assert.ErrorContains(t, err, time.Now().Format("2006-01-02"))
}

// A machine that has proven its secret in time is not let in after the end of the code.
func TestDecisionAfterEndOfCode(t *testing.T) {
	w := newWorld(t)
	result := ask(t, w.offer("B"), newKeys(t))
	c := <-w.candidates
	w.pass(join.TTL + time.Second)
	_, err := w.desk.Decide(t.Context(), c.Code, c.Fingerprint, true)
	require.ErrorIs(t, err, join.ErrLate)
	require.ErrorIs(t, (<-result).err, join.ErrLate)
}

func TestNewCodeReplacesOpenOne(t *testing.T) {
	w := newWorld(t)
	first := w.offer("B")
	w.offer("b")
	require.ErrorIs(t, (<-ask(t, first, newKeys(t))).err, join.ErrLate)
}

func TestWrongPin(t *testing.T) {
	w := newWorld(t)
	code := w.offer("B")
	code.Hub.Pin = make([]byte, 32)
	require.ErrorIs(t, (<-ask(t, code, newKeys(t))).err, link.ErrPin)
}

func TestNameThatIsTaken(t *testing.T) {
	w := newWorld(t)
	b, _ := w.joined("B")
	_, err := w.desk.Offer("b")
	require.ErrorIs(t, err, join.ErrNameTaken)
	require.NoError(t, w.desk.Remove(t.Context(), b.ID, func() {}))
	w.offer("B")
}

// Two chats with one folder, or a restored one: the name is checked again when the person decides.
// TestP9_MachineTakesNoOtherID: the id is a part of a key that the machine chooses. With the id of
// another machine it would get that machine's place, and with that of a removed one its keys would
// be valid again.
func TestP9_MachineTakesNoOtherID(t *testing.T) {
	w := newWorld(t)
	a, keys := w.joined("B")
	b, removed := w.joined("R")
	require.NoError(t, w.desk.Remove(t.Context(), b.ID, func() {}))
	for name, other := range map[string]join.HostKeys{"C": keys, "D": removed} {
		forged, err := join.LikeForTest(newKeys(t), other)
		require.NoError(t, err)
		result := ask(t, w.offer(name), forged)
		c := <-w.candidates
		_, err = w.desk.Decide(t.Context(), c.Code, c.Fingerprint, true)
		require.ErrorIs(t, err, join.ErrUsed)
		require.ErrorIs(t, (<-result).err, join.ErrUsed)
	}
	w.work(a, keys)
	all, _, err := w.settings.Hosts.List()
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, host := range all {
		assert.Contains(t, []string{"B", "R"}, host.Name)
		assert.Equal(t, host.Name == "R", len(host.Revoked) == 1)
	}
}

func TestNameTakenMeanwhile(t *testing.T) {
	w := newWorld(t)
	result := ask(t, w.offer("B"), newKeys(t))
	c := <-w.candidates
	other := join.NewDesk(w.settings)
	mine := w.desk
	w.stop()
	w.desk = other
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = other.Serve(ctx, w.chat.Conn()) }()
	w.stop = func() { cancel(); <-done }
	w.joined("B")
	_, err := mine.Decide(t.Context(), c.Code, c.Fingerprint, true)
	require.ErrorIs(t, err, join.ErrNameTaken)
	require.ErrorIs(t, (<-result).err, join.ErrNameTaken)
}

// The keys stay on the machine: nothing that the hub carries or the chat stores has them.
func TestP9_KeysStayOnMachine(t *testing.T) {
	w := newWorld(t)
	spy, err := w.chat.Conn().SubscribeSync(">")
	require.NoError(t, err)
	admission, keys := w.joined("B")
	user, err := keys.User.Seed()
	require.NoError(t, err)
	sealSeed, err := keys.Seal.Seed()
	require.NoError(t, err)
	var all strings.Builder
	for {
		m, err := spy.NextMsg(time.Second)
		if err != nil {
			break
		}
		all.WriteString(m.Subject + string(m.Data))
	}
	for _, folder := range []string{w.Folder, w.settings.Hosts.Folder.Path} {
		require.NoError(t, filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
			data, _ := os.ReadFile(path) //nolint:gosec // a folder of the test
			all.Write(data)
			return err
		}))
	}
	require.NotEmpty(t, all.String())
	for _, secret := range [][]byte{user, sealSeed} {
		assert.NotContains(t, all.String(), string(secret))
	}
	assert.NotContains(t, all.String(), admission.JWT, "the rights are sealed")
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", keys, keys, keys), string(sealSeed))
}

// A joiner could name any subject for the answer, which the chat has the right to publish on.
func TestAnswerGoesOnlyToInboxOfCode(t *testing.T) {
	w := newWorld(t)
	b, keys := w.joined("B")
	commands := w.Keys.Names().Command(b.ID)
	spy, err := w.chat.Conn().SubscribeSync(commands)
	require.NoError(t, err)
	attacker, err := w.Keys.Chat() // more than a joiner has
	require.NoError(t, err)
	conn := hubtest.Connect(t, func() (*nats.Conn, error) { return link.Dial(w.Hub(), link.Login{User: attacker}) })
	defer conn.Close()
	all, _, err := w.settings.Hosts.List()
	require.NoError(t, err)
	code := all[0].Code
	data, err := join.WrapForTest(keys, w.settings.Key.Public())
	require.NoError(t, err)
	require.NoError(t, conn.PublishMsg(&nats.Msg{Subject: w.Keys.Names().Join(code), Reply: commands, Data: data}))
	_, err = conn.Request(w.Keys.Names().Join(code), data, time.Second)
	require.Error(t, err, "an inbox of the chat is not an inbox of the code")
	inbox, err := conn.SubscribeSync("_INBOX_" + code + ".x")
	require.NoError(t, err)
	require.NoError(t, conn.PublishMsg(&nats.Msg{Subject: w.Keys.Names().Join(code), Reply: "_INBOX_" + code + ".x", Data: data}))
	_, err = inbox.NextMsg(time.Minute) // the desk has taken both requests before
	require.NoError(t, err)
	pending, _, err := spy.Pending()
	require.NoError(t, err)
	assert.Zero(t, pending)
}

func TestGuessesAreLimited(t *testing.T) {
	w := newWorld(t)
	code := w.offer("B")
	for range 5 {
		require.ErrorIs(t, join.GuessForTest(t.Context(), code, newKeys(t)), join.ErrProof)
	}
	require.ErrorIs(t, (<-ask(t, code, newKeys(t))).err, join.ErrProof, "the code has ended")
	assert.Empty(t, w.candidates)
}

func TestRemovedHostIsCutOff(t *testing.T) {
	w := newWorld(t)
	b, keys := w.joined("B")
	c, otherKeys := w.joined("C")
	w.work(b, keys)
	w.pass(-time.Hour) // the clock went back since it was admitted
	require.NoError(t, w.desk.Remove(t.Context(), b.ID, func() {}))
	waittest.Until(t, func() bool { // the hub answers before it has told all its parts
		host, err := link.OpenHost(b.Hub, b.Login(keys), b.Names, b.ID)
		if err == nil {
			host.Close()
		}
		return errors.Is(err, link.ErrRights)
	})
	w.work(c, otherKeys)
	require.Error(t, w.desk.Remove(t.Context(), b.ID, func() {}), "no host any more")
	_, _, err := w.desk.Renew(b.ID, "x")
	require.Error(t, err)
	fleet, err := join.NewDesk(w.settings).Fleet()
	require.NoError(t, err)
	assert.Equal(t, []string{c.ID}, fleet.Hosts)
}

func TestRightsAreRenewedAndRotated(t *testing.T) {
	w := newWorld(t)
	b, keys := w.joined("B")
	public, err := keys.User.PublicKey()
	require.NoError(t, err)
	w.pass(60 * 24 * time.Hour)
	renewed := b
	renewed.JWT, _, err = w.desk.Renew(b.ID, public)
	require.NoError(t, err)
	w.work(renewed, keys)

	fresh := newKeys(t)
	public, err = fresh.User.PublicKey()
	require.NoError(t, err)
	rotated := b
	rotated.JWT, _, err = w.desk.Renew(b.ID, public)
	require.NoError(t, err)
	w.work(rotated, fresh)
	w.work(renewed, keys) // a host that missed the answer is not shut out
	require.NoError(t, w.desk.Retire(t.Context(), b.ID))
	w.work(rotated, fresh)
}

func TestP8_HostsOutliveFaults(t *testing.T) {
	w := newWorld(t)
	result := ask(t, w.offer("B"), newKeys(t))
	c := <-w.candidates
	fault := errors.New("no space")
	fail := func(name string) (end func()) {
		return disk.Fail(func(op, path string) error {
			if op == name && strings.HasPrefix(path, w.settings.Hosts.Folder.Path) {
				return fault
			}
			return nil
		})
	}
	end := fail("create")
	_, err := w.desk.Decide(t.Context(), c.Code, c.Fingerprint, true)
	end()
	require.ErrorIs(t, err, fault)
	host, err := w.desk.Decide(t.Context(), c.Code, c.Fingerprint, true)
	require.NoError(t, err)
	require.NoError(t, (<-result).err)
	end = fail("readdir")
	_, err = w.desk.Fleet()
	_, offered := w.desk.Offer("C")
	end()
	require.ErrorIs(t, err, fault)
	require.ErrorIs(t, offered, fault)
	end = fail("read")
	fleet, err := w.desk.Fleet()
	require.NoError(t, err)
	assert.Empty(t, fleet.Account, "the hub keeps its revocations")
	err = w.desk.Remove(t.Context(), host.ID, func() {})
	end()
	require.ErrorIs(t, err, fault)
	require.NoError(t, w.desk.Remove(t.Context(), host.ID, func() {}))
}

func TestTextsThatAreNoCodes(t *testing.T) {
	w := newWorld(t)
	code, err := w.desk.Offer("B")
	require.NoError(t, err)
	text, err := code.Text()
	require.NoError(t, err)
	for _, bad := range []string{"", "cc1", "cc1..", "cc2" + text[3:], text[:60], "cc1.AAAA." + code.Hub.Address, strings.Replace(text, ".", "!", 1)} {
		_, err := join.ParseCode(bad)
		require.ErrorIs(t, err, join.ErrCode, bad)
	}
	again, err := join.ParseCode(" " + text + "\n")
	require.NoError(t, err)
	assert.Equal(t, code.Hub, again.Hub)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", code, code, code), strings.Split(text, ".")[1][130:150])
	t.Logf("a code has %d characters", len(text))
}

func FuzzParseCode(f *testing.F) {
	f.Add("cc1.AAAA.host:1")
	f.Fuzz(func(t *testing.T, text string) {
		if code, err := join.ParseCode(text); err == nil {
			again, err := code.Text()
			require.NoError(t, err)
			assert.Equal(t, strings.TrimSpace(text), again)
		}
	})
}
