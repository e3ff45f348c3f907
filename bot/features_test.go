package bot_test

import (
	"context"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/guard"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// tellers are the features that notify people of news; they handle these last.
var tellers = map[string][]string{
	"files":     {"FileOffered"},
	"sessions":  {"Ready", "Retrying", "Ended", "Failed", "Lost", "Stopped", "Opened", "Moved", "Spared"},
	"prompt":    {"Held", "Unproven", "Typed", "Delivered", "TakenBack", "DraftCleared", "Requeued"},
	"dialog":    {"Dialog", "NotReporting"},
	"writers":   {"OtherWriters", "Transferred"},
	"answers":   {"Transcript"},
	"modes":     {"Switched"},
	"loops":     {"Looped"},
	"schedules": {"Scheduled"},
	"":          {"DialogGone", "Doing", "Renamed"}, // no notice is sent
}

// Each feature handles each piece of news once, in the order of the features; only the notifying
// feature handles it last.
func TestFeatures_NewsIsHeardInOrder(t *testing.T) {
	w := chattest.NewWorld(t)
	features := w.Features()
	var names, heard []string
	for i, f := range features {
		if f.OnNews == nil {
			continue
		}
		names = append(names, f.Name)
		features[i].OnNews = func(context.Context, port.Session, news.News) error {
			heard = append(heard, f.Name)
			return nil
		}
	}
	w.Install(features)
	for _, name := range chattest.NewsNames(t) {
		r, n := w.News(t, name)
		kind := reflect.TypeOf(w.Hosted.News(r, n)).Name()
		want, last := slices.Clone(names), 0
		for teller, kinds := range tellers {
			if slices.Contains(kinds, kind) {
				last++
				want = slices.DeleteFunc(want, func(name string) bool { return name == teller })
				if teller != "" {
					want = append(want, teller)
				}
			}
		}
		require.Equal(t, 1, last, "%s has one teller", name)
		heard = nil
		require.NoError(t, w.SessionNews(t.Context(), r, n))
		assert.Equal(t, want, heard, name)
	}
}

// A text is offered to features in an order different from theirs. A message without text is
// offered to none.
func TestFeatures_TextsAreOfferedInOrder(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	features := w.Features()
	var offered []string
	all := make(map[string]bool)
	for i, f := range features {
		if f.Text != nil {
			all[f.Name] = true
			features[i].Text = func(context.Context, *chat.Incoming, string) (bool, error) {
				offered = append(offered, f.Name)
				return false, nil
			}
		}
	}
	slices.Reverse(features)
	w.Install(features)
	w.MustHear(t, "a text")
	assert.Equal(t, []string{"pages", "rename", "ask", "browse", "prompt"}, offered)
	assert.Len(t, all, len(offered), "each feature that may take a text is asked")
}

// A handler of an event calls no port, because sessions send news while they work.
func TestFeatures_EventHandlersCallNoPort(t *testing.T) {
	w := chattest.ShowsAllButtons(t)
	crashes := new(strings.Builder)
	w.Log = slog.New(slog.NewTextHandler(crashes, nil))
	w.Again()
	id := w.Current(chattest.AtAlice)
	for _, name := range chattest.NewsNames(t) {
		w.AsksFor(t, w.Record(t, id), "Bash", chattest.Bash)
		e := w.Prompt(t, w.Record(t, id), "the prompt", inbox.Typing)
		for _, class := range []talk.PromptClass{talk.ClassPlain, talk.ClassBash} {
			n := chattest.Sample{Prompt: talk.Prompt{Key: e.Key, Text: e.Text, Class: class}, Screen: "the screen", Draft: "a draft",
				Writer: chattest.InTerminal(4123)}.News(t, name)
			r := w.Record(t, id)
			reported := w.Hosted.News(r, n)
			w.WithoutPorts(func() { assert.NoError(t, w.Bot.SessionNews(t.Context(), chattest.ViewOf(r), reported), name) })
		}
		assert.NotContains(t, crashes.String(), "a port is called", name)
		crashes.Reset()
	}
	w.WithoutPorts(func() {
		assert.NoError(t, w.MakeCurrent(t.Context(), chattest.AtAlice, 0, id))
		seen, _ := w.Book.Records.Get(id)
		assert.NoError(t, w.OnShown(seen))
		for _, f := range w.Installed {
			if f.OnMachine != nil {
				f.OnMachine("bbbb")
			}
			if f.OnResumed != nil {
				f.OnResumed(t.Context(), chattest.Alice)
			}
			for _, kind := range []talk.Kind{talk.Text, talk.ToolResult, talk.PermissionDecision, talk.Interrupt, talk.TurnEnd} {
				if f.OnItem != nil {
					f.OnItem(id, talk.Item{Kind: kind})
				}
			}
			if f.OnMoved != nil {
				stays := func(at outbox.Conversation) (outbox.Conversation, bool) { return at, false }
				assert.NoError(t, f.OnMoved(t.Context(), stays))
			}
		}
	})
}

// A command, a verb and a kind of card belong to one feature, and every feature has a name.
func TestFeatures_NothingIsClaimedTwice(t *testing.T) {
	w := chattest.NewWorld(t)
	owner := make(map[string]string)
	claim := func(what, who string) {
		assert.Empty(t, owner[what], what)
		owner[what] = who
	}
	for _, f := range w.Installed {
		require.NotEmpty(t, f.Name)
		claim("feature "+f.Name, f.Name)
		for _, c := range f.Commands {
			claim("/"+c.Name, f.Name)
		}
		for kind := range f.Cards {
			claim("card "+kind, f.Name)
		}
	}
}

// TestP7_TapIsAnsweredDuringHang: the person gets an immediate answer, even if the agent's machine
// is slow.
func TestP7_TapIsAnsweredDuringHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := chattest.ShowsAllButtons(t)
		for _, m := range append(append(w.Telegram.Posted, w.Telegram.Sent...), w.Telegram.Edited...) {
			for _, one := range chattest.Data(m) { // TestP8_OptionsSurviveRestart has all cards
				assert.True(t, chattest.IsButton(one), one)
				w.AnswersWhileItHangs(t, m, one)
			}
		}
	})
}

