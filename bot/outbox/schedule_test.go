package outbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"pgregory.net/rapid"

	"ccbot/bot/render"
	"ccbot/internal/session"
)

func TestNext(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	in := func(chat int64, edit ...func(*chatQueue)) *chatQueue {
		l := newChatQueue(chat)
		for _, e := range edit {
			e(l)
		}
		return l
	}
	jobs := func(ranks ...Rank) func(*chatQueue) {
		return func(l *chatQueue) {
			for i, r := range ranks {
				l.queue.add(&job{rank: r, messageID: i})
			}
		}
	}
	beside := func(kinds ...sideKind) func(*chatQueue) {
		return func(l *chatQueue) {
			for _, k := range kinds {
				l.sideCalls = append(l.sideCalls, &sideCall{kind: k, since: now})
			}
		}
	}
	spent := func(n int) func(*chatQueue) { return func(l *chatQueue) { l.budgets[0].AllowN(now, n) } }
	until := func(d time.Duration) func(*chatQueue) { return func(l *chatQueue) { l.until = now.Add(d) } }
	again := func(d time.Duration) func(*chatQueue) { return func(l *chatQueue) { l.again = now.Add(d) } }
	served := func(n uint64) func(*chatQueue) { return func(l *chatQueue) { l.served = n } }
	yielded := func(d time.Duration) func(*chatQueue) { return func(l *chatQueue) { l.yielded = d } }
	flying := func(l *chatQueue) { l.flying, l.first().flying = true, true }
	old := func(l *chatQueue) { l.sideCalls[0].since = now.Add(-reactTimeout) }
	late := func(l *chatQueue) { l.sideCalls[0].after = now.Add(7 * time.Second) }
	suspended := func(l *chatQueue) { l.suspended = true }
	const tick = time.Second + time.Millisecond
	// want is the chat of the next action's lane, with "job <n>" or "aside <n>"; or the time until
	// an action.
	tests := []struct {
		name   string
		chats  []*chatQueue
		flying int
		empty  bool // the budget of all chats is spent
		want   string
	}{
		{"nothing", nil, 0, false, "news"},
		{"empty lane", []*chatQueue{in(1)}, 0, false, "news"},
		{"longest without a turn", []*chatQueue{in(1, jobs(Now), served(7)), in(2, jobs(Now), served(3))}, 0, false, "2 job 0"},
		{"in the order of asking", []*chatQueue{in(1, jobs(Now, Now))}, 0, false, "1 job 0"},
		{"the present session first", []*chatQueue{in(1, jobs(Card, Later, Now, Now))}, 0, false, "1 job 2"},
		{"a question before a reply before a first answer", []*chatQueue{in(1, jobs(Talk, Answer, Now, Question))}, 0, false, "1 job 3"},
		{"a reply before a first answer before the rest", []*chatQueue{in(1, jobs(Talk, Answer, Now))}, 0, false, "1 job 2"},
		{"a first answer before the rest", []*chatQueue{in(1, jobs(Talk, Answer))}, 0, false, "1 job 1"},
		{"an answer that may yield once more", []*chatQueue{in(1, jobs(Now, Answer), yielded(9*time.Second))}, 0, false, "1 job 0"},
		{"an answer that has yielded", []*chatQueue{in(1, jobs(Now, Talk, Answer), yielded(9*time.Second+1))}, 0, false, "1 job 2"},
		{"an answer that has yielded, and a question", []*chatQueue{in(1, jobs(Question, Answer), yielded(time.Minute))}, 0, false, "1 job 0"},
		{"an answer in a group yields to fewer replies", []*chatQueue{in(-1, jobs(Now, Answer), yielded(6*time.Second))}, 0, false, "-1 job 1"},
		{"others before cards", []*chatQueue{in(1, jobs(Card, Later, Later))}, 0, false, "1 job 1"},
		{"others of one chat and the present one of another are equal", []*chatQueue{in(1, jobs(Now), served(7)), in(2, jobs(Later), served(3))}, 0, false, "2 job 0"},
		{"the card of one chat after the message of another", []*chatQueue{in(1, jobs(Card)), in(2, jobs(Later), served(9))}, 0, false, "2 job 0"},
		{"a card leaves the budget for an answer", []*chatQueue{in(1, jobs(Card), spent(2))}, 0, false, tick.String()},
		{"a card with enough budget", []*chatQueue{in(1, jobs(Card), spent(1))}, 0, false, "1 job 0"},
		{"an answer to a tap before all", []*chatQueue{in(2, jobs(Now)), in(1, jobs(Now), beside(tapAnswer))}, 0, false, "1 aside 0"},
		{"an answer before a reaction before typing", []*chatQueue{in(1, beside(typing, reaction, tapAnswer))}, 0, false, "1 aside 2"},
		{"messages before reactions", []*chatQueue{in(1, jobs(Later), beside(reaction))}, 0, false, "1 job 0"},
		{"messages of another chat before reactions", []*chatQueue{in(1, beside(reaction)), in(2, jobs(Later), served(9))}, 0, false, "2 job 0"},
		{"reactions while the budget is spent", []*chatQueue{in(1, jobs(Now), spent(3), beside(reaction))}, 0, false, "1 aside 0"},
		{"reactions while a message is under way", []*chatQueue{in(1, jobs(Now), flying, beside(reaction))}, 1, false, "1 aside 0"},
		{"a reaction that has waited too long", []*chatQueue{in(2, jobs(Now)), in(1, jobs(Now), beside(reaction), old)}, 0, false, "1 aside 0"},
		{"reactions before cards", []*chatQueue{in(1, jobs(Card), beside(reaction))}, 0, false, "1 aside 0"},
		{"cards before typing", []*chatQueue{in(1, jobs(Card), spent(3), beside(typing))}, 0, false, (2*time.Second + time.Millisecond).String()},
		{"typing is for a chat with nothing to say", []*chatQueue{in(1, jobs(Now), flying, beside(typing))}, 1, false, "news"},
		{"typing last", []*chatQueue{in(1, beside(typing)), in(2, jobs(Card), served(9))}, 0, false, "2 job 0"},
		{"typing", []*chatQueue{in(1, beside(typing))}, 0, false, "1 aside 0"},
		{"a reaction that failed waits, typing does not", []*chatQueue{in(1, beside(reaction, typing), late)}, 0, false, "1 aside 1"},
		{"a reaction that failed", []*chatQueue{in(1, beside(reaction), late)}, 0, false, "7s"},
		{"one at a time in a chat", []*chatQueue{in(1, jobs(Now, Now), flying)}, 1, false, "news"},
		{"one aside at a time in a chat", []*chatQueue{in(1, beside(tapAnswer), func(l *chatQueue) { l.sideBusy = true })}, 1, false, "news"},
		{"too many calls under way", []*chatQueue{in(1, jobs(Now))}, maxFlying, false, "news"},
		{"paused", []*chatQueue{in(1, jobs(Now), until(137*time.Second))}, 0, false, "2m17s"},
		{"paused one does not hold up others", []*chatQueue{in(1, jobs(Now), until(time.Hour)), in(2, jobs(Now))}, 0, false, "2 job 0"},
		{"aside of a paused chat waits", []*chatQueue{in(1, beside(tapAnswer), until(time.Second))}, 0, false, "1s"},
		{"failed", []*chatQueue{in(1, jobs(Now), again(4*time.Second))}, 0, false, "4s"},
		{"failed and paused", []*chatQueue{in(1, jobs(Now), again(4*time.Second), until(9*time.Second))}, 0, false, "9s"},
		{"asides of a chat whose message failed", []*chatQueue{in(1, jobs(Now), again(time.Hour), beside(reaction))}, 0, false, "1 aside 0"},
		{"budget of the chat spent", []*chatQueue{in(1, jobs(Now), spent(3))}, 0, false, tick.String()},
		{"shortest wait", []*chatQueue{in(1, jobs(Now), spent(3)), in(2, jobs(Now), until(time.Hour))}, 0, false, tick.String()},
		{"pause and budget", []*chatQueue{in(1, jobs(Now), spent(3), until(time.Minute))}, 0, false, "1m0s"},
		{"budget of all spent", []*chatQueue{in(1, jobs(Now))}, 0, true, "41ms"},
		{"parked", []*chatQueue{in(1, jobs(Now), beside(tapAnswer), suspended)}, 0, false, "news"},
		{"parked one does not hold up others", []*chatQueue{in(1, jobs(Now), suspended), in(2, jobs(Card))}, 0, false, "2 job 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			all := rate.NewLimiter(allRate, allBurst)
			if tt.empty {
				all.AllowN(now, allBurst)
			}
			got := next(now, tt.chats, all, tt.flying, 0)
			assert.Equal(t, tt.want, got.shown())
			assert.Equal(t, got, next(now, tt.chats, all, tt.flying, 0), "it changes nothing")
		})
	}
}

