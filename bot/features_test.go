package bot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/guard"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// Every kind of news is told by one feature, and by no more than one.
func TestFeatures_EachNewsHasOneOwner(t *testing.T) {
	w := newWorld(t)
	owners := make(map[news.Kind][]string)
	for _, f := range w.Rooms {
		for kind := range f.News {
			owners[kind] = append(owners[kind], f.Name)
		}
	}
	for _, kind := range noteKinds(t) {
		assert.Len(t, owners[news.Kind(kind)], 1, kind)
	}
	assert.Len(t, owners, len(noteKinds(t)), "nobody tells what there is not")
}

// A command, a verb and a kind of card belong to one feature, and every feature has a name.
func TestFeatures_NothingIsClaimedTwice(t *testing.T) {
	w := newWorld(t)
	owner := make(map[string]string)
	claim := func(what, who string) {
		assert.Empty(t, owner[what], what)
		owner[what] = who
	}
	for _, f := range w.Rooms {
		require.NotEmpty(t, f.Name)
		claim("feature "+f.Name, f.Name)
		for _, c := range f.Commands {
			claim("/"+c.Name, f.Name)
		}
		for verb := range f.Taps {
			claim("verb "+verb, f.Name)
		}
		for kind := range f.Cards {
			claim("card "+kind, f.Name)
		}
	}
}

// TestP7_ATapIsAnsweredWhileItsPortHangs: the person sees at once that the tap has come, however
// long the agent's machine takes.
func TestP7_ATapIsAnsweredWhileItsPortHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := showsAllButtons(t)
		for _, m := range append(append(w.sender.posted, w.sender.sent...), w.sender.edited...) {
			for _, one := range data(m) {
				w.answersWhileItHangs(t, m, one)
			}
		}
	})
}

// answersWhileItHangs taps a button while nothing that the tap asks for comes back.
func (w *world) answersWhileItHangs(t *testing.T, m outbox.Message, data string) {
	t.Helper()
	hangs := make(chan struct{})
	w.sessions.hangs, w.windows.hangs = hangs, hangs
	before := len(w.sender.done())
	over := make(chan error, 1)
	go func() {
		over <- w.Handle(context.WithoutCancel(t.Context()), "1", tapOn(alice, w.asTelegram(m), data))
	}()
	synctest.Wait()
	var answers []string
	for _, line := range w.sender.done()[before:] {
		if strings.HasPrefix(line, "answer ") {
			answers = append(answers, line)
		}
	}
	assert.Len(t, answers, 1, "%s: %s", data, m.Text.Text)
	w.sessions.hangs, w.windows.hangs = nil, nil
	close(hangs)
	assert.NoError(t, <-over, data)
}

// What a session that is forgotten has shown leaves no file, and no file names it; what is still to
// be sent stays.
func TestFeatures_AForgottenSessionLeavesNoFile(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		w.showsEveryButton(t)
		folders := []string{"asks", "cards"}
		kept := 0
		for _, folder := range folders {
			kept += len(filesIn(t, w.dir, folder))
		}
		require.NotZero(t, kept)
		for _, r := range w.records.List() {
			require.NoError(t, w.Forget(t.Context(), r.ID))
			for _, folder := range folders {
				for _, name := range filesIn(t, w.dir, folder) {
					kept, err := os.ReadFile(name)
					require.NoError(t, err)
					assert.NotContains(t, string(kept), r.ID.String())
				}
			}
		}
	})
}

func filesIn(t *testing.T, dir, folder string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, folder, "*.json"))
	require.NoError(t, err)
	return names
}

