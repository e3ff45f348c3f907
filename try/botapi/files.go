package botapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	_ "image/gif"  // formats that Telegram takes for photos
	_ "image/jpeg" // formats that Telegram takes for photos
	_ "image/png"  // formats that Telegram takes for photos
	"mime"
	"net/http"
	"path/filepath"
	"strings"
)

// Limits of https://core.telegram.org/bots/api#sending-files, in bytes.
const (
	maxUpload   = 50 << 20
	maxPhoto    = 10 << 20
	maxDownload = 20 << 20
)

// fileMethods send and fetch files. The names are lower case.
var fileMethods = map[string]func(*Server, params) (any, *apiError){
	"senddocument":   (*Server).sendDocument,
	"sendphoto":      (*Server).sendPhoto,
	"sendmediagroup": (*Server).sendMediaGroup,
	"getfile":        (*Server).getFile,
}

type file struct {
	id, path   string
	name, mime string
	data       []byte
	declared   int64 // declared size of a file without bytes; for files too large to hold
}

func (f *file) size() int64 { return max(f.declared, int64(len(f.data))) }

func (f *file) unique() string { return "u" + f.id }

func (f *file) document() *Document {
	return &Document{FileID: f.id, FileUniqueID: f.unique(), FileName: f.name, MimeType: f.mime, FileSize: f.size()}
}

func (s *Server) addFileLocked(folder, name, kind string, data []byte) *file {
	s.nextID++
	name = filepath.Base(name)
	extension := strings.ToLower(filepath.Ext(name))
	if kind == "" {
		kind, _, _ = mime.ParseMediaType(mime.TypeByExtension(extension))
	}
	if kind == "" {
		kind = "application/octet-stream"
	}
	id := "BQAC" + secret(12) + itoa(int(s.nextID))
	f := &file{id: id, path: folder + "/file_" + itoa(int(s.nextID)) + extension, name: name, mime: kind, data: data}
	s.files[id] = f
	return f
}

var errPhoto = errors.New("not a picture that Telegram takes")

func (s *Server) addPhotoLocked(data []byte) ([]PhotoSize, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, errors.Join(errPhoto, err)
	}
	f := s.addFileLocked("photos", "photo."+format, "image/"+format, data)
	return []PhotoSize{{FileID: f.id, FileUniqueID: f.unique(), Width: config.Width, Height: config.Height, FileSize: len(data)}}, nil
}

func (s *Server) sendDocument(p params) (any, *apiError) {
	return s.sendFile(p, func(m *Message) (refusal *apiError) {
		m.Document, refusal = s.document(p, p.str("document"), "document")
		return refusal
	})
}

func (s *Server) sendPhoto(p params) (any, *apiError) {
	return s.sendFile(p, func(m *Message) (refusal *apiError) {
		m.Photo, refusal = s.photo(p, p.str("photo"), "photo")
		return refusal
	})
}

func (s *Server) sendFile(p params, attach func(*Message) *apiError) (any, *apiError) {
	text, entities, refusal := p.caption()
	if refusal != nil {
		return nil, refusal
	}
	m, refusal := s.draft(p)
	if refusal != nil {
		return nil, refusal
	}
	if refusal := attach(m); refusal != nil {
		return nil, refusal
	}
	m.Caption, m.CaptionEntities = text, entities
	return s.send(m), nil
}

// uploaded finds the bytes of a file field: under its own name, or under the one that attach://
// gives.
func uploaded(p params, value, field string) (upload, bool, *apiError) {
	if name, ok := strings.CutPrefix(value, "attach://"); ok {
		field = name
	}
	up, ok := p.files[field]
	switch {
	case ok && len(up.data) == 0:
		return up, false, badRequest("file must be non-empty")
	case ok && len(up.data) > maxUpload:
		return up, false, &apiError{code: http.StatusRequestEntityTooLarge, description: "Request Entity Too Large"}
	case !ok && strings.Contains(value, "://"):
		return up, false, badRequest("stand-in: files by URL are not fetched")
	}
	return up, ok, nil
}

func (s *Server) document(p params, value, field string) (*Document, *apiError) {
	up, ok, refusal := uploaded(p, value, field)
	switch {
	case refusal != nil:
		return nil, refusal
	case ok:
		return s.addFileLocked("documents", up.name, "", up.data).document(), nil
	case value == "":
		return nil, badRequest("there is no document in the request")
	case s.files[value] == nil:
		return nil, badRequest("wrong remote file identifier specified: Wrong string length")
	}
	return s.files[value].document(), nil
}

