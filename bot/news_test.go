package bot_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// reported is the notice of one kind of news: its text, its place, and its buttons.
type reported struct {
	says    func(w *chattest.World) []string
	buttons []i18n.Key
	reply   bool // under the message that it is about, in that message's chat
}

func tellings() map[string]reported {
	name := func(keys ...i18n.Key) func(*chattest.World) []string {
		return func(w *chattest.World) []string {
			var all []string
			for _, key := range keys {
				all = append(all, w.Word(key, i18n.Args{"Name": "api", "Agent": "Claude Code", "Command": "tmux attach", "Count": 2, "Window": "@21",
					"State": w.Word(i18n.StateArchived), "Age": w.In(chattest.AtAlice).Age(lifecycle.StartNotice), "Time": w.In(chattest.AtAlice).Moment(chattest.Started), "At": w.In(chattest.AtAlice).At(chattest.Started)}))
			}
			return all
		}
	}
	return map[string]reported{
		"Ready":        {says: name(i18n.Ready)},
		"NotReporting": {says: name(i18n.ClaudeNotReady, i18n.AttachHint)},
		"Dialog":       {says: name(i18n.DialogOpen, i18n.AttachHint)},
		"DialogGone":   {}, // the dialog's own message
		"queued":       {says: name(i18n.Queued), reply: true},
		"held_dialog":  {says: name(i18n.HeldDialog), reply: true, buttons: []i18n.Key{i18n.ButtonShowQuestion}},
		"held_bash":    {says: name(i18n.HeldBash), reply: true},
		"held_draft":   {says: name(i18n.HeldDraft), reply: true, buttons: []i18n.Key{i18n.ButtonSendAnyway}},
		"DraftCleared": {says: name(i18n.DraftCleared)},
		chattest.SecondWriter: {says: name(i18n.WritersSecond),
			buttons: []i18n.Key{i18n.ButtonShow, i18n.ButtonTakeOver, i18n.ButtonForkInstead, i18n.ButtonCancel}},
		"OtherWriters": {says: name(i18n.WritersGhost), buttons: []i18n.Key{i18n.ButtonShow, i18n.ButtonStopIt}},
		"held_unknown": {says: name(i18n.HeldUnknown), reply: true},
		"held_scroll":  {says: name(i18n.HeldScroll), reply: true},
		"held_keys": {says: func(w *chattest.World) []string {
			return []string{w.Word(i18n.HeldKeys, i18n.Args{"Name": "api", "Path": "", "Binding": ""})}
		}, reply: true},
		"held_sync":   {says: name(i18n.HeldSync), reply: true},
		"held_budget": {says: name(i18n.HeldBudget), reply: true},
		"held_costs":  {says: name(i18n.HeldCosts), reply: true},
		"held_small":  {says: name(i18n.HeldSmall), reply: true},
		"Unproven":    {says: name(i18n.Unproven), reply: true, buttons: []i18n.Key{i18n.ButtonSendAgain, i18n.ButtonDrop}},
		"TakenBack":   {says: name(i18n.StopAsk), reply: true, buttons: []i18n.Key{i18n.ButtonSendAgain, i18n.ButtonDrop}},
		"Failed":      {says: name(i18n.FailedStart, i18n.ReceiptWaiting), buttons: []i18n.Key{i18n.ButtonResume}},
		"Lost":        {says: name(i18n.Lost, i18n.ReceiptWaiting), buttons: []i18n.Key{i18n.ButtonResume}},
		"Ended":       {says: name(i18n.Ended, i18n.ReceiptWaiting), buttons: []i18n.Key{i18n.ButtonResume}},
		"Stopped":     {says: name(i18n.ReceiptArchived), buttons: []i18n.Key{i18n.ButtonUndo}},
		"Retrying": {says: func(w *chattest.World) []string {
			return []string{w.Word(i18n.RequestFails, i18n.Args{"Name": "api", "Agent": "Claude", "Reason": "529 Overloaded",
				"At": w.In(chattest.AtAlice).At(chattest.Started)}), "/stop"}
		}},
		"Doing": {}, // the card of a turn
		"Switched": {says: func(w *chattest.World) []string {
			return []string{w.Word(i18n.SwitchedMode, i18n.Args{"Name": "api", "What": w.Word(i18n.ModeKey.Of("plan"))})}
		}},
		"Typed":       {}, // a reaction
		"Delivered":   {}, // a reaction
		"Transcript":  {}, // shown by the transcript
		"Renamed":     {}, // the person who renamed it gets a reply
		"Requeued":    {}, // shown by the queue
		"FileOffered": {}, // the file itself
		"Opened": {says: func(w *chattest.World) []string {
			return []string{w.Word(i18n.Started, i18n.Args{"Name": "api", "Dir": w.Short(w.Records.List()[0].Dir)})}
		}},
		"Moved": {says: func(w *chattest.World) []string {
			return []string{w.Word(i18n.WorksIn, i18n.Args{"Name": "api", "Dir": w.Short(w.Records.List()[0].Dir)})}
		}},
		"Spared": {says: func(w *chattest.World) []string {
			return []string{w.Word(i18n.ListSchedules, i18n.Args{"Count": 1})}
		}, buttons: []i18n.Key{i18n.ButtonArchiveAnyway}},
		"Transferred": {says: name(i18n.Adopted, i18n.AdoptedAsks)},
		"Scheduled": {says: func(w *chattest.World) []string {
			return []string{w.Word(i18n.ScheduleSent, i18n.Args{"Name": "api", "Said": "run"})}
		}},
		"Looped": {says: func(w *chattest.World) []string {
			return []string{w.Word(i18n.LoopTitle, i18n.Args{"Name": "api", "Said": w.Word(i18n.LoopNowKey.Of("turn"))})}
		}, buttons: []i18n.Key{i18n.ButtonLoopPause, i18n.ButtonLoopStop, i18n.ButtonChanges}},
	}
}

