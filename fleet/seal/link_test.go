package seal_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/life"
	"ccbot/fleet/seal"
	"ccbot/internal/disk"
	"ccbot/internal/spool"
)

// ends are both ends of one link, with what they have on disk.
type ends struct {
	chatKey, hostKey   seal.Key
	chatDisk, hostDisk seal.EpochFile
	chat, host         *seal.Link
}

const hostID = "h7k2m9qa"

func newEnds(t *testing.T) *ends {
	t.Helper()
	folder := spool.Folder{Path: t.TempDir(), Fsync: true}
	e := &ends{chatKey: newKey(t), hostKey: newKey(t), chatDisk: seal.EpochFile{Folder: folder, Name: "chat"},
		hostDisk: seal.EpochFile{Folder: folder, Name: "host"}}
	e.startChat(t)
	e.startHost(t)
	return e
}

func (e *ends) startChat(t *testing.T) {
	t.Helper()
	var err error
	e.chat, err = seal.NewChatLink(e.chatKey, hostID, e.hostKey.Public(), e.chatDisk)
	require.NoError(t, err)
	e.chat.Patience = 0
}

func (e *ends) startHost(t *testing.T) {
	t.Helper()
	var err error
	e.host, err = seal.NewHostLink(e.hostKey, hostID, e.chatKey.Public(), e.hostDisk)
	require.NoError(t, err)
	e.host.Patience = 0
}

// meet exchanges the hello of the host and an answer.
func (e *ends) meet(t *testing.T) {
	t.Helper()
	_, err := e.chat.Open(sealed(t, e.host, seal.Hello))
	require.NoError(t, err)
	_, err = e.host.Open(sealed(t, e.chat, "welcome"))
	require.NoError(t, err)
}

func newKey(t *testing.T) seal.Key {
	t.Helper()
	key, err := seal.NewKey()
	require.NoError(t, err)
	return key
}

func sealed(t *testing.T, by *seal.Link, kind string) []byte {
	t.Helper()
	data, err := by.Seal(seal.Message{Kind: kind, ID: "u-1", Body: []byte("body\nof " + kind)})
	require.NoError(t, err)
	return data
}

func TestMessageCrosses(t *testing.T) {
	e := newEnds(t)
	e.meet(t)
	data := sealed(t, e.chat, "prompt.offer")
	assert.NotContains(t, string(data), "prompt")
	got, err := e.host.Open(data)
	require.NoError(t, err)
	assert.NotEqual(t, got.Life, got.Peer)
	got.Life, got.Peer = life.Life{}, life.Life{}
	assert.Equal(t, seal.Message{V: 1, Kind: "prompt.offer", From: "chat", To: hostID, Epoch: 2, Seq: 2, ID: "u-1", Heard: new(uint64(0)), Late: true, Body: []byte("body\nof prompt.offer")}, got)
	back, err := e.chat.Open(sealed(t, e.host, "note"))
	require.NoError(t, err)
	assert.Equal(t, hostID, back.From)
}

