package inbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/require"
)

const testToken = "12345:SECRET-token"

// telegram behaves as the Bot API does: an update stays until a getUpdates with a higher offset, a
// poll waits for an update, and without an offset all unconfirmed updates come again. It serves
// over HTTP and, as a RoundTripper, in memory.
type telegram struct {
	mu      sync.Mutex
	pending map[int64]string
	again   []string                                     // comes with the next answer, although confirmed
	shuffle *rand.Rand                                   // shuffles every answer
	news    chan struct{}                                // closed when pending grows
	offsets []int64                                      // of every poll
	asked   []time.Time                                  // when
	onPoll  func(offset int64)                           // before a poll confirms
	answer  func(w http.ResponseWriter, n int) (ok bool) // instead of the real answer to the n-th poll
	me      func(w http.ResponseWriter, n int) (ok bool) // instead of the real answer to the n-th getMe
	asks    int                                          // calls of getMe
}

func newTelegram() *telegram {
	return &telegram{pending: make(map[int64]string), news: make(chan struct{})}
}

func (g *telegram) deliver(updates ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, u := range updates {
		g.pending[glance(json.RawMessage(u)).id] = u
	}
	close(g.news)
	g.news = make(chan struct{})
}

// redeliver simulates a server that has lost a confirmation.
func (g *telegram) redeliver(updates ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.again = append(g.again, updates...)
	close(g.news)
	g.news = make(chan struct{})
}

func (g *telegram) unconfirmed() []int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.idsLocked()
}

func (g *telegram) polls() []int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.offsets)
}

func (g *telegram) times() []time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.asked)
}

func (g *telegram) idsLocked() []int64 {
	var ids []int64
	for id := range g.pending {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (g *telegram) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Offset  int64    `json:"offset"`
		Timeout int      `json:"timeout"`
		Allowed []string `json:"allowed_updates"`
	}
	if r.URL.Path == "/bot"+testToken+"/getMe" {
		g.serveMe(w)
		return
	}
	if r.URL.Path != "/bot"+testToken+"/getUpdates" || json.NewDecoder(r.Body).Decode(&ask) != nil || len(ask.Allowed) == 0 {
		fail(w, 404, "Not Found", "")
		return
	}
	g.mu.Lock()
	g.offsets, g.asked = append(g.offsets, ask.Offset), append(g.asked, time.Now())
	n, answer, onPoll := len(g.offsets), g.answer, g.onPoll
	g.mu.Unlock()
	if onPoll != nil {
		onPoll(ask.Offset)
	}
	if answer != nil && answer(w, n) {
		return
	}
	g.serve(r.Context(), w, ask.Offset, time.Duration(ask.Timeout)*time.Second)
}

func (g *telegram) serveMe(w http.ResponseWriter) {
	g.mu.Lock()
	g.asks++
	n, me := g.asks, g.me
	g.mu.Unlock()
	if me == nil || !me(w, n) {
		_, _ = fmt.Fprint(w, `{"ok":true,"result":{"id":1,"is_bot":true,"first_name":"b"}}`)
	}
}

func (g *telegram) whoAsked() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.asks
}

func (g *telegram) serve(ctx context.Context, w http.ResponseWriter, offset int64, timeout time.Duration) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		g.mu.Lock()
		for id := range g.pending {
			if id < offset {
				delete(g.pending, id)
			}
		}
		ids, news := g.idsLocked(), g.news
		var batch []string
		for _, id := range ids {
			batch = append(batch, g.pending[id])
		}
		batch, g.again = append(batch, g.again...), nil
		if g.shuffle != nil {
			g.shuffle.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
		}
		g.mu.Unlock()
		if len(batch) > 0 {
			_, _ = fmt.Fprintf(w, `{"ok":true,"result":[%s]}`, strings.Join(batch, ","))
			return
		}
		select {
		case <-news:
		case <-timer.C:
			_, _ = fmt.Fprint(w, `{"ok":true,"result":[]}`)
			return
		case <-ctx.Done():
			return
		}
	}
}

func fail(w http.ResponseWriter, code int, description, parameters string) {
	if parameters != "" {
		parameters = `,"parameters":` + parameters
	}
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":%d,"description":%q%s}`, code, description, parameters)
}

// RoundTrip answers in memory, so that testing/synctest can own the clock.
func (g *telegram) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// message returns an update with a text message in a private chat.
func message(id, chat int64, text string) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":1,"chat":{"id":%d,"type":"private"},`+
		`"from":{"id":77,"is_bot":false,"first_name":"A"},"text":%q}}`, id, id*10, chat, text)
}