func TestKindsOfNewsAreReported(t *testing.T) {
	table := tellings()
	for _, kind := range chattest.NewsNames(t) {
		t.Run(kind, func(t *testing.T) {
			want, ok := table[kind]
			require.True(t, ok, "say in this table what the chat is told")
			w := chattest.NewWorld(t)
			r, n := w.News(t, kind)
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			if want.says == nil {
				assert.Empty(t, w.Telegram.Texts())
				return
			}
			all := w.Telegram.ShownOnce()
			require.Len(t, all, 1)
			m := all[0]
			for _, text := range want.says(w) {
				assert.Contains(t, m.Text.Text, text)
			}
			assert.Equal(t, w.WordsOf(want.buttons...), chattest.Words(m))
			if want.reply {
				assert.Equal(t, []any{chattest.AtAlice, 77}, []any{m.To, m.ReplyTo}, "under the message it is about")
				return
			}
			assert.Equal(t, []any{chattest.InGroup, 0}, []any{m.To, m.ReplyTo}, "where the session is shown")
		})
	}
}

func TestUnknownNewsIsAnError(t *testing.T) {
	w := chattest.NewWorld(t)
	type aLaterDays struct{ news.Piece }
	r := w.Session(t, "api", session.Archived)
	assert.ErrorContains(t, w.SessionNews(t.Context(), r, aLaterDays{}), "aLaterDays")
	assert.Empty(t, w.Telegram.Done())
}

func TestUnsavedNewsIsError(t *testing.T) {
	for kind, want := range tellings() {
		if want.says == nil {
			continue
		}
		w := chattest.NewWorld(t)
		w.Telegram.OnPost = chattest.Refuse
		r, n := w.News(t, kind)
		assert.ErrorContains(t, w.SessionNews(t.Context(), r, n), chattest.ErrDisk.Error(), kind)
	}
}

// TestP5_LateNewsAreReported: news that an older program could not read come after later ones of
// their session. They are reported once, and change nothing that the chat shows of its present.
func TestP5_LateNewsAreReported(t *testing.T) {
	for _, kind := range chattest.NewsNames(t) {
		w := chattest.NewWorld(t)
		r, n := w.News(t, kind)
		if !news.IsKept(w.Hosted.News(r, n)) || tellings()[kind].says == nil {
			continue
		}
		r.LastNews = 9
		require.NoError(t, w.SessionNews(t.Context(), r, news.Switched{ModeChange: port.ModeChange{Mode: "plan"}}))
		require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
		w.Telegram.Deliver(t.Context())
		did, shown := w.Telegram.Done(), w.Telegram.ShownOnce()
		s := chattest.ViewOf(r)
		s.News = 7
		require.NoError(t, w.Bot.SessionNews(t.Context(), s, w.Hosted.News(r, n)))
		assert.Equal(t, did, w.Telegram.Done(), "%s: older ones are those that the chat has", kind)
		s.Late = true
		for range 2 { // a kill repeats them
			require.NoError(t, w.Bot.SessionNews(t.Context(), s, w.Hosted.News(r, n)))
		}
		w.Telegram.Deliver(t.Context())
		assert.Len(t, w.Telegram.Done(), len(did)+1, kind)
		assert.Subset(t, w.Telegram.ShownOnce(), shown, "%s close no dialog", kind)
	}
}

