package botapi

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// chatMethods are about chats, topics and the bot's menu. The names are lower case.
var chatMethods = map[string]func(*Server, params) (any, *apiError){
	"getchat":          (*Server).getChat,
	"sendchataction":   (*Server).sendChatAction,
	"createforumtopic": (*Server).createForumTopic,
	"editforumtopic":   (*Server).editForumTopic,
	"closeforumtopic":  (*Server).closeForumTopic,
	"reopenforumtopic": (*Server).reopenForumTopic,
	"deleteforumtopic": (*Server).deleteForumTopic,

	"getforumtopiciconstickers": (*Server).getForumTopicIconStickers,
	"setmycommands":             (*Server).setMyCommands,
	"getmycommands":             (*Server).getMyCommands,
	"deletemycommands":          (*Server).deleteMyCommands,
}

var chatActions = strings.Fields("typing upload_photo record_video upload_video record_voice upload_voice upload_document " +
	"choose_sticker find_location record_video_note upload_video_note cancel")

func (s *Server) getChat(p params) (any, *apiError) {
	c, refusal := s.chatOf(p)
	if refusal != nil {
		return nil, refusal
	}
	return c.Chat, nil
}

func (s *Server) sendChatAction(p params) (any, *apiError) {
	action := strings.ToLower(p.str("action"))
	if !slices.Contains(chatActions, action) {
		return nil, badRequest("wrong parameter action in request")
	}
	c, refusal := s.chatOf(p)
	if refusal != nil {
		return nil, refusal
	}
	s.publishLocked(c.ID, event{Type: "action", Text: action})
	return true, nil
}

// topicIcons are the emoji of a topic's icons, by their ids.
var topicIcons = map[string]string{"5350554349074391003": "💻", "5357315181649076022": "📁", "5312016608254762256": "⚡️"}

func (s *Server) getForumTopicIconStickers(params) (any, *apiError) {
	all := []Sticker{}
	for id, emoji := range topicIcons {
		all = append(all, Sticker{FileID: "icon" + id, FileUniqueID: id, Type: "custom_emoji", Width: 100, Height: 100, Emoji: emoji, CustomEmoji: id})
	}
	return all, nil
}

// topicColors are the six that Telegram knows.
var topicColors = []int{0x6FB9F0, 0xFFD67E, 0xCB86DB, 0x8EEE98, 0xFF93B2, 0xFB6F5F}

// createForumTopic works in forums and in private chats (Bot API 9.4).
func (s *Server) createForumTopic(p params) (any, *apiError) {
	c, refusal := s.chatOf(p)
	if refusal != nil {
		return nil, refusal
	}
	if !c.IsForum && !(c.Type == "private" && s.opt.Topics) {
		return nil, badRequest("the chat is not a forum")
	}
	icon := p.str("icon_custom_emoji_id")
	if icon != "" && topicIcons[icon] == "" {
		return nil, badRequest("DOCUMENT_INVALID")
	}
	name := strings.TrimSpace(p.str("name"))
	if name == "" || units(name) > 128 {
		return nil, badRequest("TOPIC_TITLE_EMPTY")
	}
	color := p.int("icon_color")
	if color == 0 {
		color = topicColors[len(c.topics)%len(topicColors)]
	}
	if !slices.Contains(topicColors, color) {
		return nil, badRequest("TOPIC_ICON_COLOR_INVALID")
	}
	m := &Message{Chat: c.Chat, TopicCreated: &TopicCreated{Name: name, IconColor: color, Icon: icon}}
	m = s.openTopic(c, m)
	return map[string]any{"message_thread_id": m.Thread, "name": name, "icon_color": color}, nil
}

// openTopic posts the service message whose id is the topic's.
func (s *Server) openTopic(c *chat, m *Message) *Message {
	made := s.newMessageLocked(c, s.bot, 0)
	m.ID, m.From, m.FromBot, m.Date = made.ID, made.From, true, made.Date
	m.Thread, m.IsTopicMessage = m.ID, true
	c.addTopic(&topic{ID: m.ID, Name: m.TopicCreated.Name, Color: m.TopicCreated.IconColor, Icon: m.TopicCreated.Icon})
	s.publishLocked(c.ID, event{Type: "topics", Topics: c.topicList()})
	s.postLocked(m)
	return m
}