// crashes has a feature crash in each of its doors.
func crashes(f chat.Feature) chat.Feature {
	for i := range f.Commands {
		f.Commands[i].Run = func(context.Context, chat.Incoming, string) error { panic("a mistake of ours") }
	}
	tap := func(context.Context, chat.Tap) (chat.Answer, error) { panic("a mistake of ours") }
	for verb := range f.Taps {
		f.Taps[verb] = tap
	}
	for kind := range f.Cards {
		f.Cards[kind] = tap
	}
	hear := func(context.Context, news.Note) error { panic("a mistake of ours") }
	for kind := range f.News {
		f.News[kind] = hear
	}
	if f.Heard != nil {
		f.Heard = hear
	}
	for kind := range f.Late {
		f.Late[kind] = func(chat.Tap) string { panic("a mistake of ours") }
	}
	f.Text = func(context.Context, chat.Incoming, string) (bool, error) { panic("a mistake of ours") }
	f.Unparked = func(int64) { panic("a mistake of ours") }
	f.Forget = func(context.Context, uuid.UUID) error { panic("a mistake of ours") }
	f.Run = func(context.Context) error { panic("a mistake of ours") }
	return f
}

// oldButton is a button of a card of a kind that has another look by now.
func (w *world) oldButton(t *testing.T, kind string) string {
	t.Helper()
	cards, key := card.NewKind[struct{}](w.Deps.Cards, kind, nil), uuid.NewString()
	look := card.Look{To: atAlice, Text: render.Plain("one"), Options: [][]card.Option{{{Text: "x", Value: "x"}}}}
	require.NoError(t, cards.Show(t.Context(), key, look, struct{}{}))
	w.sender.deliver(t.Context())
	old := data(w.lastSent(t))
	require.Len(t, old, 1)
	look.Text = render.Plain("two")
	require.NoError(t, cards.Show(t.Context(), key, look, struct{}{}))
	return old[0]
}

// TestP8_AFeatureThatCrashesEndsNothingElse: in each door, again and again, and after a restart.
func TestP8_AFeatureThatCrashesEndsNothingElse(t *testing.T) {
	for i, broken := range newWorld(t).Rooms {
		t.Run(broken.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				r := w.currentSession(t, "api", session.Running)
				for range 2 {
					w.again()
					rooms := w.Features()
					rooms[i] = crashes(rooms[i])
					others, unparked, forgot := 0, 0, 0
					rooms = append(rooms, chat.Feature{Name: "another", Unparked: func(int64) { unparked++ },
						Forget: func(context.Context, uuid.UUID) error { forgot++; return nil },
						Run: func(ctx context.Context) error {
							others++
							<-ctx.Done()
							return nil
						}})
					w.Install(rooms)
					stop := w.running(t)
					time.Sleep(10 * time.Second)
					synctest.Wait()
					for kind := range rooms[i].News {
						assert.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteKind(kind), Session: r}), kind)
						assert.Contains(t, w.sender.texts(), chat.Warning+w.word(i18n.InternalError))
					}
					for verb := range rooms[i].Taps {
						assert.Error(t, w.tap(t, alice, verb+":x"), "which is the answer to the tap")
					}
					for kind := range rooms[i].Late {
						assert.Error(t, w.tap(t, alice, w.oldButton(t, kind)), "which is the answer to the tap")
					}
					unparked = 0
					w.sender.mu.Lock()
					w.sender.parked = map[int64]bool{alice: true}
					w.sender.mu.Unlock()
					text := guard.Call(func() error { _, err := w.hear(t, "a text"); return err }) // as the inbox does
					assert.Error(t, text, "it may be meant for the feature, so that it is no prompt")
					assert.Equal(t, 1, unparked, "the others hear that the chat takes messages")
					assert.Error(t, w.Forget(t.Context(), uuid.New()))
					assert.Equal(t, 1, forgot, "the others forget")
					assert.Equal(t, 1, others, "the others run on")
					assert.Contains(t, w.sender.texts(), chat.Warning+w.word(i18n.FeatureCrashed, i18n.Args{"Feature": broken.Name}))
					require.NoError(t, stop())
				}
			})
		})
	}
}