// A kill after the report is stored, and before its number is, repeats no message: also the news
// that edit the message of a begin.
func TestP8_KillAfterReportRepeatsNothing(t *testing.T) {
	for _, kind := range chattest.NewsNames(t) {
		w := chattest.NewWorld(t)
		r, n := w.News(t, kind)
		if !news.IsKept(w.Hosted.News(r, n)) {
			continue
		}
		r.LastNews = 7
		w.Dies(t, "news-shown", func() error { return w.SessionNews(t.Context(), r, n) })
		w.Telegram.Deliver(t.Context())
		did := w.Telegram.Done()
		w.Again()
		require.NoError(t, w.SessionNews(t.Context(), r, n), kind)
		assert.Equal(t, did, w.Telegram.Done(), kind)
		require.NoError(t, w.SessionNews(t.Context(), r, n), kind)
		assert.Equal(t, did, w.Telegram.Done(), kind)
		r.LastNews++
		require.NoError(t, w.SessionNews(t.Context(), r, n), kind)
		if want := tellings()[kind]; want.says != nil {
			assert.NotEqual(t, did, w.Telegram.Done(), "later %s are others", kind)
		}
	}
}

// The message about the begin of a session also reports that it is ready; its card has the number.
func TestP8_KillAfterReadyRepeatsNothing(t *testing.T) {
	for _, together := range []bool{false, true} {
		w := chattest.NewWorld(t)
		r := w.Session(t, "api", session.Archived)
		back := func(id uuid.UUID) (session.Record, error) {
			w.Records.Change(id, func(r *session.Record) { r.State = session.Restoring })
			return w.Record(t, id), nil
		}
		w.Lifecycle.OnRestore = back
		if together {
			_, err := w.Resumer.Together.Show(t.Context(), chattest.AtAlice, []port.Session{chattest.ViewOf(r)})
			require.NoError(t, err)
		} else {
			w.MustHear(t, "/resume api")
		}
		w.Telegram.Deliver(t.Context())
		w.Records.Change(r.ID, func(r *session.Record) { r.State, r.LastNews = session.Running, 7 })
		r = w.Record(t, r.ID)
		w.Dies(t, "news-shown", func() error { return w.SessionNews(t.Context(), r, news.Ready{}) })
		w.Telegram.Deliver(t.Context())
		did := w.Telegram.Done()
		w.Again()
		require.NoError(t, w.SessionNews(t.Context(), r, news.Ready{}))
		assert.Equal(t, did, w.Telegram.Done())
	}
}

// A report that the disk does not take is made when the news come again.
func TestP8_UntakenNewsAreTakenLater(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Telegram.OnPost = chattest.Refuse
	r, n := w.News(t, "Lost")
	r.LastNews = 7
	require.Error(t, w.SessionNews(t.Context(), r, n))
	w.Telegram.OnPost = nil
	require.NoError(t, w.SessionNews(t.Context(), r, n))
	assert.NotEmpty(t, w.Telegram.Done())
}

func TestP9_RemovedPersonGetsNoNews(t *testing.T) {
	for _, kind := range chattest.NewsNames(t) {
		t.Run(kind, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r, n := w.News(t, kind)
			delete(w.People, chattest.Alice)
			delete(w.Groups, chattest.Ours)
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			assert.Empty(t, w.Telegram.Done())
		})
	}
}

func TestDeliveredIsAReaction(t *testing.T) {
	w := chattest.NewWorld(t)
	r, reported := w.News(t, "Delivered")
	n := reported.(news.Delivered)
	require.NoError(t, w.SessionNews(t.Context(), r, n))
	assert.Equal(t, []string{"react 👌 to 77 in 7", "typing in 7"}, w.Telegram.Done())
	require.NoError(t, w.SessionNews(t.Context(), r, news.Typed(n)))
	assert.Equal(t, chattest.ReactionTyped, w.Telegram.Reaction(77))
	require.NoError(t, w.Inbox.Store.Finish(n.Prompt.Key))
	assert.NoError(t, w.SessionNews(t.Context(), r, n), "a receipt without an entry is nothing to fail on")
}

func TestNewsTranscriptStartsAReader(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Running(t)
	r, n := w.News(t, "Transcript")
	require.NoError(t, w.SessionNews(t.Context(), r, n))
	chattest.Receive(t, w.ReaderOf(r)) // it has nothing to read
	assert.Empty(t, w.Telegram.Done())
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"))
	w.Records.Change(r.ID, func(r *session.Record) { r.Cursors = []talk.Cursor{c} })
	require.NoError(t, w.SessionNews(t.Context(), r, n))
	w.Expect(t, "post "+w.Notice("api", "one"))
}