func (s *Server) photo(p params, value, field string) ([]PhotoSize, *apiError) {
	up, ok, refusal := uploaded(p, value, field)
	if refusal != nil {
		return nil, refusal
	}
	if !ok {
		known := s.files[value]
		if value == "" {
			return nil, badRequest("there is no photo in the request")
		}
		if known == nil {
			return nil, badRequest("wrong remote file identifier specified: Wrong string length")
		}
		up.data = known.data
	}
	if len(up.data) > maxPhoto {
		return nil, badRequest("file is too big")
	}
	sizes, err := s.addPhotoLocked(up.data)
	if err != nil {
		return nil, badRequest("IMAGE_PROCESS_FAILED")
	}
	if w, h := sizes[0].Width, sizes[0].Height; w+h > 10_000 || w > 20*h || h > 20*w {
		return nil, badRequest("PHOTO_INVALID_DIMENSIONS")
	}
	return sizes, nil
}

// inputMedia is one entry of an album, or what an edit puts in place of a file.
type inputMedia struct {
	Type      string   `json:"type"`
	Media     string   `json:"media"`
	Caption   string   `json:"caption"`
	ParseMode string   `json:"parse_mode"`
	Entities  []Entity `json:"caption_entities"`
}

func (s *Server) media(p params, in inputMedia) (c change, refusal *apiError) {
	if in.ParseMode != "" {
		return c, badRequest("stand-in: parse_mode is not supported, send entities")
	}
	if c.caption, c.captionEntities, refusal = caption(in.Caption, in.Entities); refusal != nil {
		return c, refusal
	}
	switch in.Type {
	case "photo":
		c.photo, refusal = s.photo(p, in.Media, "")
	case "document":
		c.document, refusal = s.document(p, in.Media, "")
	default:
		refusal = badRequest("stand-in: media of type %q is not supported", in.Type)
	}
	return c, refusal
}

func (s *Server) sendMediaGroup(p params) (any, *apiError) {
	var list []inputMedia
	if err := json.Unmarshal([]byte(p.str("media")), &list); err != nil {
		return nil, badRequest("can't parse media JSON object")
	}
	if len(list) < 2 || len(list) > 10 {
		return nil, badRequest("media group must include 2-10 items")
	}
	var drafts []*Message
	for _, in := range list {
		if in.Type != list[0].Type {
			return nil, badRequest("can't use the media of the specified type in the album")
		}
		m, refusal := s.draft(p)
		if refusal != nil {
			return nil, refusal
		}
		c, refusal := s.media(p, in)
		if refusal != nil {
			return nil, refusal
		}
		m.Photo, m.Document, m.Caption, m.CaptionEntities = c.photo, c.document, c.caption, c.captionEntities
		drafts = append(drafts, m)
	}
	s.nextID++
	for _, m := range drafts {
		m.MediaGroup = itoa(int(s.nextID))
		s.send(m)
	}
	return drafts, nil
}

func (s *Server) editMessageMedia(p params) (any, *apiError) {
	m, refusal := s.target(p)
	if refusal != nil {
		return nil, refusal
	}
	var in inputMedia
	if err := json.Unmarshal([]byte(p.str("media")), &in); err != nil {
		return nil, badRequest("can't parse media JSON object")
	}
	c, refusal := s.media(p, in)
	if refusal != nil {
		return nil, refusal
	}
	return s.edit(p, m, c)
}

func (s *Server) getFile(p params) (any, *apiError) {
	f := s.files[p.str("file_id")]
	if f == nil {
		return nil, badRequest("invalid file_id")
	}
	if f.size() > maxDownload {
		return nil, badRequest("file is too big")
	}
	return map[string]any{"file_id": f.id, "file_unique_id": f.unique(), "file_size": f.size(), "file_path": f.path}, nil
}

// serveFile answers GET /file/bot<token>/<file_path>.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	token, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/file/bot"), "/")
	call := Call{At: s.opt.Now(), Method: "file/" + path}
	if refusal := s.checkToken(token); refusal != nil {
		s.finish(w, call, refusal.code, refusal.body())
		return
	}
	fault := s.takeFault(Call{At: call.At, Method: "file"})
	if call.Fault = fault.Kind; fault.spoilsBefore() {
		s.playBefore(w, r, call, fault)
		return
	}
	f := s.fileAt(path)
	if f == nil {
		s.finish(w, call, http.StatusNotFound, errNotFound().body())
		return
	}
	switch fault.Kind {
	case FaultTruncated:
		s.truncate(w, call, f.data)
		return
	case FaultResetAfter:
		s.cut(w, call)
		return
	}
	s.record(call, http.StatusOK)
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(f.data)
}

func (s *Server) fileAt(path string) *file {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.path == path {
			return f
		}
	}
	return nil
}