// The files and notices of a session do not hold up its replies to a person.
func TestRepliesPassFilesOfTheirSession(t *testing.T) {
	s, now := uuid.New(), time.Unix(1_000_000, 0)
	file, notice := job{kind: upload, rank: Later, session: s}, job{kind: post, rank: Later, session: s}
	said, reply := job{kind: send, rank: Talk, session: s}, job{kind: post, rank: Now, session: s}
	for _, tt := range []struct {
		name  string
		queue []job
		want  int
	}{
		{"a reply after files", []job{file, file, notice, reply}, 3},
		{"a reply after what was said", []job{file, said, reply}, 1},
		{"what was said after a file", []job{file, said}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newChatQueue(1)
			for i := range tt.queue {
				l.queue.add(&tt.queue[i])
			}
			got, wait := l.jobTurn(now)
			require.Zero(t, wait)
			assert.Same(t, &tt.queue[tt.want], got.job)
		})
	}
}

// TestBookedTokensAreLeft: a job under way that may make a call has a token of all chats.
func TestBookedTokensAreLeft(t *testing.T) {
	now, all := time.Unix(1_000_000, 0), rate.NewLimiter(allRate, allBurst)
	l := newChatQueue(1)
	l.queue.add(&job{})
	for _, tt := range []struct {
		spent, booked int
		want          string
	}{{0, 4, "1 job 0"}, {0, 5, "news"}, {2, 2, "1 job 0"}, {2, 3, "41ms"}} {
		all.AllowN(now, tt.spent)
		assert.Equal(t, tt.want, next(now, []*chatQueue{l}, all, tt.booked, tt.booked).shown(), "%d spent, %d booked", tt.spent, tt.booked)
		now = now.Add(time.Minute)
	}
}

