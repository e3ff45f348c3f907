package botapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// messageMethods send, change and delete. The names are lower case.
var messageMethods = map[string]func(*Server, params) (any, *apiError){
	"sendmessage":            (*Server).sendMessage,
	"editmessagetext":        (*Server).editMessageText,
	"editmessagecaption":     (*Server).editMessageCaption,
	"editmessagereplymarkup": (*Server).editMessageReplyMarkup,
	"editmessagemedia":       (*Server).editMessageMedia,
	"deletemessage":          (*Server).deleteMessage,
	"deletemessages":         (*Server).deleteMessages,
	"setmessagereaction":     (*Server).setMessageReaction,
	"answercallbackquery":    (*Server).answerCallbackQuery,
	"pinchatmessage":         (*Server).pinChatMessage,
	"unpinchatmessage":       (*Server).unpinChatMessage,
}

func itoa(n int) string { return strconv.Itoa(n) }

func errBlocked() *apiError {
	return &apiError{code: http.StatusForbidden, description: "Forbidden: bot was blocked by the user"}
}

// chatOf finds the chat of a call, refuses one that the bot cannot write to.
func (s *Server) chatOf(p params) (*chat, *apiError) {
	if !p.has("chat_id") {
		return nil, badRequest("chat_id is empty")
	}
	c := s.chats[p.int64("chat_id")]
	switch {
	case c == nil:
		return nil, badRequest("chat not found")
	case c.movedTo != 0:
		return nil, errMoved(c.movedTo)
	case c.blocked:
		return nil, errBlocked()
	}
	return c, nil
}

func errMoved(to int64) *apiError {
	e := badRequest("group chat was upgraded to a supergroup chat")
	e.migrateTo = to
	return e
}

// draft makes the message of a send call: chat, topic, reply, keyboard. It is not in the chat yet.
func (s *Server) draft(p params) (*Message, *apiError) {
	if p.has("parse_mode") {
		return nil, badRequest("stand-in: parse_mode is not supported, send entities")
	}
	c, refusal := s.chatOf(p)
	if refusal != nil {
		return nil, refusal
	}
	thread := p.int("message_thread_id")
	if s.opt.Strays && c.Type == "private" && c.topics[thread] == nil {
		thread = 0
	}
	if t := c.topics[thread]; thread != 0 && t == nil {
		return nil, badRequest("message thread not found")
	} else if t != nil && t.Closed {
		return nil, badRequest("TOPIC_CLOSED")
	}
	replyTo, refusal := s.replyOf(p, c)
	if refusal != nil {
		return nil, refusal
	}
	markup, keyboard, refusal := p.keyboard()
	if refusal != nil {
		return nil, refusal
	}
	if refusal := s.paceLocked(c); refusal != nil {
		return nil, refusal
	}
	return &Message{
		Thread: thread, Chat: c.Chat, ReplyTo: s.quoteLocked(c.ID, replyTo),
		ReplyMarkup: markup, Keyboard: keyboard, Silent: p.bool("disable_notification"),
	}, nil
}

// send numbers a draft and adds it to the chat.
func (s *Server) send(draft *Message) *Message {
	m := s.newMessageLocked(s.chats[draft.Chat.ID], s.bot, draft.Thread)
	draft.ID, draft.From, draft.FromBot = m.ID, m.From, true
	draft.Date, draft.IsTopicMessage = m.Date, m.IsTopicMessage
	s.chats[draft.Chat.ID].lastBot = s.bot.ID
	s.postLocked(draft)
	return draft
}

func (s *Server) replyOf(p params, c *chat) (int, *apiError) {
	if !p.has("reply_parameters") {
		return 0, nil
	}
	var reply struct {
		MessageID int  `json:"message_id"`
		Anyway    bool `json:"allow_sending_without_reply"`
	}
	if err := json.Unmarshal([]byte(p.str("reply_parameters")), &reply); err != nil {
		return 0, badRequest("can't parse reply parameters JSON object")
	}
	if s.messageLocked(c.ID, reply.MessageID) == nil {
		if reply.Anyway {
			return 0, nil
		}
		return 0, badRequest("message to be replied not found")
	}
	return reply.MessageID, nil
}