func (s *Server) topicOf(p params) (*chat, *topic, *apiError) {
	c, refusal := s.chatOf(p)
	if refusal != nil {
		return nil, nil, refusal
	}
	t := c.topics[p.int("message_thread_id")]
	if t == nil {
		return nil, nil, badRequest("message thread not found")
	}
	return c, t, nil
}

func (s *Server) editForumTopic(p params) (any, *apiError) {
	c, t, refusal := s.topicOf(p)
	if refusal != nil {
		return nil, refusal
	}
	name := strings.TrimSpace(p.str("name"))
	if units(name) > 128 {
		return nil, badRequest("TOPIC_TITLE_EMPTY")
	}
	icon := p.str("icon_custom_emoji_id")
	if icon != "" && topicIcons[icon] == "" {
		return nil, badRequest("DOCUMENT_INVALID")
	}
	edited := &TopicEdited{}
	if name != t.Name {
		edited.Name = name
	}
	if icon != t.Icon {
		edited.Icon = icon
	}
	if *edited == (TopicEdited{}) {
		return nil, badRequest("TOPIC_NOT_MODIFIED")
	}
	t.Name, t.Icon = cmp.Or(name, t.Name), cmp.Or(icon, t.Icon)
	m := s.newMessageLocked(c, s.bot, t.ID)
	m.TopicEdited = edited
	s.postLocked(m)
	s.publishLocked(c.ID, event{Type: "topics", Topics: c.topicList()})
	return true, nil
}

func (s *Server) closeForumTopic(p params) (any, *apiError) { return s.shutTopic(p, true) }

func (s *Server) reopenForumTopic(p params) (any, *apiError) { return s.shutTopic(p, false) }

func (s *Server) shutTopic(p params, closed bool) (any, *apiError) {
	c, t, refusal := s.topicOf(p)
	if refusal != nil {
		return nil, refusal
	}
	if t.Closed == closed {
		return nil, badRequest("TOPIC_NOT_MODIFIED")
	}
	t.Closed = closed
	s.publishLocked(c.ID, event{Type: "topics", Topics: c.topicList()})
	return true, nil
}

func (s *Server) deleteForumTopic(p params) (any, *apiError) {
	c, t, refusal := s.topicOf(p)
	if refusal != nil {
		return nil, refusal
	}
	s.dropTopicLocked(c, t.ID)
	return true, nil
}

var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

func (s *Server) setMyCommands(p params) (any, *apiError) {
	var list []Command
	if err := json.Unmarshal([]byte(p.str("commands")), &list); err != nil {
		return nil, badRequest("can't parse commands JSON object")
	}
	if len(list) > 100 {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for i, c := range list {
		list[i].Command = strings.TrimPrefix(c.Command, "/")
		if !commandName.MatchString(list[i].Command) {
			return nil, badRequest("BOT_COMMAND_INVALID")
		}
		if n := units(strings.TrimSpace(c.Description)); n < 1 || n > 256 {
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	s.commands[commandsKey(p)] = list
	s.publishCommandsLocked()
	return true, nil
}

func (s *Server) getMyCommands(p params) (any, *apiError) {
	if list := s.commands[commandsKey(p)]; list != nil {
		return list, nil
	}
	return []Command{}, nil
}

func (s *Server) deleteMyCommands(p params) (any, *apiError) {
	delete(s.commands, commandsKey(p))
	s.publishCommandsLocked()
	return true, nil
}

// commandsKey tells the lists of different scopes and languages apart.
func commandsKey(p params) string {
	scope := struct {
		Type   string          `json:"type"`
		ChatID json.RawMessage `json:"chat_id,omitempty"`
		UserID json.RawMessage `json:"user_id,omitempty"`
	}{Type: "default"}
	_ = json.Unmarshal([]byte(p.str("scope")), &scope) // none or unreadable is the default one
	return string(mustJSON(scope)) + "|" + p.str("language_code")
}

// menuLocked is the list that a person sees in the private chat: the narrowest scope that has one.
func (s *Server) menuLocked(u User) []Command {
	for _, scope := range []string{
		`{"type":"chat","chat_id":` + string(mustJSON(u.ID)) + `}`, `{"type":"all_private_chats"}`, `{"type":"default"}`,
	} {
		for _, language := range []string{u.LanguageCode, ""} {
			if list := s.commands[scope+"|"+language]; len(list) > 0 {
				return list
			}
		}
	}
	return []Command{}
}

func (s *Server) publishCommandsLocked() {
	s.showLocked(s.PageChat(), event{Type: "commands", Commands: s.menuLocked(s.opt.Person)})
}
