package seal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/beat"
	"ccbot/fleet/life"
	"ccbot/fleet/seal"
	"ccbot/internal/disk"
	"ccbot/internal/spool"
)

// air is a hub for one host and its chat, and for copies of both: each start hears all messages.
type air struct {
	t                *testing.T
	chatKey, hostKey seal.Key
	chats, hosts     []*seal.Link // that run
}

func newAir(t *testing.T) *air { return &air{t: t, chatKey: newKey(t), hostKey: newKey(t)} }

// newDisk returns what a folder would keep.
func newDisk(t *testing.T) seal.EpochFile {
	return seal.EpochFile{Folder: spool.Folder{Path: t.TempDir(), Fsync: true}, Name: "epoch"}
}

// copyOf returns a copy of a folder as it is now.
func copyOf(t *testing.T, disk seal.EpochFile) seal.EpochFile {
	t.Helper()
	to := newDisk(t)
	epoch, err := disk.Epoch()
	require.NoError(t, err)
	require.NoError(t, to.SetEpoch(epoch))
	known, err := disk.Known()
	require.NoError(t, err)
	require.NoError(t, to.SetKnown(known))
	return to
}

func (a *air) chat(disk seal.EpochFile) *seal.Link {
	a.t.Helper()
	l, err := seal.NewChatLink(a.chatKey, hostID, a.hostKey.Public(), disk)
	require.NoError(a.t, err)
	a.chats = append(a.chats, l)
	return l
}

func (a *air) host(disk seal.EpochFile) *seal.Link {
	a.t.Helper()
	l, err := seal.NewHostLink(a.hostKey, hostID, a.chatKey.Public(), disk)
	require.NoError(a.t, err)
	a.hosts = append(a.hosts, l)
	return l
}

// stop ends a start, with a goodbye or by a crash.
func (a *air) stop(l *seal.Link, goodbye bool) {
	a.t.Helper()
	for _, all := range []struct{ here, there *[]*seal.Link }{{&a.chats, &a.hosts}, {&a.hosts, &a.chats}} {
		for i, one := range *all.here {
			if one != l {
				continue
			}
			if goodbye {
				a.hear(*all.there, sealed(a.t, l, seal.Bye))
				_, err := l.Seal(seal.Message{Kind: seal.Beat})
				require.ErrorIs(a.t, err, seal.ErrLife)
			}
			*all.here = append(append([]*seal.Link(nil), (*all.here)[:i]...), (*all.here)[i+1:]...)
			return
		}
	}
}

func (a *air) hear(all []*seal.Link, data []byte) {
	for _, l := range all {
		_, _ = l.Open(data)
	}
}

// pass lets a number of beats pass. All starts speak in each.
func (a *air) pass(beats int) {
	a.t.Helper()
	for range beats {
		time.Sleep(beat.Interval)
		a.speak()
		a.speak() // answers to a new epoch
	}
}

func (a *air) speak() {
	a.t.Helper()
	for _, l := range a.chats {
		l.Tick(true)
		a.hear(a.hosts, sealed(a.t, l, seal.Beat))
	}
	for _, l := range a.hosts {
		l.Tick(true)
		kind := seal.Beat
		if !l.HasEpoch() {
			kind = seal.Hello
		}
		a.hear(a.chats, sealed(a.t, l, kind))
	}
}

// carries reports whether a call of a chat has an effect on a host, and whether its answer has one on the chat.
func (a *air) carries(chat, host *seal.Link) (call, answer bool) {
	a.t.Helper()
	try := func(from, to *seal.Link, kind string) bool {
		data, err := from.Seal(seal.Message{Kind: kind})
		if err == nil {
			_, err = to.Open(data)
		}
		return err == nil
	}
	return try(chat, host, "call"), try(host, chat, "answer")
}

func (a *air) works(chat, host *seal.Link, want bool, about string) {
	a.t.Helper()
	call, answer := a.carries(chat, host)
	assert.Equal(a.t, []bool{want, want}, []bool{call, answer}, about)
}

// TestP4_ChatThatWasSetBackIsHeard: the chat's folder is set back by one start, so that it begins the epoch in which
// the host is.
func TestP4_ChatThatWasSetBackIsHeard(t *testing.T) {
	for name, goodbye := range map[string]bool{"goodbye": true, "crash": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, disk := newAir(t), newDisk(t)
				host := a.host(newDisk(t))
				first := a.chat(disk)
				a.pass(3)
				a.stop(first, true)
				snapshot := copyOf(t, disk)
				second := a.chat(disk)
				a.pass(100)
				a.works(second, host, true, "before")
				a.stop(second, goodbye)
				third := a.chat(snapshot)
				if goodbye {
					a.pass(1)
				} else {
					a.pass(2)
					a.works(third, host, false, "the one before may still speak")
					a.pass(2)
				}
				a.works(third, host, true, "after")
				assert.Empty(t, host.Lives().Words())
				assert.Empty(t, third.Lives().Words())
			})
		})
	}
}