// shown is a turn in words.
func (t turn) shown() string {
	switch {
	case t.job != nil:
		return fmt.Sprintf("%d job %d", t.lane.chat, t.job.messageID)
	case t.side != nil:
		return fmt.Sprintf("%d aside %d", t.lane.chat, slices.Index(t.lane.sideCalls, t.side))
	case t.wait > 0:
		return t.wait.String()
	}
	return "news"
}

func TestTooManyAsides(t *testing.T) {
	l := newChatQueue(1)
	l.put(&sideCall{key: "answer", kind: tapAnswer})
	l.put(&sideCall{key: "typing", kind: typing})
	for i := range maxAsides + 1 {
		l.put(&sideCall{key: fmt.Sprint(i), kind: reaction})
	}
	l.put(&sideCall{key: "typing again", kind: typing})
	require.Len(t, l.sideCalls, maxAsides)
	var keys []string
	for _, a := range l.sideCalls {
		keys = append(keys, a.key)
	}
	assert.Equal(t, []string{"answer", "2", "3"}, keys[:3], "first typing goes, then the oldest reactions")
	assert.NotContains(t, keys, "typing again")
	newer := &sideCall{key: "7", kind: reaction}
	l.put(newer)
	assert.Len(t, l.sideCalls, maxAsides)
	assert.Contains(t, l.sideCalls, newer)
	l.putBack(&sideCall{key: "7", kind: reaction, tries: 1})
	assert.Len(t, l.sideCalls, maxAsides, "a newer one has come")
}