// TestP8_EveryOptionSurvivesARestart: of every card, whatever shows it.
func TestP8_EveryOptionSurvivesARestart(t *testing.T) {
	w := showsAllButtons(t)
	w.asks64(t, w.currentSession(t, "still asks", session.Running))
	w.again()
	kinds := make(map[string]bool)
	for id := range w.sender.sent {
		m := w.sender.now(id + 1)
		for _, data := range data(m) {
			if !card.IsButton(data) { // a link needs no card
				continue
			}
			tapped, fresh := w.Deps.Cards.Tap(t.Context(), m.To, id+1, data)
			assert.True(t, fresh, "%s: %s", tapped.Kind, m.Text.Text)
			kinds[tapped.Kind] = true
		}
	}
	for kind := range w.cardKinds() {
		assert.True(t, kinds[kind], "no card of the kind %s was tapped", kind)
	}
}

// TestP8_ACrashAtACommandEndsNothingElse: the command is followed again after a while.
func TestP8_ACrashAtACommandEndsNothingElse(t *testing.T) {
	inShell(t, func(t *testing.T, s *bashWorld) {
		shows, looks := s.sessions.output, 0
		s.sessions.output = func() lifecycle.Output {
			if looks++; looks <= 3 {
				panic("a mistake of ours")
			}
			return shows()
		}
		s.types("!make test")
		s.shows(s.rows("one"))
		time.Sleep(time.Minute)
		s.sends()
		assert.LessOrEqual(t, looks, 40, "and not at once again")
		require.Len(t, s.sender.sent, 1)
		assert.Equal(t, lines("$ make test", "one", s.word(i18n.OutputRuns)), s.sender.sent[0].Text.Text)
	})
}

// One who hears of a change and crashes does not keep the news from the others.
func TestAnEventThatCrashesReachesTheOthers(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Running)
	heard := 0
	crash := func() { panic("a mistake of ours") }
	w.Events = conversation.Events{
		Current: []func(context.Context, outbox.Conversation, uuid.UUID) error{
			func(context.Context, outbox.Conversation, uuid.UUID) error { crash(); return nil },
			func(context.Context, outbox.Conversation, uuid.UUID) error { heard++; return nil },
		},
		Shown: []func(views.Session){func(views.Session) { crash() }, func(views.Session) { heard++ }},
	}
	seen, ok := w.Book.Records.Get(r.ID)
	require.True(t, ok)
	require.Error(t, w.MakeCurrent(t.Context(), atAlice, r.ID))
	require.Error(t, w.MoveTo(t.Context(), inTopic, seen))
	assert.Equal(t, 2, heard)
}

// TestP8_AResumeThatCrashesEndsNoOther: of several at once, the others come back.
func TestP8_AResumeThatCrashesEndsNoOther(t *testing.T) {
	w, offered, m := wentDownWorld(t)
	w.sessions.restore = func(id uuid.UUID) (session.Record, error) {
		if id == offered[0].ID {
			panic("a mistake of ours")
		}
		return w.record(t, id), nil
	}
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAll))
	assert.ElementsMatch(t, restores(offered...), w.restored())
	assert.Contains(t, w.sender.texts(), w.word(i18n.InternalError))
}

// TestP8_ACrashAtACardEndsNothingElse: neither where cards are taken up, nor where a feature hears
// that Telegram takes none.
func TestP8_ACrashAtACardEndsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		told := 0
		cards := card.NewKind(w.Deps.Cards, "broken", func(context.Context, card.Card[struct{}], error) {
			told++
			panic("a mistake of ours")
		})
		look := card.Look{To: atAlice, Text: render.Plain("one")}
		require.NoError(t, cards.Show(t.Context(), "k", look, struct{}{}))
		posts := 0
		w.sender.post = func(outbox.Message) error {
			if posts++; posts == 1 {
				panic("a mistake of ours")
			}
			return nil
		}
		stop := w.running(t)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Greater(t, posts, 1, "it is taken up again")
		require.NoError(t, stop())
		require.Len(t, w.sender.waiting, 1)
		post := w.sender.waiting[0].Name
		_, ok := w.Deps.Cards.Current(post, atAlice) // which Telegram is offered
		require.True(t, ok)
		w.Deps.Cards.Refused(t.Context(), post, &outbox.Refused{Err: outbox.ErrGone})
		assert.Equal(t, 1, told)
	})
}