// TestP4_DelayedBeatRefusesNoRestart: the last beat of the start before arrives after the first one of the next.
func TestP4_DelayedBeatRefusesNoRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, disk := newAir(t), newDisk(t)
		host := a.host(newDisk(t))
		first := a.chat(disk)
		a.pass(3)
		delayed := sealed(t, first, seal.Beat)
		a.stop(first, false)
		second := a.chat(disk)
		a.pass(1)
		_, err := host.Open(delayed)
		require.NoError(t, err)
		a.pass(5)
		a.works(second, host, true, "the start before is dead")
	})
}

// TestP6_SecondChatIsRefused: the chat's folder is copied, and both run. The machine goes on with the first, also if
// that one was silent for a time.
func TestP6_SecondChatIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, disk := newAir(t), newDisk(t)
		host := a.host(newDisk(t))
		first := a.chat(disk)
		a.pass(3)
		second := a.chat(copyOf(t, disk))
		for range 12 {
			a.pass(1)
			a.works(first, host, true, "the first")
			a.works(second, host, false, "the second")
		}
		assert.Contains(t, host.Lives().Words(), "another start is refused")
		assert.Contains(t, second.Lives().Words(), "this start is refused")
		assert.Empty(t, first.Lives().Words())

		a.stop(first, true)
		third := a.chat(disk)
		a.pass(1)
		a.works(third, host, true, "a restart beside the copy")
		a.works(second, host, false, "the copy beside a restart")
		a.stop(second, false)
		a.chats = nil // the third sleeps
		fourth := a.chat(copyOf(t, disk))
		a.pass(5)
		a.works(fourth, host, true, "the one before is silent")
		a.chats = append(a.chats, third)
		a.pass(3)
		a.works(third, host, true, "it woke up")
		a.works(fourth, host, false, "the first woke up")
	})
}

// TestP6_CopyOfAMachineIsRefused: the folder of a machine is copied, and both run: one call would be made twice.
func TestP6_CopyOfAMachineIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, disk := newAir(t), newDisk(t)
		chat := a.chat(newDisk(t))
		first := a.host(disk)
		a.pass(3)
		second := a.host(copyOf(t, disk))
		for range 12 {
			a.pass(1)
			a.works(chat, first, true, "the first")
			a.works(chat, second, false, "the copy")
		}
		assert.True(t, second.IsElsewhere())
		assert.False(t, first.IsElsewhere())
		assert.Len(t, chat.Lives().Refused, 1)
		_, err := chat.Open(sealed(t, second, seal.Hello))
		require.ErrorIs(t, err, seal.ErrLife)
		a.works(chat, first, true, "the hello of the copy began an epoch")
		assert.Contains(t, second.Lives().Words(), "this start is refused")
		a.stop(second, false)
		a.pass(10)
		assert.Empty(t, chat.Lives().Words(), "it no longer speaks")
	})
}

// TestP6_MachineThatWakesBesideItsCopy: an earlier life speaks again after the copy was followed. Nothing is sent to
// either until a person chooses, also after a restart of the chat.
func TestP6_MachineThatWakesBesideItsCopy(t *testing.T) {
	for _, chosen := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			a, disk, chatDisk := newAir(t), newDisk(t), newDisk(t)
			chat := a.chat(chatDisk)
			first := a.host(disk)
			a.pass(3)
			a.hosts = nil // it sleeps
			second := a.host(copyOf(t, disk))
			a.pass(5)
			a.works(chat, second, true, "the one before is silent")
			a.hosts = append(a.hosts, first)
			a.pass(3)
			torn := func(about string) {
				t.Helper()
				for range 3 {
					a.works(chat, first, false, about)
					a.works(chat, second, false, about)
					a.pass(1)
				}
				require.Len(t, chat.Lives().Torn, 2)
			}
			torn("two speak")
			a.stop(chat, true)
			chat = a.chat(chatDisk)
			a.pass(2)
			torn("after a restart of the chat")
			require.ErrorIs(t, chat.Choose("x"), seal.ErrNoLife)
			both := []*seal.Link{second, first}
			right, wrong := both[chosen], both[1-chosen]
			require.NoError(t, chat.Choose(chat.Lives().Torn[chosen].ID))
			a.pass(3)
			for range 3 {
				a.works(chat, right, true, "the chosen one")
				a.works(chat, wrong, false, "the other one")
				a.pass(1)
			}
			assert.Len(t, chat.Lives().Refused, 1)
			require.ErrorIs(t, chat.Choose(chat.Lives().Refused[0].ID), seal.ErrNoLife)
			a.stop(right, true)
			a.pass(5)
			a.works(chat, wrong, false, "it stays refused")
		})
	}
}