func (s *Server) sendMessage(p params) (any, *apiError) {
	text, entities, refusal := p.text()
	if refusal != nil {
		return nil, refusal
	}
	m, refusal := s.draft(p)
	if refusal != nil {
		return nil, refusal
	}
	m.Text, m.Entities = text, entities
	return s.send(m), nil
}

func (p params) text() (string, []Entity, *apiError) {
	if p.str("text") == "" {
		return "", nil, badRequest("message text is empty")
	}
	entities, refusal := p.entities("entities")
	if refusal != nil {
		return "", nil, refusal
	}
	text, entities, refusal := prepare(p.str("text"), entities)
	switch {
	case refusal != nil:
		return "", nil, refusal
	case blank(text):
		return "", nil, badRequest("text must be non-empty")
	case units(text) > maxText:
		return "", nil, badRequest("message is too long")
	}
	return text, entities, nil
}

func caption(text string, list []Entity) (string, []Entity, *apiError) {
	text, list, refusal := prepare(text, list)
	switch {
	case refusal != nil:
		return "", nil, refusal
	case blank(text):
		return "", nil, nil
	case units(text) > maxCaption:
		return "", nil, badRequest("message caption is too long")
	}
	return text, list, nil
}

func (p params) caption() (string, []Entity, *apiError) {
	entities, refusal := p.entities("caption_entities")
	if refusal != nil {
		return "", nil, refusal
	}
	return caption(p.str("caption"), entities)
}

// target finds the message of an edit, which must be the bot's own.
func (s *Server) target(p params) (*Message, *apiError) {
	if p.has("parse_mode") {
		return nil, badRequest("stand-in: parse_mode is not supported, send entities")
	}
	c, refusal := s.chatOf(p)
	if refusal != nil {
		return nil, refusal
	}
	m := s.messageLocked(c.ID, p.int("message_id"))
	if m == nil {
		return nil, badRequest("message to edit not found")
	}
	if m.From.ID != s.bot.ID {
		return nil, badRequest("message can't be edited")
	}
	return m, nil
}

// change is the result of an edit; Telegram compares content and keyboard together.
type change struct {
	text, caption   string
	rich            string // source of a rich message
	textEntities    []Entity
	captionEntities []Entity
	photo           []PhotoSize
	document        *Document
	onlyKeyboard    bool
}

