package botapi

import (
	"errors"
	"fmt"
)

// Item is one file of an album: a picture (Photo), else a document. The mime type may be empty.
type Item struct {
	Name, Mime string
	Data       []byte
	Caption    string
	Photo      bool
}

var errAlbum = errors.New("an album has 2 to 10 files, all of them pictures or all of them documents")

// SendAlbum sends 2 to 10 files as one album: one message each, with one media_group_id. It returns
// their ids.
func (p *Person) SendAlbum(chatID int64, items ...Item) (ids []int, err error) {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	var album []*Message
	for _, item := range items {
		m := &Message{Caption: item.Caption, CaptionEntities: detect(item.Caption)}
		if item.Photo {
			m.Photo, err = s.addPhotoLocked(item.Data)
		} else {
			m.Document = s.addFileLocked("documents", item.Name, item.Mime, item.Data).document()
		}
		if err == nil && item.Photo != items[0].Photo {
			err = errAlbum
		}
		if err != nil {
			return nil, fmt.Errorf("stand-in: send album: %w", err)
		}
		album = append(album, m)
	}
	if len(album) < 2 || len(album) > 10 {
		return nil, fmt.Errorf("stand-in: send album: %w", errAlbum)
	}
	s.nextID++
	group := itoa(int(s.nextID))
	for _, part := range album {
		m := s.newPersonMessageLocked(p.user, chatID, 0, 0)
		m.Photo, m.Document, m.Caption, m.CaptionEntities = part.Photo, part.Document, part.Caption, part.CaptionEntities
		m.MediaGroup = group
		s.receiveLocked(m)
		ids = append(ids, m.ID)
	}
	return ids, nil
}

// SendHugeFile sends a document with a declared size only; it has no bytes here, and getFile
// refuses it above 20 MB.
func (p *Person) SendHugeFile(chatID int64, name string, size int64, caption string) int {
	return p.sendThing(chatID, func(s *Server, m *Message) {
		f := s.addFileLocked("documents", name, "", nil)
		f.declared = size
		m.Document, m.Caption, m.CaptionEntities = f.document(), caption, detect(caption)
	})
}

// SendVideo sends a video.
func (p *Person) SendVideo(chatID int64, name string, data []byte, caption string) int {
	return p.sendThing(chatID, func(s *Server, m *Message) {
		f := s.addFileLocked("videos", name, "video/mp4", data)
		m.Video = &Video{FileID: f.id, FileUniqueID: f.unique(), Width: 640, Height: 360, Duration: 3,
			FileName: f.name, MimeType: f.mime, FileSize: f.size()}
		m.Caption, m.CaptionEntities = caption, detect(caption)
	})
}

// SendSticker sends a sticker that stands for an emoji.
func (p *Person) SendSticker(chatID int64, emoji string) int {
	return p.sendThing(chatID, func(s *Server, m *Message) {
		f := s.addFileLocked("stickers", "sticker.webp", "image/webp", []byte("RIFF"))
		m.Sticker = &Sticker{FileID: f.id, FileUniqueID: f.unique(), Type: "regular", Width: 512, Height: 512, Emoji: emoji, FileSize: f.size()}
	})
}

// SendLocation sends a place.
func (p *Person) SendLocation(chatID int64, latitude, longitude float64) int {
	return p.sendThing(chatID, func(_ *Server, m *Message) { m.Location = &Location{Latitude: latitude, Longitude: longitude} })
}

// SendContact sends a phone number.
func (p *Person) SendContact(chatID int64, name, phone string) int {
	return p.sendThing(chatID, func(_ *Server, m *Message) { m.Contact = &Contact{PhoneNumber: phone, FirstName: name} })
}

// Forward forwards another person's text with its entities, text_link included.
func (p *Person) Forward(chatID int64, from, text string, entities []Entity) int {
	return p.sendThing(chatID, func(s *Server, m *Message) {
		m.Text, m.Entities = text, merge(entities, detect(text))
		m.ForwardOrigin = &ForwardOrigin{Type: "hidden_user", Date: s.opt.Now().Unix(), SenderUserName: from}
	})
}

// ForwardFromTheFuture sends a text whose forward_origin is of a kind that no library knows yet:
// typed libraries fail to decode the whole update.
func (p *Person) ForwardFromTheFuture(chatID int64, text string) int {
	return p.sendThing(chatID, func(s *Server, m *Message) {
		m.Text, m.Entities = text, detect(text)
		m.ForwardOrigin = &ForwardOrigin{Type: "from_the_future", Date: s.opt.Now().Unix()}
	})
}

func (p *Person) sendThing(chatID int64, fill func(s *Server, m *Message)) int {
	s := p.srv
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.newPersonMessageLocked(p.user, chatID, 0, 0)
	fill(s, m)
	s.receiveLocked(m)
	return m.ID
}