// A text that waits for what only ccbot's words can name is told of it: a word of the agent that ccbot
// does not know, or a conversation that is no longer in its window.
func TestHeldTextNamesTheState(t *testing.T) {
	for what, want := range map[string]func(w *chattest.World) string{
		"dreaming": func(w *chattest.World) string {
			return w.Word(i18n.HeldWord, i18n.Args{"Name": "api", "Said": "dreaming"})
		},
		talk.Elsewhere + "claude attach 1a5ea56d": func(w *chattest.World) string {
			return w.Word(i18n.HeldElsewhere, i18n.Args{"Name": "api", "Command": "claude attach 1a5ea56d"})
		},
	} {
		w := chattest.NewWorld(t)
		r, reported := w.News(t, "held_unknown")
		n := reported.(news.Held)
		n.Now = talk.Activity{Phase: talk.PhaseUnknown, What: what}
		require.NoError(t, w.SessionNews(t.Context(), r, n))
		all := w.Telegram.ShownOnce()
		require.Len(t, all, 1)
		assert.Contains(t, all[0].Text.Text, want(w))
	}
}

// A session that asked for bypass and began in auto mode says so when it is ready.
func TestReadyInAutoModeSaysSo(t *testing.T) {
	for _, inAuto := range []bool{false, true} {
		w := chattest.NewWorld(t)
		r, _ := w.News(t, "Ready")
		said := w.Shown(t, r, news.Ready{InAuto: inAuto}).Text.Text
		assert.Equal(t, inAuto, strings.Contains(said, w.Word(i18n.BeganInAuto, i18n.Args{"Name": "api"})), said)
	}
}

// A session that goes on in the background of its agent has not ended, and crashed neither.
func TestEndInTheBackgroundIsNamed(t *testing.T) {
	w := chattest.NewWorld(t)
	r, reported := w.News(t, "Ended")
	n := reported.(news.Ended)
	r.Exit, r.Prompts, n.Attach = &session.Exit{Known: true, Status: 3}, nil, "claude attach 1a5ea56d"
	m := w.Shown(t, r, n)
	assert.Equal(t, w.Word(i18n.EndedBackground, i18n.Args{"Name": "api", "Command": "claude attach 1a5ea56d"}), m.Text.Text)
	assert.False(t, m.Sounds)
}

func TestHowAnAgentEnded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		exit   *session.Exit
		want   i18n.Key
		screen bool
	}{
		{"a person's text asked for it", &session.Exit{Known: true}, i18n.EndedAsked, false},
		{"nobody saw it", nil, i18n.Ended, false},
		{"the status is not known", &session.Exit{Status: 1}, i18n.Ended, false},
		{"a clean exit", &session.Exit{Known: true}, i18n.Ended, false},
		{"a status", &session.Exit{Known: true, Status: 3}, i18n.CrashedStatus, true},
		{"a signal", &session.Exit{Known: true, Signal: 9}, i18n.CrashedSignal, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r, reported := w.News(t, "Ended")
			n := reported.(news.Ended)
			r.Exit, r.Prompts, n.ByPerson = tt.exit, nil, tt.want == i18n.EndedAsked
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			text := w.Word(tt.want, i18n.Args{"Name": "api", "Status": 3, "Signal": 9})
			if tt.screen {
				text += "\n" + w.Word(i18n.LastScreen) + "\nthe screen"
			}
			assert.Equal(t, text, w.Telegram.Last(t).Text.Text)
			names := bold(w.Telegram.Last(t))
			assert.Contains(t, names, "api")
			assert.Equal(t, tt.screen, len(w.Telegram.Last(t).Text.Entities) > len(names), "the screen is monospace")
			require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.Last(t), i18n.ButtonResume))
			assert.Contains(t, w.Lifecycle.Done(), "restore "+r.ID.String())
		})
	}
}

func TestLongScreenKeepsEnd(t *testing.T) {
	w := chattest.NewWorld(t)
	r, reported := w.News(t, "Failed")
	n := reported.(news.Failed)
	n.Screen = strings.Repeat("old\n", 100) + strings.Repeat(strings.Repeat("wide ", 60)+"\n", 29) + "the last line\n\n"
	require.NoError(t, w.SessionNews(t.Context(), r, n))
	require.Greater(t, len(w.Telegram.Posted), 1)
	all := strings.Join(w.Telegram.Texts(), "\n")
	assert.NotContains(t, all, "old")
	assert.Contains(t, all, "the last line")
	for i, m := range w.Telegram.Posted {
		assert.LessOrEqual(t, m.Text.Length(), 4096)
		assert.Equal(t, i == len(w.Telegram.Posted)-1, len(m.Buttons) > 0, "buttons stand under the last part")
	}
}