// Each case is a message that an attacker with all rights of the hub could deliver.
func TestForgedMessagesAreRefused(t *testing.T) {
	type attack struct {
		name string
		make func(t *testing.T, e *ends) (to *seal.Link, data []byte)
		want error
	}
	stranger := func(t *testing.T, id, public string) *seal.Link {
		l, err := seal.NewChatLink(newKey(t), id, public, seal.EpochFile{Folder: spool.Folder{Path: t.TempDir()}, Name: "x"})
		require.NoError(t, err)
		return l
	}
	for _, tt := range []attack{
		{"replay to the host", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			data := sealed(t, e.chat, "press")
			_, err := e.host.Open(data)
			require.NoError(t, err)
			return e.host, data
		}, seal.ErrReplay},
		{"replay to the chat", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			data := sealed(t, e.host, "beat")
			_, err := e.chat.Open(data)
			require.NoError(t, err)
			return e.chat, data
		}, seal.ErrReplay},
		{"key of another chat", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			return e.host, sealed(t, stranger(t, hostID, e.hostKey.Public()), "press")
		}, seal.ErrSender},
		{"key of another host", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			other, err := seal.NewHostLink(newKey(t), hostID, e.chatKey.Public(), e.hostDisk)
			require.NoError(t, err)
			return e.chat, sealed(t, other, seal.Hello)
		}, seal.ErrSender},
		{"changed on the way", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			data := sealed(t, e.chat, "press")
			data[len(data)-1] ^= 1
			return e.host, data
		}, seal.ErrSender},
		{"not sealed", func(_ *testing.T, e *ends) (*seal.Link, []byte) {
			return e.host, []byte(`{"v":1,"kind":"press","from":"chat","to":"h7k2m9qa","epoch":9,"seq":9}` + "\n")
		}, seal.ErrSender},
		{"empty", func(_ *testing.T, e *ends) (*seal.Link, []byte) { return e.host, nil }, seal.ErrSender},
		{"sent back to the chat", func(t *testing.T, e *ends) (*seal.Link, []byte) { // both directions have one key in NaCl
			return e.chat, sealed(t, e.chat, "press")
		}, seal.ErrAddress},
		{"sent back to the host", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			return e.host, sealed(t, e.host, "note")
		}, seal.ErrAddress},
		{"for an earlier id of the host", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			other, err := seal.NewChatLink(e.chatKey, "aaaaaaaa", e.hostKey.Public(), e.chatDisk)
			require.NoError(t, err)
			return e.host, sealed(t, other, "press")
		}, seal.ErrAddress},
		{"from before the chat's start", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			data := sealed(t, e.chat, "press")
			e.startChat(t)
			_, err := e.host.Open(sealed(t, e.chat, "look"))
			require.NoError(t, err)
			return e.host, data
		}, seal.ErrEpoch},
		{"from before the host's start", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			data := sealed(t, e.chat, "press")
			e.startHost(t)
			return e.host, data
		}, seal.ErrEpoch},
		{"from before the hello", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			data := sealed(t, e.host, "beat")
			e.startHost(t)
			e.meet(t)
			return e.chat, data
		}, seal.ErrEpoch},
		{"sealed twice in two versions", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			data, err := e.chatKey.SealFor(e.hostKey.Public(), []byte(`{"v":2,"kind":"press","from":"chat","to":"h7k2m9qa","epoch":9,"seq":9}`+"\n"))
			require.NoError(t, err)
			return e.host, data
		}, seal.ErrVersion},
		{"sealed without a head", func(t *testing.T, e *ends) (*seal.Link, []byte) {
			data, err := e.chatKey.SealFor(e.hostKey.Public(), []byte(`press`))
			require.NoError(t, err)
			return e.host, data
		}, seal.ErrVersion},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newEnds(t)
			e.meet(t)
			to, data := tt.make(t, e)
			_, err := to.Open(data)
			require.ErrorIs(t, err, tt.want)
			for _, other := range []error{seal.ErrSender, seal.ErrAddress, seal.ErrEpoch, seal.ErrReplay, seal.ErrVersion} {
				assert.Equal(t, other == tt.want, errors.Is(err, other), "%v", other) //nolint:errorlint // the sentinels themselves
			}
		})
	}
}

// A host that restarts cannot know which messages it opened before: it refuses all of them until
// the chat has begun another epoch.
func TestHostSealsOnlyHelloBeforeEpoch(t *testing.T) {
	e := newEnds(t)
	_, err := e.host.Seal(seal.Message{Kind: "note"})
	require.ErrorIs(t, err, seal.ErrEpoch)
	assert.False(t, e.host.HasEpoch())
	e.meet(t)
	assert.True(t, e.host.HasEpoch())
	sealed(t, e.host, "note")
	e.startHost(t)
	assert.False(t, e.host.HasEpoch())
}

// A chat whose disk is older than the host's gets an epoch above the host's.
func TestRestoredChatMeetsHost(t *testing.T) {
	e := newEnds(t)
	for range 5 {
		e.startHost(t)
		e.meet(t)
	}
	require.NoError(t, e.chatDisk.SetEpoch(0))
	e.startChat(t)
	_, err := e.chat.Open(sealed(t, e.host, "note"))
	require.ErrorIs(t, err, seal.ErrEpoch, "and the chat's epoch is above the host's now")
	_, err = e.host.Open(sealed(t, e.chat, "look"))
	require.NoError(t, err)
	e.startHost(t)
	require.NoError(t, e.chatDisk.SetEpoch(0))
	e.startChat(t)
	_, err = e.host.Open(sealed(t, e.chat, "look"))
	require.ErrorIs(t, err, seal.ErrEpoch)
	e.meet(t)
}

func TestMessagesMayOvertakeEachOther(t *testing.T) {
	e := newEnds(t)
	e.meet(t)
	var all [][]byte
	for i := range 3000 {
		all = append(all, sealed(t, e.chat, fmt.Sprint(i)))
	}
	for at := 0; at < len(all); at += 500 {
		part := all[at : at+500]
		rand.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		for _, data := range part {
			_, err := e.host.Open(data)
			require.NoError(t, err)
		}
	}
	for _, data := range all {
		_, err := e.host.Open(data)
		require.ErrorIs(t, err, seal.ErrReplay)
	}
}

// An epoch is used only after it is on disk: otherwise a restart would open its messages again.
func TestEpochThatCannotBeStored(t *testing.T) {
	e := newEnds(t)
	welcome := func() []byte {
		_, err := e.chat.Open(sealed(t, e.host, seal.Hello))
		require.NoError(t, err)
		return sealed(t, e.chat, "welcome")
	}()
	fault := errors.New("no space")
	end := disk.Fail(func(op, path string) error {
		if filepath.Base(path) == "host" && op == "create" {
			return fault
		}
		return nil
	})
	_, err := e.host.Open(welcome)
	end()
	require.ErrorIs(t, err, fault)
	assert.False(t, e.host.HasEpoch())
	_, err = e.host.Open(welcome)
	require.NoError(t, err)

	end = disk.Fail(func(op, _ string) error {
		if op == "read" {
			return fault
		}
		return nil
	})
	_, err = seal.NewHostLink(e.hostKey, hostID, e.chatKey.Public(), e.hostDisk)
	end()
	require.ErrorIs(t, err, fault)
	require.NoError(t, os.WriteFile(filepath.Join(e.hostDisk.Folder.Path, "host"), []byte("x"), 0o600))
	_, err = seal.NewHostLink(e.hostKey, hostID, e.chatKey.Public(), e.hostDisk)
	require.Error(t, err)
}