func TestJudge(t *testing.T) {
	styled := &job{message: Message{Text: render.Bold("x")}}
	rich, topic := &job{message: Message{Rich: "**x**"}}, &job{to: session.Conversation{ChatID: -5, ThreadID: 9}}
	tests := []struct {
		name string
		err  error
		job  *job
		want answer
	}{
		{"yes", nil, &job{}, taken},
		{"429", tooMany(137), &job{}, paused},
		{"429 wrapped", fmt.Errorf("x: %w", tooMany(0)), &job{}, paused},
		{"migrated", &tgbot.MigrateError{MigrateToChatID: -100500}, &job{}, moved},
		{"401", errToken, &job{}, denied},
		{"404", errMissing, &job{}, denied},
		{"404 for a rich message", errMissing, rich, unknown},
		{"401 for a rich message", errToken, rich, denied},
		{"400 for a rich message", errEntities, rich, refused},
		{"known to be missing", ErrNoRich, rich, refused},
		{"topic that is gone", errNoTopic, topic, topicGone},
		{"topic that is gone, in other words", fmt.Errorf("%w, Bad Request: TOPIC_DELETED", tgbot.ErrorBadRequest), topic, topicGone},
		{"topic that is gone, and none was named", errNoTopic, &job{}, refused},
		{"topic that is gone, with formatting", errNoTopic, &job{to: topic.to, message: styled.message}, topicGone},
		{"topic that is closed", fmt.Errorf("%w, Bad Request: TOPIC_CLOSED", tgbot.ErrorBadRequest), topic, topicShut},
		{"edit in a topic that is gone", errNoTopic, &job{kind: edit, to: topic.to}, refused},
		{"photo", errPhoto, &job{kind: upload, body: &File{Photo: true}}, document},
		{"photo whose caption is refused", errEntities, &job{kind: upload, body: &File{Photo: true}, message: styled.message}, plain},
		{"photo as a document", errPhoto, &job{kind: upload, body: &File{Photo: true}, asDocument: true}, refused},
		{"photo that is too large for one", errPhoto, &job{kind: upload, body: &File{Photo: true, Size: MaxPhoto + 1}}, refused},
		{"403", errForbidden, &job{}, blocked},
		{"a chat that nobody has started", fmt.Errorf("%w, Bad Request: chat not found", tgbot.ErrorBadRequest), styled, blocked},
		{"a group where the bot may not write", errMute, styled, blocked},
		{"a group where the bot may write no files", errNoFiles, &job{kind: upload, body: &File{}}, refused},
		{"400", errEntities, &job{}, refused},
		{"400 with formatting", errEntities, styled, plain},
		{"400 again", errEntities, &job{message: styled.message, plain: true}, refused},
		{"not modified", errSame, &job{kind: edit}, taken},
		{"not modified with formatting", errSame, &job{kind: edit, message: styled.message}, taken},
		{"edit of a deleted message", errGone, &job{kind: edit}, refused},
		{"edit of a deleted message with formatting", errGone, &job{kind: edit, message: styled.message}, refused},
		{"409", fmt.Errorf("%w, x", tgbot.ErrorConflict), &job{}, later},
		{"413", errors.New("error response from telegram for method sendMessage, 413 Request Entity Too Large"), &job{}, refused},
		{"413 of a proxy", errors.New("error decode response body for method sendDocument, <html>\r\n<title>413 Request Entity Too Large</title>" +
			"\r\n</html>, invalid character '<'"), &job{kind: upload, body: &File{}}, refused},
		{"500", errServer, &job{}, later},
		{"html", errors.New("error decode response body for method sendMessage, <html>502</html>, invalid character '<'"), &job{}, lost},
		{"yes that cannot be read", errors.New("error decode response result for method sendMessage, json: unknown type"), &job{}, taken},
		{"yes to an edit that cannot be read", errors.New(`unsupported RichBlock type "x"`), &job{kind: edit}, taken},
		{"500 to an edit", errServer, &job{kind: edit}, later},
		{"reset of an edit", errBroken, &job{kind: edit}, later},
		{"cut off", context.Canceled, &job{kind: edit}, later},
		{"409 to an edit", fmt.Errorf("%w, x", tgbot.ErrorConflict), &job{kind: edit}, later},
		{"reset", fmt.Errorf("error do request for method sendMessage, %w", io.ErrUnexpectedEOF), &job{}, lost},
		{"no answer in time", errBroken, &job{kind: upload}, lost},
		{"no connection", fmt.Errorf("%w: %w", errUnconnected, context.DeadlineExceeded), &job{}, later},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, judge(tt.err, tt.job).answer)
		})
	}
	assert.Equal(t, 137*time.Second, judge(tooMany(137), &job{}).wait)
	assert.Equal(t, int64(-100500), judge(&tgbot.MigrateError{MigrateToChatID: -100500}, &job{}).chat)
	assert.ErrorIs(t, judge(errForbidden, &job{}).err, ErrBlocked)
	assert.ErrorIs(t, judge(errMute, &job{}).err, ErrBlocked)
	assert.ErrorIs(t, judge(errGone, &job{kind: edit}).err, ErrGone)
	assert.NotErrorIs(t, judge(errEntities, &job{kind: edit}).err, ErrGone)
}