// The messages of a forgotten session leave no file, and no file names it; unsent messages stay.
func TestFeatures_ForgottenSessionLeavesNoFile(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.ShowsEveryButton(t)
		folders := []string{"asks", "cards", "chats"}
		kept := 0
		for _, folder := range folders {
			kept += len(chattest.FilesIn(t, w.Dir, folder))
		}
		require.NotZero(t, kept)
		for _, r := range w.Records.List() {
			require.NoError(t, w.Forget(t.Context(), r.ID))
			for _, folder := range folders {
				for _, name := range chattest.FilesIn(t, w.Dir, folder) {
					kept, err := os.ReadFile(name)
					require.NoError(t, err)
					assert.NotContains(t, string(kept), r.ID.String())
				}
			}
		}
	})
}

// A list that shows a forgotten session stays for the others. An answer to one of its messages,
// those sent only then included, is never taken for one to another session.
func TestP7_ForgottenSessionsMessageNamesNoOther(t *testing.T) {
	w := chattest.NewWorld(t)
	r, other := w.NewCurrentSession(t, "api", session.Archived), w.NewCurrentSession(t, "web", session.Running)
	require.NoError(t, w.Sent(chattest.AtAlice, 501, r.ID))
	require.NoError(t, w.Chats.NoteNoticed(chattest.AtAlice, r.ID, talk.Cursor{Path: "t"}))
	require.NoError(t, w.Chats.NotePrompt(chattest.AtAlice, 502, "1", r.ID, time.Time{}, chattest.Alice))
	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Running }) // so that it is in the list
	inList, others := w.Listed(t, r), w.Listed(t, other)
	require.NoError(t, w.Forget(t.Context(), r.ID))
	w.Records.Forget(r.ID)
	require.NoError(t, w.Sent(chattest.AtAlice, 503, r.ID))
	for _, name := range slices.Concat(chattest.FilesIn(t, w.Dir, "chats"), chattest.FilesIn(t, w.Dir, "cards")) {
		kept, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.NotContains(t, string(kept), r.ID.String())
	}
	for _, message := range []int{501, 502, 503} {
		_, answered, known := w.Answered(conversation.Message{To: chattest.AtAlice, ReplyTo: message, OfBot: true})
		assert.Equal(t, []bool{true, false}, []bool{answered, known}, message)
	}
	require.NoError(t, w.TapSpot(t, chattest.Alice, inList))
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.SessionGone))
	require.NoError(t, w.TapSpot(t, chattest.Alice, others))
	assert.Equal(t, other.ID, w.CurrentID(chattest.AtAlice, 0))
}

