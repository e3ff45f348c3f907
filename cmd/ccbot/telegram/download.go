package telegram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"time"

	"ccbot/bot/attachment"
	"ccbot/internal/loopback"
	"ccbot/internal/ownfile"
	"ccbot/internal/pause"
	"ccbot/internal/token"
)

// The size limits of a file at Telegram's own Bot API server, and at a server that people run
// themselves (core.telegram.org/bots/api#using-a-local-bot-api-server). Such a server may have
// larger files than fit on this disk.
const (
	cloudLimit = 20 << 20
	ownLimit   = 2 << 30
)

// telegramURL is Telegram's own server.
const telegramURL = "https://api.telegram.org"

const (
	downloadFor = 30 * time.Minute // later messages of the same chat wait for a file
	stallAfter  = time.Minute      // without a byte
	locateTries = 3                // after each try the wait that the server asks for
)

var errStalled = errors.New("nothing more came")

// Downloads fetches files that people send. Its requests contain the stand-in of the token. Its
// errors contain neither the stand-in nor a path of the server, because the token is a directory in
// the folders of a local server.
type Downloads struct {
	client redacting
	url    string
	own    bool                     // not Telegram's own server
	here   bool                     // it runs on this machine, and may name files of it
	real   func(path string) string // replaces the stand-in in a path of an answer by the token
	stall  time.Duration
}

// NewDownloads fetches from a Bot API server.
func NewDownloads(secret token.Token, server string, proxy Proxy) Downloads {
	return Downloads{client: redacting{Client(secret, server, proxy)}, url: server, own: server != telegramURL, here: onLoopback(server),
		real: secret.Fill, stall: stallAfter}
}

// onLoopback reports whether an address can only be this machine.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && loopback.IsHost(u.Hostname())
}

// Limit returns the maximum size of a file in bytes.
func (d Downloads) Limit() int64 {
	if d.own {
		return ownLimit
	}
	return cloudLimit
}

// Open begins to fetch a file and returns the extension of its name on the server, such as ".jpg".
// Errors, also those of reading: attachment.ErrFileTooBig is final; any other error may pass.
func (d Downloads) Open(ctx context.Context, fileID string) (body io.ReadCloser, ending string, err error) {
	ctx, stop := context.WithTimeout(ctx, downloadFor)
	defer func() {
		if err != nil {
			stop()
		}
	}()
	f, err := d.locate(ctx, fileID)
	if err != nil {
		return nil, "", err
	}
	if f.Size > d.Limit() {
		return nil, "", attachment.ErrFileTooBig
	}
	var from *source
	if filepath.IsAbs(f.Path) {
		from, err = d.openHere(f)
	} else {
		from, err = d.fetch(ctx, f)
	}
	if err != nil {
		return nil, "", err
	}
	from.stop, from.size, from.limit = stop, f.Size, d.Limit()
	return from, path.Ext(f.Path), nil
}

// source is a file that is being fetched.
type source struct {
	from        io.ReadCloser
	came        func()            // called when bytes have come; may be nil
	why         func(error) error // translates an error of the transfer
	stop        func()
	size, limit int64 // size 0: not known
	n           int64
}

// Read accepts as many bytes as the server has announced, and never more than the limit: a
// connection that was cut may look like the end of a file.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if s.n += int64(n); n > 0 && s.came != nil {
		s.came()
	}
	switch {
	case s.n > s.limit:
		return n, attachment.ErrFileTooBig
	case errors.Is(err, io.EOF) && s.size > 0 && s.n != s.size:
		return n, fmt.Errorf("download: %d bytes of %d came", s.n, s.size)
	case err != nil && !errors.Is(err, io.EOF):
		return n, fmt.Errorf("download: %w", s.why(err))
	}
	return n, err
}

// Close cancels the rest of the transfer.
func (s *source) Close() error {
	s.stop()
	return s.from.Close()
}

// fileInfo is the server's path and size of a file.
type fileInfo struct {
	Path string `json:"file_path"`
	Size int64  `json:"file_size"` // 0: not known
}

// locate gets the path of a file. If the server asks for a pause, locate waits that long before the
// next try. If the server does not know the token, locate retries until it does, because that may
// pass.
func (d Downloads) locate(ctx context.Context, fileID string) (f fileInfo, err error) {
	for try, denied := 1, 0; ; try++ {
		asking, cancel := context.WithTimeout(ctx, callTimeout)
		_, err = Ask(asking, d.client.client, d.url, "getFile", map[string]string{"file_id": fileID}, &f)
		cancel()
		wait := waitAfter(err, 0)
		if errors.Is(err, ErrRevoked) {
			wait, try = pause.Doubled(time.Second, 10*time.Second, denied), 0
			denied++
		}
		if wait == 0 || try == locateTries {
			break
		}
		if err := pause.For(ctx, wait); err != nil {
			return fileInfo{}, err
		}
	}
	if err == nil && f.Path == "" {
		err = errors.New("getFile: the server names no path")
	}
	return f, err
}

// fetch requests a file that the server offers over http. It follows no redirect: see Client.
func (d Downloads) fetch(ctx context.Context, f fileInfo) (*source, error) {
	if !fs.ValidPath(f.Path) {
		return nil, errors.New("download: the server names no path")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stall := time.AfterFunc(d.stall, func() { cancel(errStalled) })
	why := func(err error) error { // a request's error does not contain the cause
		if errors.Is(context.Cause(ctx), errStalled) {
			return errStalled
		}
		return err
	}
	address := d.url + "/file/bot" + token.Standin + "/" + (&url.URL{Path: f.Path}).EscapedPath()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("download: no request")
	}
	resp, err := d.client.Do(q)
	if err != nil {
		return nil, fmt.Errorf("download: %w", why(err))
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("download: the server answers %d", resp.StatusCode), resp.Body.Close())
	}
	return &source{from: resp.Body, came: func() { stall.Reset(d.stall) }, why: why}, nil
}

// openHere opens a file that a server with --local has on this disk. A path from a server on
// another machine would name no file here, or a wrong one.
func (d Downloads) openHere(f fileInfo) (*source, error) {
	if !d.here {
		return nil, errors.New("download: the server names a local file, and TELEGRAM_API_URL is not this machine")
	}
	// the server may run as another user
	file, _, err := ownfile.Open(d.real(f.Path), ownfile.Others)
	if err != nil {
		return nil, fmt.Errorf("download: open the server's file: %w", withoutPath(err))
	}
	return &source{from: file, why: withoutPath}, nil
}

// withoutPath takes the path out of an error and keeps its cause.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Op, e.Err)
	}
	return err
}
