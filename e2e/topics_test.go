package e2e

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/longtest"
	"ccbot/try/botapi"
	"ccbot/try/botapi/pagetest"
)

// tour is a person's view of topics, on the page and by the API.
type tour struct {
	*world
	page *pagetest.Page
	name string
	chat int64
}

// shoot takes the page at phone width, in light and dark.
func (o *tour) shoot(what string) {
	o.t.Helper()
	for look, dark := range map[string]bool{"light": false, "dark": true} {
		o.page.Look(pagetest.Look{Scale: 2, Dark: dark})
		shoot(o.t, o.page, "topics-"+o.name+"-"+what+"-"+look)
	}
}

// in waits for a message of the bot's in a topic, or in the main lane (0).
func (o *tour) in(thread int, text string) (found botapi.Message) {
	o.t.Helper()
	o.until("the bot says "+strconv.Quote(text)+" in "+strconv.Itoa(thread), func() bool {
		for _, m := range o.api.Messages(o.chat) {
			if m.FromBot && m.Thread == thread && strings.Contains(m.Body(), text) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// press taps a button of a message in this chat.
func (o *tour) press(m botapi.Message, label string) {
	o.t.Helper()
	o.tap(m, label)
}

// topic waits for a topic with a name.
func (o *tour) topic(name string) (thread int) {
	o.t.Helper()
	o.until("there is a topic "+name, func() bool { thread = o.api.Topic(o.chat, name); return thread != 0 })
	return thread
}

func (o *tour) look(label string) {
	o.t.Helper()
	o.page.Wait(`(() => {
		const b = [...document.querySelectorAll("#topics button")].filter((n) => n.textContent.includes(` + strconv.Quote(label) + `)).pop();
		b?.click();
		return !!b;
	})()`)
}

// TestTopicsTour: a session has its own topic until its end, and after the end of the topic.
func TestTopicsTour(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	const forum = int64(-1_001_000_000_001)
	parts := make(map[string]func(t *testing.T))
	for name, options := range map[string]botapi.Options{"group": {Forum: forum}, "private": {Topics: true}} {
		parts[name] = func(t *testing.T) {
			pagetest.Browser(t)
			w := newWorldAt(t, options, "ALLOWED_CHATS="+strconv.FormatInt(forum, 10))
			w.person.Start()
			w.start()
			o := &tour{world: w, name: name, chat: w.api.PageChat(), page: pagetest.Open(t, w.api, pagetest.Look{Scale: 2})}
			o.page.Send("/new api " + w.dir)
			api := o.topic("api")
			o.in(api, "api is ready")
			o.page.Send("/new web " + w.dir)
			web := o.topic("web")
			o.in(web, "web is ready")
			assert.NotEqual(t, api, web)
			o.shoot("main")

			o.person.SendIn(o.chat, api, "say hello from api")
			o.in(api, "hello from api")
			o.look("api")
			o.page.WaitText("hello from api")
			o.shoot("answer")

			if name == "group" {
				o.closes(api)
			}
			o.deletes(api)
			assert.Empty(t, o.page.Problems())
			w.stop()
		}
	}
	atOnce(t, parts)
}

// closes closes the topic of a session, archives it, reopens the topic and resumes it.
func (o *tour) closes(api int) {
	require.NoError(o.t, o.person.ShutTopic(o.chat, api, true))
	asked := o.in(0, "The topic of api is closed") // the topic takes nothing
	o.look("All")
	o.page.WaitText("The topic of api is closed")
	o.shoot("closed")
	o.press(asked, "Archive")
	o.in(0, "api is archived")
	o.until("the icon says so", func() bool {
		for _, c := range o.api.Calls() {
			if c.Method == "editForumTopic" && c.Params["icon_custom_emoji_id"] == "5357315181649076022" {
				return true
			}
		}
		return false
	})
	require.NoError(o.t, o.person.ShutTopic(o.chat, api, false))
	offered := o.in(api, "api: archived")
	o.look("api")
	o.page.WaitText("api: archived")
	o.shoot("reopened")
	o.press(offered, "Resume")
	o.in(api, "Resuming api")
	o.until("it is open", func() bool { return o.stateOf("api") == "running" })
	o.person.SendIn(o.chat, api, "say back again")
	o.in(api, "back again")
}

// deletes deletes the topic of a working session and waits for a new one.
func (o *tour) deletes(api int) {
	o.person.SendIn(o.chat, api, "slow until told")
	o.until("the agent works", func() bool { return strings.Contains(strings.Join(o.received(), " "), "slow until") })
	require.NoError(o.t, o.person.DeleteTopic(o.chat, api))
	o.makes("told")
	asked := o.in(0, "The topic of api is gone")
	o.in(0, "slow word")
	o.look("All")
	o.page.WaitText("The topic of api is gone")
	o.shoot("deleted")
	o.press(asked, "Open a new topic")
	again := o.topic("api")
	o.in(again, "api goes on in this topic")
	o.person.SendIn(o.chat, again, "say still here")
	o.in(again, "still here")
	assert.Equal(o.t, 1, o.count(o.chat, "The topic of api is gone"), "it is asked about once")
	assert.Equal(o.t, again, o.record("api").Conversation.ThreadID)
}

// TestMessageForDeletedTopicIsMisplaced: Telegram reports no error, and the message is elsewhere.
func TestMessageForDeletedTopicIsMisplaced(t *testing.T) {
	t.Parallel()
	w := newWorldAt(t, botapi.Options{Topics: true, Strays: true})
	o := &tour{world: w, chat: w.api.PageChat()}
	w.person.Start()
	w.start()
	w.say("/new api " + w.dir)
	api := o.topic("api")
	o.in(api, "api is ready")
	require.NoError(t, w.person.DeleteTopic(o.chat, api))
	w.person.Reply(o.chat, 0, "/kill api")
	o.press(o.in(0, "End api"), "Kill")
	o.in(0, "api is archived")
	w.stop()
}