// crashes makes each function of a feature panic.
func crashes(f chat.Feature) chat.Feature {
	for i := range f.Commands {
		f.Commands[i].Run = func(context.Context, chat.Incoming, string) error { panic("a mistake of ours") }
	}
	tap := func(context.Context, chat.Tap) (chat.Answer, error) { panic("a mistake of ours") }
	for kind := range f.Cards {
		f.Cards[kind] = tap
	}
	hear := func(context.Context, port.Session, news.News) error { panic("a mistake of ours") }
	if f.OnNews != nil {
		f.OnNews = hear
	}
	for kind := range f.Late {
		f.Late[kind] = func(chat.Tap) string { panic("a mistake of ours") }
	}
	if f.Text != nil {
		f.Text = func(context.Context, *chat.Incoming, string) (bool, error) { panic("a mistake of ours") }
	}
	f.OnResumed = func(context.Context, int64) { panic("a mistake of ours") }
	f.Forget = func(context.Context, uuid.UUID) error { panic("a mistake of ours") }
	f.Run = func(context.Context) error { panic("a mistake of ours") }
	return f
}

// TestP8_CrashingFeatureEndsNothingElse, in each function, repeatedly, and after a restart.
func TestP8_CrashingFeatureEndsNothingElse(t *testing.T) {
	t.Parallel()
	for i, broken := range chattest.NewWorld(t).Features() {
		t.Run(broken.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				r := w.NewCurrentSession(t, "api", session.Running)
				for range 2 {
					w.Again()
					features := w.Features()
					features[i] = crashes(features[i])
					others, unparked, forgot := 0, 0, 0
					features = append(features, chat.Feature{Name: "another", OnResumed: func(context.Context, int64) { unparked++ },
						Forget: func(context.Context, uuid.UUID) error { forgot++; return nil },
						Run: func(ctx context.Context) error {
							others++
							<-ctx.Done()
							return nil
						}})
					w.Install(features)
					stop := w.Running(t)
					time.Sleep(10 * time.Second)
					synctest.Wait()
					for _, name := range chattest.NewsNames(t) {
						reported := len(w.Telegram.Texts())
						_, n := w.News(t, name)
						assert.NoError(t, w.SessionNews(t.Context(), r, n), name)
						crashed := features[i].OnNews != nil
						assert.Equal(t, crashed, slices.Contains(w.Telegram.Texts()[reported:], chat.Warning+w.Word(i18n.InternalError)), name)
					}
					hears := func(text string) error { // as the inbox does, which tells the person
						return guard.Call(func() error { _, err := w.Hear(t, text); return err })
					}
					for _, c := range features[i].Commands {
						assert.Error(t, hears("/"+c.Name), c.Name)
					}
					for kind := range features[i].Cards {
						assert.Error(t, w.TapButton(t, chattest.Alice, w.NewButton(t, kind)), "which is the answer to the tap")
					}
					for kind := range features[i].Late {
						assert.Error(t, w.TapButton(t, chattest.Alice, w.OldButton(t, kind)), "which is the answer to the tap")
					}
					unparked = 0
					w.Telegram.Mu.Lock()
					w.Telegram.OnParked = map[int64]bool{chattest.Alice: true}
					w.Telegram.Mu.Unlock()
					assert.Equal(t, features[i].Text != nil, hears("a text") != nil, "it may be meant for the feature, so that it is no prompt")
					assert.Equal(t, 1, unparked, "the others hear that the chat takes messages")
					assert.Error(t, w.Forget(t.Context(), uuid.New()))
					assert.Equal(t, 1, forgot, "the others forget")
					assert.Equal(t, 1, others, "the others run on")
					assert.Contains(t, w.Telegram.Texts(), chat.Warning+w.Word(i18n.FeatureCrashed))
					require.NoError(t, stop())
				}
			})
		})
	}
}

// The options of every card act as before after a restart.
func TestP8_OptionsSurviveRestart(t *testing.T) {
	w := chattest.ShowsAllButtons(t)
	w.Asks64(t, w.NewCurrentSession(t, "still asks", session.Running))
	w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) { return false, typing.ErrAsks }
	w.MustHear(t, "/stop")
	w.MustSayInForum(t, 0, "/waiting")
	require.NoError(t, w.Handle(t.Context(), "9", joined(chattest.Alice, theirGroup)))
	looped := w.Session(t, "looped", session.Running)
	w.Loops(t, looped, port.Loop{ID: uuid.New(), Session: looped.ID, State: port.LoopPaused, Reason: port.WhyNoProgress}, true)
	w.Records.Change(looped.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: theirs - 1} })
	w.Admit(conversation.Lists{People: w.Bot.Allowed().People, Groups: map[int64]bool{chattest.Ours: true, theirs - 1: true}})
	w.Telegram.OnParked = map[int64]bool{theirs - 1: true}
	require.NoError(t, w.Shut.Report(t.Context()))
	_, err := w.Inbox.Add(inbox.Entry{Key: talk.PromptKey(uuid.New()), State: inbox.Held, Session: looped.ID, By: chattest.Eve, Text: "x"})
	require.NoError(t, err)
	require.NoError(t, w.TellPlanners(t.Context()))
	w.MustHear(t, "/rename") // another current session has ended the question before
	w.Install(append(w.Features(), shelf(nil)))
	require.NoError(t, w.Pages.Open(t.Context(), chat.Incoming{Message: conversation.Message{To: chattest.AtAlice}}, "shelf"))
	w.Work(t)
	w.Again()
	kinds := make(map[string]bool)
	for id := range w.Telegram.Sent {
		m := w.Telegram.Now(id + 1)
		for _, data := range chattest.Data(m) {
			tapped, fresh := w.Deps.Cards.Tap(t.Context(), m.To, id+1, data)
			assert.True(t, fresh, "%s: %s", tapped.Kind, m.Text.Text)
			kinds[tapped.Kind] = true
		}
	}
	for kind := range w.CardKinds() {
		assert.True(t, kinds[kind], "no card of the kind %s was tapped", kind)
	}
}

