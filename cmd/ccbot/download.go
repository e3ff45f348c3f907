package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ccbot/bot/prompt"
	"ccbot/internal/pause"
	"ccbot/internal/token"
)

// The largest file that a Bot API server gives: Telegram's own, and one that people
// run themselves (core.telegram.org/bots/api#using-a-local-bot-api-server), which
// may have larger ones than anybody wants on this disk.
const (
	cloudLimit = 20 << 20
	ownLimit   = 2 << 30
)

// telegramURL is the server that everybody has.
const telegramURL = "https://api.telegram.org"

const (
	downloadFor = 30 * time.Minute // what comes after a file in its chat waits for it
	stallAfter  = time.Minute      // without a byte
	maxFileInfo = 64 << 10         // an answer of getFile, far above any
	locateTries = 3                // after each the server's own time is waited
)

var errStalled = errors.New("nothing more came")

// downloads fetches files that people send. Its requests have the stand-in of the
// token, and its errors neither that nor a path of the server's: in the folders of a
// local server the token is a directory.
type downloads struct {
	client redacting
	url    string
	own    bool                     // not Telegram's own server
	here   bool                     // it runs on this machine, and may name files of it
	real   func(path string) string // with the token in it, which answers have not
	stall  time.Duration
}

func newDownloads(c config) downloads {
	return downloads{client: redacting{c.apiClient()}, url: c.APIURL, own: c.APIURL != telegramURL, here: onLoopback(c.APIURL),
		real: c.Token.Fill, stall: stallAfter}
}

// onLoopback says whether an address can only be this machine.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback())
}

// Limit is how many bytes a file may have.
func (d downloads) Limit() int64 {
	if d.own {
		return ownLimit
	}
	return cloudLimit
}

// Download writes a file and returns the ending of its name on the server, such as
// ".jpg". Errors: prompt.ErrFileTooBig; any other may pass.
func (d downloads) Download(ctx context.Context, fileID string, to io.Writer) (ending string, err error) {
	ctx, cancel := context.WithTimeout(ctx, downloadFor)
	defer cancel()
	f, err := d.locate(ctx, fileID)
	if err != nil {
		return "", err
	}
	if f.Size > d.Limit() {
		return "", prompt.ErrFileTooBig
	}
	ending = path.Ext(f.Path)
	if filepath.IsAbs(f.Path) {
		return ending, d.copyHere(f, to)
	}
	return ending, d.fetch(ctx, f, to)
}

// fileInfo is where the server has a file.
type fileInfo struct {
	Path string `json:"file_path"`
	Size int64  `json:"file_size"` // 0: not known
}

// locate asks where a file is. A server that wants to be left alone is.
func (d downloads) locate(ctx context.Context, fileID string) (fileInfo, error) {
	for try := 1; ; try++ {
		f, wait, err := d.getFile(ctx, fileID)
		if wait == 0 || try == locateTries {
			return f, err
		}
		if err := pause.For(ctx, wait); err != nil {
			return fileInfo{}, err
		}
	}
}

// getFile is one call. wait says how long the server wants none.
func (d downloads) getFile(ctx context.Context, fileID string) (f fileInfo, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body := url.Values{"file_id": {fileID}}.Encode()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+"/bot"+token.Standin+"/getFile", strings.NewReader(body))
	if err != nil {
		return fileInfo{}, 0, errors.New("getFile: no request")
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := d.client.Do(q)
	if err != nil {
		return fileInfo{}, 0, fmt.Errorf("getFile: %w", err)
	}
	defer resp.Body.Close()
	var answer struct {
		OK          bool     `json:"ok"`
		Result      fileInfo `json:"result"`
		Description string   `json:"description"`
		Parameters  struct {
			RetryAfter int `json:"retry_after"`
		} `json:"parameters"`
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFileInfo))
	switch {
	case err != nil:
		return fileInfo{}, 0, fmt.Errorf("getFile: %w", err)
	case json.Unmarshal(data, &answer) != nil:
		return fileInfo{}, 0, fmt.Errorf("getFile: the server answers %d, and no JSON", resp.StatusCode)
	case answer.OK && answer.Result.Path != "":
		return answer.Result, 0, nil
	case strings.Contains(answer.Description, "file is too big"):
		return fileInfo{}, 0, prompt.ErrFileTooBig
	}
	wait = time.Duration(answer.Parameters.RetryAfter) * time.Second
	return fileInfo{}, max(wait, 0), fmt.Errorf("getFile: the server answers %d", resp.StatusCode)
}

// fetch copies a file that the server gives over http. It is followed nowhere else:
// see apiClient.
func (d downloads) fetch(ctx context.Context, f fileInfo, to io.Writer) error {
	if !fs.ValidPath(f.Path) {
		return errors.New("download: the server names no path")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(d.stall, func() { cancel(errStalled) })
	defer stall.Stop()
	address := d.url + "/file/bot" + token.Standin + "/" + (&url.URL{Path: f.Path}).EscapedPath()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("download: no request")
	}
	resp, err := d.client.Do(q)
	if err != nil {
		return fmt.Errorf("download: %w", causeOf(ctx, err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("download: the server answers %d", resp.StatusCode)
	}
	return causeOf(ctx, d.copy(reading{resp.Body, stall, d.stall}, f.Size, to))
}

// causeOf says why a request was called off, which its own error does not.
func causeOf(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return errStalled
	}
	return err
}

// reading puts the end off with every byte.
type reading struct {
	io.Reader
	stall *time.Timer
	after time.Duration
}

func (r reading) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.stall.Reset(r.after)
	}
	return n, err
}

// copy takes as many bytes as the server has said, and never more than the limit:
// a connection that was cut may look like the end of a file.
func (d downloads) copy(from io.Reader, size int64, to io.Writer) error {
	n, err := io.Copy(to, io.LimitReader(from, d.Limit()+1))
	switch {
	case err != nil:
		return fmt.Errorf("download: %w", err)
	case n > d.Limit():
		return prompt.ErrFileTooBig
	case size > 0 && n != size:
		return fmt.Errorf("download: %d bytes of %d came", n, size)
	}
	return nil
}

// copyHere copies a file that a server with --local has on this disk. From any other
// machine a path means nothing here, or something that nobody meant.
func (d downloads) copyHere(f fileInfo, to io.Writer) error {
	if !d.here {
		return errors.New("download: the server names a file of its own disk, and TELEGRAM_API_URL is not this machine")
	}
	file, err := openHere(d.real(f.Path))
	if err != nil {
		return fmt.Errorf("download: open the server's file: %w", withoutPath(err))
	}
	defer file.Close()
	return withoutPath(d.copy(file, f.Size, to))
}

// openHere opens a regular file: a pipe would hold the chat up, a device does things.
func openHere(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// withoutPath takes the path out of an error and keeps its cause.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return err
}