// torn returns a chat, the two starts of a machine of which none is followed, and what the two share.
func torn(t *testing.T, a *air) (chat, first, second *seal.Link, disk seal.EpochFile) {
	t.Helper()
	disk = newDisk(t)
	chat, first = a.chat(newDisk(t)), a.host(disk)
	a.pass(3)
	a.hosts = nil // it sleeps
	second = a.host(copyOf(t, disk))
	a.pass(5)
	_, err := first.Open(sealed(t, chat, seal.Beat))
	require.ErrorIs(t, err, seal.ErrLife)
	_, err = chat.Open(sealed(t, first, seal.Beat))
	require.ErrorIs(t, err, seal.ErrLife)
	require.Len(t, chat.Lives().Torn, 2)
	a.hosts = append(a.hosts, first)
	a.pass(3)
	return chat, first, second, disk
}

// TestP6_DeadStartLeavesTheChoice: after it was chosen, nothing would be left to choose.
func TestP6_DeadStartLeavesTheChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAir(t)
		chat, first, second, disk := torn(t, a)
		dead := chat.Lives().Followed
		a.stop(second, false)
		a.pass(10)
		lives := chat.Lives()
		require.Len(t, lives.Torn, 1)
		assert.NotEqual(t, dead, lives.Torn[0])
		require.ErrorIs(t, chat.Choose(dead.ID), seal.ErrNoLife)

		a.stop(first, false)
		a.pass(10)
		assert.Empty(t, chat.Lives().Torn)
		assert.True(t, chat.Lives().Undecided, "nobody has decided")
		third := a.host(disk)
		a.pass(5)
		a.works(chat, third, false, "nobody has decided")
		require.Len(t, chat.Lives().Torn, 1)
		require.NoError(t, chat.Choose(chat.Lives().Torn[0].ID))
		a.pass(3)
		a.works(chat, third, true, "the chosen one")
		assert.False(t, chat.Lives().Undecided)
	})
}

// TestP6_ChoiceOfADeadStartCanBeMadeAgain: it died when it was chosen.
func TestP6_ChoiceOfADeadStartCanBeMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAir(t)
		chat, first, second, _ := torn(t, a)
		dead := chat.Lives().Followed
		a.stop(second, false)
		require.NoError(t, chat.Choose(dead.ID))
		assert.False(t, chat.Lives().Undecided, "it may speak")
		a.pass(5)
		a.works(chat, first, false, "it was not chosen")
		require.Len(t, chat.Lives().Torn, 1)
		assert.Empty(t, chat.Lives().Refused)
		require.NoError(t, chat.Choose(chat.Lives().Torn[0].ID))
		a.pass(3)
		a.works(chat, first, true, "chosen again")
		assert.Empty(t, chat.Lives().Words())
	})
}

// TestP4_EndThatIsResumedFromMemoryIsHeard: it gives numbers that the other end has opened already.
func TestP4_EndThatIsResumedFromMemoryIsHeard(t *testing.T) {
	for _, isChat := range []bool{true, false} {
		for _, isCopy := range []bool{false, true} {
			t.Run(fmt.Sprintf("chat %v, beside the one that goes on %v", isChat, isCopy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a := newAir(t)
					chat, host := a.chat(newDisk(t)), a.host(newDisk(t))
					a.pass(3)
					end, all := host, &a.hosts
					if isChat {
						end, all = chat, &a.chats
					}
					resumed, renewed := end.Resumed(), 0
					resumed.OnRenew = func() error {
						renewed++
						return nil
					}
					a.pass(200)
					switch *all = append(*all, resumed); {
					case isCopy:
					case isChat:
						chat, *all = resumed, (*all)[1:]
					default:
						host, *all = resumed, (*all)[1:]
					}
					a.pass(5)
					a.works(chat, host, true, "after")
					assert.Equal(t, 1, renewed)
					if !isCopy {
						assert.Empty(t, chat.Lives().Words()+host.Lives().Words())
					}
				})
			})
		}
	}
}

// TestLifeIsRenewedOnlyIfItsNumbersAre: the other numbers of the end are on its disk.
func TestLifeIsRenewedOnlyIfItsNumbersAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAir(t)
		chat, host := a.chat(newDisk(t)), a.host(newDisk(t))
		a.pass(3)
		resumed, fault := host.Resumed(), errors.New("no space")
		resumed.OnRenew = func() error { return fault }
		a.pass(200)
		_, err := resumed.Open(sealed(t, chat, seal.Beat))
		require.ErrorIs(t, err, fault)
		resumed.OnRenew = nil
		a.hosts = []*seal.Link{resumed}
		a.pass(5)
		a.works(chat, resumed, true, "after")
	})
}

