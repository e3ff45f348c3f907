package e2e

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// team is a forum with two allowed people and a session in its topic.
type team struct {
	*tour
	ann *botapi.Person // has an @name
	api int            // the topic
}

func newTeam(t *testing.T) team {
	t.Helper()
	const forum = int64(-1_001_000_000_001)
	w := newWorldAt(t, botapi.Options{Forum: forum}, "ALLOWED_CHATS="+strconv.FormatInt(forum, 10))
	ann := w.api.Person(2002, "Ann")
	ann.SetUsername("ann_a")
	w.env = append(w.env, fmt.Sprintf("ALLOWED_USERS=%d,%d", w.person.ID(), ann.ID()))
	w.start()
	o := team{tour: &tour{world: w, chat: forum}, ann: ann}
	w.person.Send(forum, "/new api "+w.dir)
	o.api = o.topic("api")
	o.in(o.api, "api is ready")
	ann.SendIn(forum, o.api, "say hello from Ann")
	o.in(o.api, "hello from Ann")
	return o
}

// TestTwoPeopleTalkInOneGroup: what two people say to each other reaches no agent, also after a
// crash, and what is for the agent reaches it in their order.
func TestTwoPeopleTalkInOneGroup(t *testing.T) {
	t.Parallel()
	o := newTeam(t)
	w, ann, carl := o.world, o.ann, o.world.api.Person(3003, "Carl")
	asked := w.person.SendIn(o.chat, o.api, "@ann_a can you look at the staging server?")
	told := o.in(o.api, "No agent got this text")
	require.NotNil(t, told.ReplyTo)
	assert.Equal(t, asked, told.ReplyTo.ID)
	ann.ReplyIn(o.chat, o.api, asked, "yes, in five minutes")
	hungry := carl.SendIn(o.chat, o.api, "anyone for lunch?")
	w.person.ReplyIn(o.chat, o.api, hungry, "me!")
	lunch := ann.OpenTopic(o.chat, "lunch")
	for _, thread := range []int{lunch, 0} {
		ann.SendIn(o.chat, thread, "pizza?")
		w.person.SendIn(o.chat, thread, "at one")
		w.person.SendIn(o.chat, thread, "/here") // is answered after them
		o.in(thread, "ccbot_sandbox_bot")
	}
	w.kill9()
	w.start()
	w.person.SendIn(o.chat, o.api, "@ann_a, any news?")
	red := ann.SendIn(o.chat, o.api, "@ann_a, note: say the tests are red")
	w.person.ReplyIn(o.chat, o.api, red, "@ccbot_sandbox_bot")
	ann.SendIn(o.chat, o.api, "say hello again")
	o.in(o.api, "hello again")
	own := ann.SendIn(o.chat, o.api, "say one thing")
	ann.ReplyIn(o.chat, o.api, own, "say another thing")
	o.in(o.api, "another thing")
	assert.Equal(t, []string{"say hello from Ann", "@ann_a, note: say the tests are red", "say hello again", "say one thing", "say another thing"}, w.received())
	assert.Equal(t, 1, w.count(o.chat, "No agent got this text"), "it is said once")
	for _, person := range []int{asked, hungry} {
		assert.Empty(t, w.reactionsOf(person))
	}
	w.reaction(red, "👌")
	w.stop()
}

// TestTwoPeopleTalkAboutRequest: what they say to each other waits for no outcome, and the reason that
// is awaited may begin with a person.
func TestTwoPeopleTalkAboutRequest(t *testing.T) {
	t.Parallel()
	o := newTeam(t)
	o.person.SendIn(o.chat, o.api, "bash rm everything")
	asked := o.in(o.api, "wants to run a command")
	unsure := o.person.SendIn(o.chat, o.api, "@ann_a is that safe on a friday?")
	o.in(o.api, "No agent got this text")
	o.ann.ReplyIn(o.chat, o.api, unsure, "wait, I look first")
	o.press(asked, "Deny with reason")
	o.in(o.api, "as the next message")
	o.person.SendIn(o.chat, o.api, "@ann_a says no")
	o.in(o.api, "They wrote: @ann_a says no")
	o.ann.SendIn(o.chat, o.api, "say all is well")
	o.in(o.api, "all is well")
	assert.Equal(t, []string{"say hello from Ann", "Message from You:\nbash rm everything", "Message from Ann:\nsay all is well"}, o.received())
	assert.Zero(t, o.count(o.chat, "is waiting for your answer"), "no text waits for it")
	o.stop()
}

// TestP4_TalkAboutRequestIsAskedAbout: what the other one says about a request is asked about once,
// also after a crash, and is typed only after a tap.
func TestP4_TalkAboutRequestIsAskedAbout(t *testing.T) {
	t.Parallel()
	o := newTeam(t)
	o.person.SendIn(o.chat, o.api, "bash make deploy")
	asked := o.in(o.api, "wants to run a command")
	o.ann.SendIn(o.chat, o.api, "is that safe on a friday?")
	o.in(o.api, "Ann: is that safe")
	o.ann.SendIn(o.chat, o.api, "say the tests are green")
	o.person.SendIn(o.chat, o.api, "say deployed")
	o.in(o.api, "3. Ann: say the tests are green")
	o.kill9()
	o.start()
	o.press(asked, "Allow")
	o.in(o.api, "deployed")
	o.press(o.in(o.api, "This was written while api asked something."), "2. Send")
	o.in(o.api, "the tests are green")
	o.press(o.in(o.api, "Is it for the agent?\nAnn: is that safe"), "Not for the agent")
	o.in(o.api, "1 message was not for the agent.")
	assert.Equal(t, []string{"say hello from Ann", "Message from You:\nbash make deploy", "Message from You:\nsay deployed",
		"Message from Ann:\nsay the tests are green"}, o.received())
	o.stop()
}