// part returns a message of an album in a private chat.
func part(id, chat, from int64, album string) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":1,"chat":{"id":%d,"type":"private"},`+
		`"from":{"id":%d,"is_bot":false,"first_name":"A"},"media_group_id":%q,"caption":"x"}}`, id, id*10, chat, from, album)
}

// tap returns a callback query on message on.
func tap(id, chat int64, on int, data string) string {
	return fmt.Sprintf(`{"update_id":%d,"callback_query":{"id":"q%d","from":{"id":77,"is_bot":false,"first_name":"A"},"chat_instance":"c",`+
		`"data":%q,"message":{"message_id":%d,"date":1,"chat":{"id":%d,"type":"private"}}}}`, id, id, data, on, chat)
}

// poison cannot be decoded by go-telegram: the kind of the forward's origin is unknown.
func poison(id, chat int64) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":1,"chat":{"id":%d,"type":"private"},`+
		`"from":{"id":77,"is_bot":false,"first_name":"A"},"forward_origin":{"type":"from_the_future"},"text":"x"}}`, id, id*10, chat)
}

// handlerFunc is a Handler.
type handlerFunc func(ctx context.Context, key string, u *models.Update) error

func (f handlerFunc) Handle(ctx context.Context, key string, u *models.Update, _ ...*models.Update) error {
	return f(ctx, key, u)
}

// Tap does all of it then.
func (f handlerFunc) Tap(_ context.Context, u *models.Update) (func(context.Context) error, error) {
	return func(ctx context.Context) error { return f(ctx, UpdateKey(u.ID), u) }, nil
}

// reports is a Reporter that records its calls.
type reports struct {
	mu   sync.Mutex
	got  []Failure
	fail error

	clock     []time.Duration // by which it was ahead
	clockFail error           // of the next report about it
	outages   []time.Duration
	rivals    []bool // whether another program polled; the first report reaches no person
}

func (r *reports) OutageEnded(_ context.Context, since, now time.Time) error {
	r.outages = append(r.outages, now.Sub(since).Round(5*time.Minute)) // the running poll had an answer
	return nil
}

func (r *reports) ClockDiffers(_ context.Context, ahead time.Duration) (reported bool, err error) {
	r.clock = append(r.clock, ahead.Round(time.Minute))
	err, r.clockFail = r.clockFail, nil
	return err == nil, err
}

func (r *reports) RivalPolls(_ context.Context, polls bool) (reported bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rivals = append(r.rivals, polls)
	return len(r.rivals) > 1, nil
}

func (r *reports) rivalry() []bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.rivals)
}

func (r *reports) UpdateFailed(_ context.Context, f Failure) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, f)
	return r.fail
}

func (r *reports) all() []Failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// logBuffer keeps the log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// rig is an intake with everything around it.
type rig struct {
	dir      string
	tg       *telegram
	store    *Store
	intake   *Intake
	reports  *reports
	log      *logBuffer
	result   chan error
	endPolls func()
}

// newRig returns an intake on folder dir with tg in memory.
func newRig(t testing.TB, dir string, tg *telegram, h Handler) *rig {
	t.Helper()
	r := &rig{dir: dir, tg: tg, reports: &reports{}, log: &logBuffer{}, result: make(chan error, 1)}
	store, err := OpenStore(dir, r.log.logger())
	require.NoError(t, err)
	r.store = store
	r.intake = NewIntake(Config{Client: &http.Client{Transport: tg}, API: "https://api.telegram.org/", Token: testToken,
		Store: store, Handler: h, Reporter: r.reports, Log: r.log.logger()})
	return r
}

// start runs the intake; the returned stop ends it and waits.
func (r *rig) start(t testing.TB) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	polling, end := context.WithCancel(ctx)
	r.endPolls = end
	go func() { r.result <- r.intake.Run(ctx, polling) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-r.result; err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

// unfinished returns the unfinished entries of a folder.
func unfinished(t testing.TB, dir string) []string {
	t.Helper()
	return slices.DeleteFunc(files(t, dir), func(name string) bool { return strings.HasSuffix(name, doneSuffix) })
}

// files lists the entries of a folder; a missing one is empty.
func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	names := []string{}
	for _, e := range entries {
		if e.Name() != numbersName {
			names = append(names, e.Name())
		}
	}
	return names
}