func TestBackoff(t *testing.T) {
	assert.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second, 5 * time.Second, 5 * time.Second},
		[]time.Duration{backoff(1, 0.5), backoff(2, 0.5), backoff(3, 0.5), backoff(4, 0.5), backoff(5, 0.5), backoff(6, 0.5), backoff(1000, 0.5)})
	rapid.Check(t, func(t *rapid.T) {
		d := backoff(rapid.Int().Draw(t, "failures"), rapid.Float64Range(0, 0.999).Draw(t, "jitter"))
		if d < 750*time.Millisecond || d > 6250*time.Millisecond {
			t.Fatal(d)
		}
	})
}

func TestMemoryForgetsTheOldest(t *testing.T) {
	var m memory
	for i := range maxKnown + 10 {
		m.note(ref{1, i}, fact{looks: digestsOf(Message{})})
	}
	assert.Len(t, m.facts, maxKnown)
	assert.Len(t, m.order, maxKnown)
	assert.Zero(t, m.facts[ref{1, 9}])
	assert.NotZero(t, m.facts[ref{1, 10}])
}

// The schedule reads only the first job of each rank: another one would panic here.
func TestScheduleReadsOnlyQueueHeads(t *testing.T) {
	now, l := time.Unix(1_000_000, 0), newChatQueue(1)
	for r := Question; r <= Card; r++ {
		for range 2 { // one goes first
			l.queue.add(&job{rank: r, session: uuid.New()})
		}
		for range 5000 {
			l.queue.rank(r).PushBack((*job)(nil))
		}
	}
	for r := Question; r <= Card; r++ {
		got := next(now, []*chatQueue{l}, rate.NewLimiter(allRate, allBurst), 0, 0)
		require.NotNil(t, got.job)
		assert.Equal(t, r, got.job.rank)
		for range 2 {
			l.queue.remove(l.queue.head(r))
		}
		l.queue.rank(r).Init()
	}
}