// TestP8_CommandCrashEndsNothingElse: the command is followed again after a while.
func TestP8_CommandCrashEndsNothingElse(t *testing.T) {
	chattest.InShell(t, func(t *testing.T, s *chattest.BashWorld) {
		shows, looks := s.Lifecycle.OnOutput, 0
		s.Lifecycle.OnOutput = func() port.Output {
			if looks++; looks <= 3 {
				panic("a mistake of ours")
			}
			return shows()
		}
		s.Types("!make test")
		s.Shows(s.Rows("one"))
		time.Sleep(time.Minute)
		s.Sends()
		assert.LessOrEqual(t, looks, 40, "and not at once again")
		require.Len(t, s.Telegram.Sent, 1)
		assert.Equal(t, chattest.Lines("$ make test", "one", s.Word(i18n.OutputRuns)), s.Telegram.Sent[0].Text.Text)
	})
}

// TestP8_ResumeCrashEndsNoOther: of several at once, the others come back.
func TestP8_ResumeCrashEndsNoOther(t *testing.T) {
	w, offered, m := chattest.WentDownWorld(t)
	w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
		if id == offered[0].ID {
			panic("a mistake of ours")
		}
		return w.Record(t, id), nil
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAll))
	assert.ElementsMatch(t, chattest.Restores(offered...), w.Restored())
	assert.Contains(t, w.Telegram.Texts(), w.Word(i18n.InternalError))
}

// TestP8_CardCrashEndsNothingElse, neither when cards are loaded, nor when Telegram refuses one.
func TestP8_CardCrashEndsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		reported := 0
		cards := card.NewKind(w.Deps.Cards, "broken", func(context.Context, card.Card[struct{}], error) {
			reported++
			panic("a mistake of ours")
		})
		look := card.Content{To: chattest.AtAlice, Text: render.Plain("one")}
		require.NoError(t, cards.Show(t.Context(), "k", look, struct{}{}))
		posts := 0
		w.Telegram.OnPost = func(outbox.Message) error {
			if posts++; posts == 1 {
				panic("a mistake of ours")
			}
			return nil
		}
		stop := w.Running(t)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Greater(t, posts, 1, "it is taken up again")
		require.NoError(t, stop())
		require.Len(t, w.Telegram.Waiting, 1)
		post := w.Telegram.Waiting[0].Name
		_, ok := w.Deps.Cards.Current(post, chattest.AtAlice) // which Telegram is offered
		require.True(t, ok)
		w.Deps.Cards.Refused(t.Context(), post, chattest.AtAlice, 0, &outbox.Refused{Err: outbox.ErrGone})
		assert.Equal(t, 1, reported)
	})
}

// The log of a crash names the feature, also at a tap and at news.
func TestFeatures_CrashLogNamesFeature(t *testing.T) {
	for i, broken := range chattest.NewWorld(t).Features() {
		t.Run(broken.Name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			log := new(strings.Builder)
			w.Log = slog.New(slog.NewTextHandler(log, nil))
			w.Again()
			features := w.Features()
			features[i] = crashes(features[i])
			w.Install(features)
			crashed := 0
			for kind := range features[i].Cards {
				require.Error(t, w.TapButton(t, chattest.Alice, w.NewButton(t, kind)))
				crashed++
			}
			for _, name := range chattest.NewsNames(t) {
				r, n := w.News(t, name)
				if features[i].OnNews != nil {
					require.NoError(t, w.SessionNews(t.Context(), r, n))
					crashed++
				}
			}
			assert.LessOrEqual(t, crashed, strings.Count(log.String(), "feature_crashed"))
			assert.Equal(t, strings.Count(log.String(), "feature_crashed"), strings.Count(log.String(), "feature="+broken.Name+" "))
		})
	}
}