// edit applies a change. An edit without reply_markup takes the keyboard away, as at Telegram.
func (s *Server) edit(p params, m *Message, c change) (any, *apiError) {
	markup, keyboard, refusal := p.keyboard()
	if refusal != nil {
		return nil, refusal
	}
	if same(m, c, markup) {
		return nil, badRequest("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	if refusal := s.paceLocked(s.chats[m.Chat.ID]); refusal != nil {
		return nil, refusal
	}
	m.Text, m.Entities, m.Caption, m.CaptionEntities = c.text, c.textEntities, c.caption, c.captionEntities
	m.Photo, m.Document = c.photo, c.document
	m.setRich(c.rich)
	m.ReplyMarkup, m.Keyboard = markup, keyboard
	m.Edits++
	if !c.onlyKeyboard {
		m.EditDate = s.opt.Now().Unix()
	}
	s.changedLocked(m)
	return m, nil
}

func same(m *Message, c change, markup json.RawMessage) bool {
	samePhoto := slices.Equal(m.Photo, c.photo)
	sameDocument := m.Document == c.document
	return m.Text == c.text && m.RichMarkdown == c.rich && m.Caption == c.caption && samePhoto && sameDocument && bytes.Equal(m.ReplyMarkup, markup) &&
		bytes.Equal(mustJSON(m.Entities), mustJSON(c.textEntities)) &&
		bytes.Equal(mustJSON(m.CaptionEntities), mustJSON(c.captionEntities))
}

func unchanged(m *Message) change {
	return change{
		text: m.Text, textEntities: m.Entities, rich: m.RichMarkdown,
		caption: m.Caption, captionEntities: m.CaptionEntities, photo: m.Photo, document: m.Document,
	}
}

// editMessageText also makes a rich message of a text, and back.
func (s *Server) editMessageText(p params) (any, *apiError) {
	c, refusal := s.newText(p)
	if refusal != nil {
		return nil, refusal
	}
	m, refusal := s.target(p)
	if refusal != nil {
		return nil, refusal
	}
	if m.Text == "" && m.Rich == nil {
		return nil, badRequest("there is no text in the message to edit")
	}
	return s.edit(p, m, c)
}

func (s *Server) newText(p params) (c change, refusal *apiError) {
	if s.opt.Rich && p.has("rich_message") { // an older server does not know the field
		if p.has("text") {
			return c, badRequest("stand-in: text and rich_message are both given")
		}
		c.rich, refusal = p.rich()
		return c, refusal
	}
	c.text, c.textEntities, refusal = p.text()
	return c, refusal
}

func (s *Server) editMessageCaption(p params) (any, *apiError) {
	text, entities, refusal := p.caption()
	if refusal != nil {
		return nil, refusal
	}
	m, refusal := s.target(p)
	if refusal != nil {
		return nil, refusal
	}
	if m.Photo == nil && m.Document == nil {
		return nil, badRequest("there is no caption in the message to edit")
	}
	c := unchanged(m)
	c.caption, c.captionEntities = text, entities
	return s.edit(p, m, c)
}

func (s *Server) editMessageReplyMarkup(p params) (any, *apiError) {
	m, refusal := s.target(p)
	if refusal != nil {
		return nil, refusal
	}
	c := unchanged(m)
	c.onlyKeyboard = true
	return s.edit(p, m, c)
}

func (s *Server) deleteMessage(p params) (any, *apiError) {
	c, refusal := s.chatOf(p)
	if refusal != nil {
		return nil, refusal
	}
	m := s.messageLocked(c.ID, p.int("message_id"))
	switch {
	case m == nil:
		return nil, badRequest("message to delete not found")
	case m.From.ID != s.bot.ID && c.Type != "private":
		return nil, badRequest("message can't be deleted")
	}
	s.deleteLocked(m)
	return true, nil
}

// deleteMessages passes over what is not there, as Telegram does.
func (s *Server) deleteMessages(p params) (any, *apiError) {
	c, refusal := s.chatOf(p)
	if refusal != nil {
		return nil, refusal
	}
	var ids []int
	if err := json.Unmarshal([]byte(p.str("message_ids")), &ids); err != nil || len(ids) == 0 {
		return nil, badRequest("message identifiers are not specified")
	}
	if len(ids) > 100 {
		return nil, badRequest("too many message identifiers specified")
	}
	for _, id := range ids {
		if m := s.messageLocked(c.ID, id); m != nil && (m.From.ID == s.bot.ID || c.Type == "private") {
			s.deleteLocked(m)
		}
	}
	return true, nil
}

func (s *Server) pinChatMessage(p params) (any, *apiError) { return s.pin(p, true) }

func (s *Server) unpinChatMessage(p params) (any, *apiError) { return s.pin(p, false) }

func (s *Server) pin(p params, pinned bool) (any, *apiError) {
	c, refusal := s.chatOf(p)
	if refusal != nil {
		return nil, refusal
	}
	m := s.messageLocked(c.ID, p.int("message_id"))
	if m == nil {
		return nil, badRequest("message to pin not found")
	}
	m.Pinned = pinned
	s.changedLocked(m)
	return true, nil
}
