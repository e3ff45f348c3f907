package botapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
)

// maxBody is Telegram's limit of an upload (50 MB) and some room for the form.
const maxBody = 52 << 20

type upload struct {
	name string
	data []byte
}

// params are the fields of a call: from the query, a form, a multipart form or a JSON object.
// Telegram takes them all.
type params struct {
	fields map[string]string
	files  map[string]upload
}

func readParams(w http.ResponseWriter, r *http.Request) (params, *apiError) {
	p := params{fields: map[string]string{}, files: map[string]upload{}}
	for k, v := range r.URL.Query() {
		p.fields[k] = v[0]
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return p, &apiError{code: http.StatusRequestEntityTooLarge, description: "Request Entity Too Large"}
	}
	if err != nil {
		return p, badRequest("can't read the request")
	}
	kind, arguments, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	// The library sends getMe as a multipart form without a body at all, which is not valid
	// multipart.
	if len(bytes.TrimSpace(body)) == 0 {
		return p, nil
	}
	switch kind {
	case "multipart/form-data":
		err = p.readMultipart(body, arguments["boundary"])
	case "application/x-www-form-urlencoded":
		err = p.readForm(body)
	case "application/json":
		err = p.readJSON(body)
	}
	if err != nil {
		return p, badRequest("can't parse the request: %v", err)
	}
	return p, nil
}

func (p params) readMultipart(body []byte, boundary string) error {
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		if part.FileName() != "" {
			p.files[part.FormName()] = upload{name: part.FileName(), data: data}
			continue
		}
		p.fields[part.FormName()] = string(data)
	}
}

func (p params) readForm(body []byte) error {
	values, err := url.ParseQuery(string(body))
	for k, v := range values {
		p.fields[k] = v[0]
	}
	return err
}

// readJSON keeps strings as they are and everything else as its JSON, which is how a form carries
// it.
func (p params) readJSON(body []byte) error {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &fields); err != nil {
		return err
	}
	for k, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			p.fields[k] = text
			continue
		}
		p.fields[k] = string(raw)
	}
	return nil
}

func (p params) str(name string) string { return p.fields[name] }

func (p params) has(name string) bool { return p.fields[name] != "" }

func (p params) bool(name string) bool {
	v := p.fields[name]
	return v == "true" || v == "1" || v == "True" || v == "yes"
}

// int64 returns 0 for an invalid number, as Telegram reads it.
func (p params) int64(name string) int64 {
	n, _ := strconv.ParseInt(p.fields[name], 10, 64)
	return n
}

func (p params) int(name string) int { return int(p.int64(name)) }

func (p params) intOr(name string, otherwise int) int {
	if !p.has(name) {
		return otherwise
	}
	return p.int(name)
}

// strings reads a JSON list of strings; given tells an empty list from none.
func (p params) strings(name string) (list []string, given bool, refusal *apiError) {
	if !p.has(name) {
		return nil, false, nil
	}
	if err := json.Unmarshal([]byte(p.fields[name]), &list); err != nil {
		return nil, false, badRequest("can't parse %s JSON object", name)
	}
	return list, true, nil
}

func (p params) summary() map[string]string {
	out := make(map[string]string, len(p.fields)+len(p.files))
	for k, v := range p.fields {
		out[k] = v
	}
	for k, f := range p.files {
		out[k] = "@" + f.name
	}
	return out
}