func TestP9_KeyIsNotShown(t *testing.T) {
	key := newKey(t)
	seed, err := key.Seed()
	require.NoError(t, err)
	again, err := seal.ParseKey(seed)
	require.NoError(t, err)
	assert.Equal(t, key.Public(), again.Public())
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("key", "key", key)
	for _, shown := range []string{log.String(), fmt.Sprint(key), fmt.Sprintf("%v %+v %#v %s", key, key, key, &key)} {
		assert.NotContains(t, shown, string(seed))
		assert.Contains(t, shown, key.Public())
	}
	_, err = seal.ParseKey([]byte("SXnothing"))
	require.Error(t, err)
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte(`{"v":1,"kind":"press","from":"chat","to":"h7k2m9qa","epoch":1,"seq":1}` + "\n"))
	f.Add([]byte("\n"))
	chat, err := seal.NewKey()
	require.NoError(f, err)
	host, err := seal.NewKey()
	require.NoError(f, err)
	disk := seal.EpochFile{Folder: spool.Folder{Path: f.TempDir()}, Name: "host"}
	f.Fuzz(func(t *testing.T, plain []byte) {
		link, err := seal.NewHostLink(host, hostID, chat.Public(), disk)
		require.NoError(t, err)
		data, err := chat.SealFor(host.Public(), plain)
		require.NoError(t, err)
		if m, err := link.Open(data); err == nil {
			assert.Equal(t, hostID, m.To)
			assert.Equal(t, "chat", m.From)
		}
		_, err = link.Open(plain)
		require.Error(t, err)
	})
}

func BenchmarkSealAndOpen(b *testing.B) {
	key, err := seal.NewKey()
	require.NoError(b, err)
	peer, err := seal.NewKey()
	require.NoError(b, err)
	body := make([]byte, 4096)
	for b.Loop() {
		data, _ := key.SealFor(peer.Public(), body)
		_, _ = peer.OpenFrom(key.Public(), data)
	}
}

// counted counts the epochs that were stored.
type counted struct {
	seal.EpochFile
	writes int
}

func (c *counted) SetEpoch(epoch uint64) error {
	c.writes++
	return c.EpochFile.SetEpoch(epoch)
}

// TestP8_HellosAreLimited: the hub repeats a hello, or a host sends many, or raises the epoch with
// each message. The chat writes few epochs, and none that could not rise.
func TestP8_HellosAreLimited(t *testing.T) {
	for name, message := range map[string]func(i int) string{
		"hello": func(i int) string {
			return fmt.Sprintf(`{"v":1,"kind":"hello","from":%q,"to":"chat","epoch":1,"seq":1}`, hostID)
		},
		"epochs": func(i int) string {
			return fmt.Sprintf(`{"v":1,"kind":"x","from":%q,"to":"chat","epoch":%d,"seq":1}`, hostID, 1000*(i+1))
		},
		"last": func(i int) string {
			return fmt.Sprintf(`{"v":1,"kind":"hello","from":%q,"to":"chat","epoch":18446744073709551615,"seq":1}`, hostID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			chatKey, hostKey := newKey(t), newKey(t)
			disk := &counted{EpochFile: seal.EpochFile{Folder: spool.Folder{Path: t.TempDir()}, Name: "chat"}}
			chat, err := seal.NewChatLink(chatKey, hostID, hostKey.Public(), disk)
			require.NoError(t, err)
			for i := range 250 {
				data, err := hostKey.SealFor(chatKey.Public(), []byte(message(i)+"\n"))
				require.NoError(t, err)
				_, _ = chat.Open(data)
			}
			assert.Less(t, disk.writes, 200)
			last, err := disk.Epoch()
			require.NoError(t, err)
			assert.Positive(t, last)
			assert.Less(t, last, uint64(1<<62))
		})
	}
}

// TestLinkHasFormOfKeys: an earlier program computes the key of each message.
func TestLinkHasFormOfKeys(t *testing.T) {
	e := newEnds(t)
	e.meet(t)
	data, err := e.hostKey.OpenFrom(e.chatKey.Public(), sealed(t, e.chat, "look"))
	require.NoError(t, err)
	assert.Contains(t, string(data), `"kind":"look"`)
	again, err := e.chatKey.SealFor(e.hostKey.Public(), data)
	require.NoError(t, err)
	m, err := e.host.Open(again)
	require.NoError(t, err)
	assert.Equal(t, "look", m.Kind)
	_, err = seal.NewChatLink(e.chatKey, hostID, "x", e.chatDisk)
	require.Error(t, err)
}