func TestP4_UnprovenPromptIsQuoted(t *testing.T) {
	for name, text := range map[string]string{"short": "fix it", "long": strings.Repeat("long 😀 ", 2000), "nothing to see": "\u2800",
		"only joiners": "\u200b\u200d"} {
		t.Run(name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r, reported := w.News(t, "Unproven")
			n := reported.(news.Unproven)
			require.NoError(t, w.Inbox.Change(n.Prompt.Key, func(e *inbox.Entry) error { e.Text = text; return nil }))
			require.NoError(t, w.SessionNews(t.Context(), r, n))
			m := w.LastSent(t)
			assert.LessOrEqual(t, m.Text.Length(), 4096)
			assert.Equal(t, w.WordsOf(i18n.ButtonSendAgain, i18n.ButtonDrop), chattest.Words(m))
			head, quote, _ := strings.Cut(m.Text.Text, "\n")
			assert.Equal(t, chattest.Warning+w.Word(i18n.Unproven, i18n.Args{"Name": "api", "Time": w.In(chattest.AtAlice).Moment(chattest.Started)}), head)
			assert.True(t, strings.HasPrefix(text, strings.TrimSpace(quote)))
			assert.Equal(t, chattest.ReactionNone, w.Telegram.Reaction(77))
		})
	}
}

func TestP4_UnprovenPromptInBoxIsReported(t *testing.T) {
	for _, seen := range []bool{true, false} {
		w := chattest.NewWorld(t)
		r, reported := w.News(t, "Unproven")
		n := reported.(news.Unproven)
		n.InBox = seen
		require.NoError(t, w.SessionNews(t.Context(), r, n))
		assert.Equal(t, seen, strings.HasSuffix(w.LastSent(t).Text.Text, "\n"+w.Word(i18n.UnprovenInBox)))
	}
}

func TestFinishedPromptsNewsIsNotReported(t *testing.T) {
	w := chattest.NewWorld(t)
	r, reported := w.News(t, "queued")
	n := reported.(news.Held)
	require.NoError(t, w.Inbox.Store.Finish(n.Prompt.Key))
	require.NoError(t, w.SessionNews(t.Context(), r, n))
	assert.Empty(t, w.Telegram.Done())
}

// A draft is removed from the box right after its report, so the report has all of it.
func TestP4_DraftIsReportedInFull(t *testing.T) {
	w := chattest.NewWorld(t)
	r, reported := w.News(t, "DraftCleared")
	n := reported.(news.DraftCleared)
	for _, draft := range []string{"short\n  indented", strings.Repeat("0123456789 ", 1000), "\u2800"} {
		w.Telegram.Posted = nil
		n.Draft = draft
		require.NoError(t, w.SessionNews(t.Context(), r, n))
		all := ""
		for _, m := range w.Telegram.Posted {
			assert.LessOrEqual(t, m.Text.Length(), chattest.Limit)
			assert.Equal(t, chattest.InGroup, m.To)
			all += m.Text.Text
		}
		reported := strings.Join(strings.Fields(strings.TrimPrefix(all, w.Named(i18n.DraftCleared, "api"))), "")
		assert.Equal(t, strings.Join(strings.Fields(draft), ""), reported)
	}
}

// TestFailedStartNamesReason: only a screen that asks for a login gets the advice to log in.
func TestFailedStartNamesReason(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    news.Failed
		want i18n.Key
	}{
		{"a flag", news.Failed{Screen: "error: unknown option '--nonsense'"}, i18n.FailedStart},
		{"a conversation in the background", news.Failed{Screen: "That session is running in the background (b828542d). Run `claude attach b828542d` to open it"}, i18n.FailedStart},
		{"a login that is missing", news.Failed{Screen: "Not logged in · Please run /login"}, i18n.FailedScreen},
		{"a login of another agent", news.Failed{Screen: "Sign in with ChatGPT"}, i18n.FailedScreen},
		{"nothing on the screen", news.Failed{Screen: "\n \n"}, i18n.FailedUnseen},
		{"another folder", news.Failed{Screen: "Please run /login", In: "/home/alice"}, i18n.FailedFolder},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Failed)
			require.NoError(t, w.SessionNews(t.Context(), r, tt.n))
			got := w.Telegram.Last(t).Text.Text
			assert.Contains(t, got, w.Word(tt.want, i18n.Args{"Name": "api", "Agent": "Claude Code", "In": w.Short("/home/alice"), "Dir": w.Short(r.Dir)}))
			assert.Contains(t, got, strings.TrimSpace(tt.n.Screen))
		})
	}
}