// TestP4_RestartsNeedNoDecision restarts both ends in all ways.
func TestP4_RestartsNeedNoDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, chatDisk, hostDisk := newAir(t), newDisk(t), newDisk(t)
		chat, host := a.chat(chatDisk), a.host(hostDisk)
		for i := range 100 {
			a.pass(5)
			a.works(chat, host, true, "")
			require.Empty(t, chat.Lives().Words()+host.Lives().Words(), i)
			if i%3 != 0 {
				a.stop(chat, i%4 < 2)
				chat = a.chat(chatDisk)
			}
			if i%3 != 1 {
				a.stop(host, i%5 < 2)
				host = a.host(hostDisk)
			}
		}
		known, err := hostDisk.Known()
		require.NoError(t, err)
		assert.LessOrEqual(t, len(known.Earlier), 64)
		assert.NotEqual(t, life.Life{}, known.Followed)
	})
}

// TestP4_MachineOfAnEarlierVersionWorks: it has no life.
func TestP4_MachineOfAnEarlierVersionWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAir(t)
		chat := a.chat(newDisk(t))
		seq := 0
		earlier := func(kind string, epoch int) error {
			seq++
			data, err := a.hostKey.SealFor(a.chatKey.Public(), fmt.Appendf(nil, `{"v":1,"kind":%q,"from":%q,"to":"chat","epoch":%d,"seq":%d,"heard":1}`+"\n", kind, hostID, epoch, seq))
			require.NoError(t, err)
			_, err = chat.Open(data)
			return err
		}
		require.NoError(t, earlier(seal.Hello, 0))
		for range 3 {
			require.NoError(t, earlier(seal.Beat, 2))
			require.NoError(t, earlier("answer", 2))
			time.Sleep(beat.Interval)
		}
		data, err := chat.Seal(seal.Message{Kind: "call"})
		require.NoError(t, err)
		plain, err := a.hostKey.OpenFrom(a.chatKey.Public(), data)
		require.NoError(t, err)
		assert.NotContains(t, string(plain), `"peer"`)

		host := a.host(newDisk(t)) // after its update
		a.pass(5)
		a.works(chat, host, true, "with lives")
		assert.Empty(t, chat.Lives().Words())
	})
}

// TestP6_NoteThatCannotBeStoredSilencesNoMachine: the disk is full when the copy of a machine is refused.
func TestP6_NoteThatCannotBeStoredSilencesNoMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, file, hostDisk := newAir(t), newDisk(t), newDisk(t)
		chat, first := a.chat(file), a.host(hostDisk)
		a.pass(3)
		a.host(copyOf(t, hostDisk))
		a.pass(1)
		defer disk.Fail(func(_, path string) error {
			if filepath.Dir(path) == file.Folder.Path && strings.Contains(path, "lives") {
				return errors.New("no space")
			}
			return nil
		})()
		for range 5 {
			time.Sleep(beat.Interval)
			_, err := chat.Open(sealed(t, first, seal.Beat))
			require.NoError(t, err)
			a.speak()
		}
		assert.Len(t, chat.Lives().Refused, 1)
	})
}

// TestLivesThatCannotBeStored: a life is followed only after that is on disk.
func TestLivesThatCannotBeStored(t *testing.T) {
	a, file := newAir(t), newDisk(t)
	chat, host := a.chat(newDisk(t)), a.host(file)
	fault := errors.New("no space")
	failing := func(want string) (end func()) {
		return disk.Fail(func(op, path string) error {
			if op == want && filepath.Dir(path) == file.Folder.Path && strings.Contains(path, "lives") {
				return fault
			}
			return nil
		})
	}
	end := failing("create")
	_, err := host.Open(sealed(t, chat, seal.Beat))
	end()
	require.ErrorIs(t, err, fault)
	assert.False(t, host.HasEpoch())
	known, err := file.Known()
	require.NoError(t, err)
	assert.Zero(t, known.Followed)
	_, err = host.Open(sealed(t, chat, seal.Beat))
	require.ErrorIs(t, err, seal.ErrLife, "the chat has not heard the host")
	known, err = file.Known()
	require.NoError(t, err)
	assert.NotZero(t, known.Followed)

	end = failing("read")
	_, err = seal.NewHostLink(a.hostKey, hostID, a.chatKey.Public(), file)
	end()
	require.ErrorIs(t, err, fault)
	require.NoError(t, os.WriteFile(filepath.Join(file.Folder.Path, "epoch-lives"), []byte("x"), 0o600))
	_, err = seal.NewHostLink(a.hostKey, hostID, a.chatKey.Public(), file)
	require.Error(t, err)
}
