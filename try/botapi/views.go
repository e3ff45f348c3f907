package botapi

import "fmt"

// messageView is a message as the page draws it.
type messageView struct {
	ID        int            `json:"id"`
	Thread    int            `json:"thread,omitempty"`
	Out       bool           `json:"out"`              // written by the page's person
	From      string         `json:"from"`             // shown in the reply quote
	Sender    string         `json:"sender,omitempty"` // of a message of one of several bots
	Date      int64          `json:"date"`
	Edited    bool           `json:"edited,omitempty"`
	Text      string         `json:"text"`
	Rich      bool           `json:"rich,omitempty"` // the text is the source of a rich message
	Entities  []Entity       `json:"entities,omitempty"`
	Keyboard  [][]buttonView `json:"keyboard,omitempty"`
	Reactions []reactionView `json:"reactions,omitempty"`
	Reply     *replyView     `json:"reply,omitempty"`
	File      *fileView      `json:"file,omitempty"`
	Photo     *photoView     `json:"photo,omitempty"`
	Voice     int            `json:"voice,omitempty"`   // seconds
	Service   string         `json:"service,omitempty"` // a line of the service
}

type buttonView struct {
	Text     string `json:"text"`
	Data     string `json:"data,omitempty"`
	URL      string `json:"url,omitempty"`
	Copy     string `json:"copy,omitempty"`
	Style    string `json:"style,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
}

type reactionView struct {
	Emoji string `json:"emoji"`
	Count int    `json:"count"`
	Mine  bool   `json:"mine"`
}

type replyView struct {
	ID   int    `json:"id"`
	From string `json:"from"`
	Text string `json:"text"`
}

type fileView struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	URL  string `json:"url"`
}

type photoView struct {
	URL    string `json:"url"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

type topicView struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Icon   string `json:"icon,omitempty"`
	Closed bool   `json:"closed"`
}

func (s *Server) viewLocked(m *Message) *messageView {
	v := &messageView{
		ID: m.ID, Thread: m.Thread, Out: m.From.ID == s.opt.Person.ID, From: m.From.FirstName, Date: m.Date,
		Edited: m.EditDate != 0, Text: m.Text, Entities: m.Entities, Keyboard: buttonViews(m.Keyboard),
		Reactions: s.reactionViews(m.Reactions), Reply: replyTo(m.ReplyTo),
	}
	switch {
	case m.Rich != nil:
		v.Text, v.Rich = m.RichMarkdown, true
	case m.Text == "" && m.Caption != "":
		v.Text, v.Entities = m.Caption, m.CaptionEntities
	case m.Text == "":
		v.Text = otherKind(m)
	}
	if d := m.Document; d != nil {
		v.File = &fileView{Name: d.FileName, Size: d.FileSize, URL: mediaPath + d.FileID}
	}
	if d := m.Video; d != nil {
		v.File = &fileView{Name: d.FileName, Size: d.FileSize, URL: mediaPath + d.FileID}
	}
	if len(m.Photo) > 0 {
		p := m.Photo[len(m.Photo)-1]
		v.Photo = &photoView{URL: mediaPath + p.FileID, Width: p.Width, Height: p.Height}
	}
	if m.Voice != nil {
		v.Voice = m.Voice.Duration
	}
	if m.FromBot && len(s.inChatLocked(m.Chat.ID)) > 1 {
		v.Sender = m.From.FirstName
	}
	v.Service = serviceLine(m)
	return v
}

// serviceLine returns the text of a message about a topic; "" for all others.
func serviceLine(m *Message) string {
	switch {
	case m.TopicCreated != nil:
		return "“" + m.TopicCreated.Name + "” was created"
	case m.TopicEdited != nil && m.TopicEdited.Name != "":
		return "The topic is called “" + m.TopicEdited.Name + "”"
	case m.TopicEdited != nil:
		return "The topic's icon is " + topicIcons[m.TopicEdited.Icon]
	case m.TopicClosed != nil:
		return "The topic was closed"
	case m.TopicReopened != nil:
		return "The topic was reopened"
	}
	return ""
}

// otherKind names what the page does not draw; "" for all else.
func otherKind(m *Message) string {
	switch {
	case m.Sticker != nil:
		return m.Sticker.Emoji + " Sticker"
	case m.Location != nil:
		return fmt.Sprintf("Location %.5f, %.5f", m.Location.Latitude, m.Location.Longitude)
	case m.Contact != nil:
		return "Contact " + m.Contact.FirstName + ", " + m.Contact.PhoneNumber
	case m.MigratedTo != 0, m.MigratedFrom != 0:
		return "This group has become a supergroup."
	}
	return ""
}

func buttonViews(keyboard [][]Button) [][]buttonView {
	var out [][]buttonView
	for _, row := range keyboard {
		var keys []buttonView
		for _, b := range row {
			keys = append(keys, buttonView{Text: b.Text, Data: b.Data, URL: b.URL, Copy: b.CopyText, Style: b.Style, Disabled: b.Disabled})
		}
		out = append(out, keys)
	}
	return out
}

func (s *Server) reactionViews(list []Reaction) []reactionView {
	var out []reactionView
next:
	for _, r := range list {
		mine := r.From == s.opt.Person.ID
		for i := range out {
			if out[i].Emoji == r.Emoji {
				out[i].Count++
				out[i].Mine = out[i].Mine || mine
				continue next
			}
		}
		out = append(out, reactionView{Emoji: r.Emoji, Count: 1, Mine: mine})
	}
	return out
}

func replyTo(m *Message) *replyView {
	if m == nil {
		return nil
	}
	text := m.Body()
	switch {
	case text != "":
	case m.Document != nil:
		text = m.Document.FileName
	case m.Photo != nil:
		text = "Photo"
	case m.Voice != nil:
		text = "Voice message"
	default:
		text = otherKind(m)
	}
	if short := []rune(text); len(short) > 200 {
		text = string(short[:200])
	}
	return &replyView{ID: m.ID, From: m.From.FirstName, Text: text}
}
