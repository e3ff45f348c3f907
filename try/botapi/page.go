package botapi

import (
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
)

//go:embed web
var webFiles embed.FS

// Paths of the page. Nothing of them starts with /bot or /file/bot, which belong to the API.
const (
	assetPath = "/web/"
	mediaPath = "/page/media/"
)

const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pageHandler serves the chat page: the key is exchanged for a cookie, and only the cookie opens
// the page.
func (s *Server) pageHandler() http.Handler {
	web, err := fs.Sub(webFiles, "web")
	if err != nil { // the name is in this file
		panic(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, web, "page.html") })
	mux.Handle("GET "+assetPath, http.StripPrefix(assetPath, http.FileServerFS(web)))
	mux.HandleFunc("GET /page/events", s.serveEvents)
	mux.HandleFunc("GET "+mediaPath+"{id}", s.serveMedia)
	mux.HandleFunc("POST /page/send", s.postSend)
	mux.HandleFunc("POST /page/edit", s.postEdit)
	mux.HandleFunc("POST /page/voice", s.postVoice)
	mux.HandleFunc("POST /page/tap", s.postTap)
	mux.HandleFunc("POST /page/upload", s.postUpload)
	mux.HandleFunc("POST /page/topic", s.postTopic)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		harden(w.Header())
		switch {
		case !ownHost(r):
			// DNS rebinding: a foreign name that points here
			http.Error(w, "wrong host", http.StatusForbidden)
		case s.takesKey(w, r):
		case !s.hasCookie(r):
			http.Error(w, "Open the link that the terminal shows.", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !sameOrigin(r):
			http.Error(w, "wrong origin", http.StatusForbidden)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

func harden(h http.Header) {
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// ownHost compares the Host header with the address that the request really came in on.
func ownHost(r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	_, port, err := net.SplitHostPort(local.String())
	if err != nil {
		return false
	}
	return r.Host == local.String() || r.Host == "localhost:"+port
}

func sameOrigin(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return r.Header.Get("Origin") == "http://"+r.Host && (site == "" || site == "same-origin")
}

// takesKey exchanges the key in the address for the cookie and cleans the address.
func (s *Server) takesKey(w http.ResponseWriter, r *http.Request) bool {
	key := r.URL.Query().Get("key")
	if r.Method != http.MethodGet || r.URL.Path != "/" || subtle.ConstantTimeCompare([]byte(key), []byte(s.key)) != 1 {
		return false
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: s.auth, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return true
}

// cookieName has the port in it: cookies of one host are shared by all its ports.
func cookieName(r *http.Request) string {
	_, port, _ := net.SplitHostPort(r.Host)
	return "ccbot_page_" + port
}

func (s *Server) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(cookieName(r))
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(s.auth)) == 1
}

// readPost decodes a small JSON body; false means that the refusal is written.
func readPost(w http.ResponseWriter, r *http.Request, into any) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "application/json" {
		http.Error(w, "JSON only", http.StatusUnsupportedMediaType)
		return false
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(into); err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return false
	}
	return true
}

func (s *Server) postSend(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Text   string `json:"text"`
		Thread int    `json:"thread"`
		Reply  int    `json:"reply"`
	}
	if !readPost(w, r, &in) {
		return
	}
	me := s.PagePerson()
	writeJSON(w, map[string]int{"id": me.send(s.PageChat(), in.Thread, in.Reply, in.Text)})
}

// postEdit changes a text of the page's person.
func (s *Server) postEdit(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID   int    `json:"id"`
		Text string `json:"text"`
	}
	if !readPost(w, r, &in) {
		return
	}
	if err := s.PagePerson().Edit(s.PageChat(), in.ID, in.Text); err != nil {
		http.Error(w, "This message cannot be edited.", http.StatusConflict)
		return
	}
	writeJSON(w, map[string]bool{"ok": true})
}

// postVoice sends a prepared recording: two seconds of silence. Its comment holds the spoken text.
func (s *Server) postVoice(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Thread int `json:"thread"`
		Reply  int `json:"reply"`
	}
	if !readPost(w, r, &in) {
		return
	}
	recording, err := webFiles.ReadFile("web/voice.oga")
	if err != nil { // the name is in this file
		panic(err)
	}
	writeJSON(w, map[string]int{"id": s.PagePerson().sendVoice(s.PageChat(), in.Thread, in.Reply, 2, recording)})
}

func (s *Server) postTap(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID   int    `json:"id"`
		Data string `json:"data"`
	}
	if !readPost(w, r, &in) {
		return
	}
	q, err := s.tap(s.opt.Person, s.PageChat(), in.ID, in.Data)
	if err != nil {
		http.Error(w, "This button is gone.", http.StatusConflict)
		return
	}
	writeJSON(w, map[string]string{"query": q.id})
}

// postTopic changes a topic as a person does it.
func (s *Server) postTopic(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Thread int    `json:"thread"`
		Do     string `json:"do"`
		Name   string `json:"name"`
	}
	if !readPost(w, r, &in) {
		return
	}
	me, chat := s.PagePerson(), s.PageChat()
	var err error
	switch in.Do {
	case "rename":
		err = me.RenameTopic(chat, in.Thread, in.Name)
	case "close", "reopen":
		err = me.ShutTopic(chat, in.Thread, in.Do == "close")
	case "delete":
		err = me.DeleteTopic(chat, in.Thread)
	default:
		err = errors.New("unknown")
	}
	if err != nil {
		http.Error(w, "That cannot be done with this topic.", http.StatusConflict)
		return
	}
	writeJSON(w, map[string]bool{"ok": true})
}

// postUpload takes one file: multipart "file", "caption", "thread" and "reply". Pictures become
// photos as the apps do it.
func (s *Server) postUpload(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	part, head, err := r.FormFile("file")
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		http.Error(w, "The file is too big.", http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	defer part.Close()
	data, err := io.ReadAll(part)
	if err != nil || len(data) == 0 {
		http.Error(w, "The file is empty.", http.StatusBadRequest)
		return
	}
	me, caption := s.PagePerson(), r.FormValue("caption")
	thread, _ := strconv.Atoi(r.FormValue("thread"))
	reply, _ := strconv.Atoi(r.FormValue("reply"))
	if strings.HasPrefix(head.Header.Get("Content-Type"), "image/") {
		if id, err := me.sendPhoto(s.PageChat(), thread, reply, data, caption); err == nil {
			writeJSON(w, map[string]int{"id": id})
			return
		}
	}
	writeJSON(w, map[string]int{"id": me.sendFile(s.PageChat(), thread, reply, head.Filename, "", data, caption)})
}

// serveMedia shows pictures and offers everything else for download, so that no uploaded page runs
// here.
func (s *Server) serveMedia(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := s.files[r.PathValue("id")]
	s.mu.Unlock()
	if f == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	switch f.mime {
	case "image/png", "image/jpeg", "image/gif":
		w.Header().Set("Content-Type", f.mime)
		w.Header().Set("Cache-Control", "private, max-age=3600, immutable")
	default:
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.name}))
	}
	_, _ = w.Write(f.data)
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(mustJSON(v))
}
