// Package pagetest uses the stand-in's chat page in a real browser, for tests.
//
// All pages of a test process are tabs of one browser, because its start costs more than most tests.
// The package promises that a tab shares no cookies with another one, that the browser and its
// profile are gone with the last tab, and that console errors, exceptions and violations of the
// page's content policy are kept (Problems). It does not start a stand-in (see botapitest) and opens
// only its page.
package pagetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
	"ccbot/try/botapi"
)

// stepLimit is how long the page may take for one step. It asserts nothing about speed.
const stepLimit = 2 * time.Minute

// Look is the window that the page is shown in.
type Look struct {
	Width, Height int64 // CSS pixels; 390×844 when 0
	Dark          bool
	Scale         float64 // device pixels per CSS pixel; 1 when 0
}

// Page is the chat page in a browser.
type Page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex // guards problems
	problems []string
}

// Browser returns the path of Chromium. If there is none, Browser skips the test as
// programtest.Skip does.
func Browser(t testing.TB) string {
	t.Helper()
	return programtest.Require(t, "chromium-headless-shell")
}

// browser is the one Chromium of this test process. It runs while at least one page is open, so that
// nothing of it is left after the last test, and no TestMain has to end it.
var browser struct {
	mu    sync.Mutex
	pages int
	ctx   context.Context
	end   func() error
}

// acquire starts the browser for the first page. The page's context is a child of the result.
func acquire(path string) (context.Context, error) {
	browser.mu.Lock()
	defer browser.mu.Unlock()
	if browser.pages == 0 {
		dir, err := os.MkdirTemp("", "page") // short, because of the path of a socket
		if err != nil {
			return nil, err
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
			chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
			chromedp.Env("TMPDIR="+dir), // a killed browser removes nothing
			chromedp.WSURLReadTimeout(stepLimit),
		)
		allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		browser.ctx, browser.end = ctx, func() error {
			// waits until the browser is gone, so that its profile can be removed
			_ = chromedp.Cancel(ctx)
			cancel()
			cancelAllocator()
			return os.RemoveAll(dir)
		}
		if err := chromedp.Do(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("start %s: %w", path, err), browser.end())
		}
	}
	browser.pages++
	return browser.ctx, nil
}

// release ends the browser after the last page.
func release() error {
	browser.mu.Lock()
	defer browser.mu.Unlock()
	if browser.pages--; browser.pages > 0 {
		return nil
	}
	return browser.end()
}

// Open opens the page with its key, in a tab that has cookies of its own. The tab is closed when the
// test ends.
func Open(t testing.TB, srv *botapi.Server, look Look) *Page {
	t.Helper()
	return OpenURL(t, srv.PageURL(), look)
}

// OpenURL is Open for the page of a server in another process.
func OpenURL(t testing.TB, url string, look Look) *Page {
	t.Helper()
	shared, err := acquire(Browser(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, release()) })
	ctx, cancel := chromedp.NewContext(shared, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &Page{t: t, ctx: ctx}
	require.NoError(t, chromedp.Listen(ctx, p.listen), "open a tab")
	Call(p, log.Enable, cdp.Empty{})
	Call(p, runtime.Enable, cdp.Empty{})
	p.Look(look)
	Run(p, chromedp.Navigate(url))
	p.Wait(`document.getElementById("name")?.textContent !== ""`)
	return p
}

// Look changes the window.
func (p *Page) Look(look Look) {
	p.t.Helper()
	if look.Width == 0 {
		look.Width, look.Height = 390, 844
	}
	if look.Scale == 0 {
		look.Scale = 1
	}
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	Call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: look.Width, Height: look.Height, DeviceScaleFactor: look.Scale,
	})
	Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		// Without motion no state between two frames is seen.
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
}

func (p *Page) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		p.problems = append(p.problems, "exception: "+text)
	case *runtime.EventConsoleAPICalled:
		if kind := string(e.Type); kind == "error" || kind == "warning" || kind == "assert" {
			p.problems = append(p.problems, fmt.Sprintf("console %s: %v", kind, e.Args))
		}
	case *log.EventEntryAdded:
		if level := string(e.Entry.Level); level == "error" || level == "warning" {
			p.problems = append(p.problems, fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	}
}

// Problems are the console errors, exceptions and policy violations so far.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// Type puts text into the composer, key by key; a newline is Shift+Enter.
func (p *Page) Type(text string) {
	p.t.Helper()
	Run(p, chromedp.Focus(chromedp.CSS("#text")))
	for _, r := range text {
		if r == '\n' {
			p.press(input.DispatchKeyEventParams{Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13, Modifiers: shift})
			continue
		}
		p.press(input.DispatchKeyEventParams{Key: string(r), Text: string(r)})
	}
}

// keyCodes are the keys that Press knows besides Enter.
var keyCodes = map[string]int64{"Tab": 9, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40}

// shift is the protocol's bit of the Shift key.
const shift = 8

// Press presses one key by its DOM name: Enter, Tab, Escape, ArrowUp, ArrowDown.
func (p *Page) Press(name string) {
	p.t.Helper()
	if name == "Enter" {
		p.press(input.DispatchKeyEventParams{Key: name, Code: name, Text: "\r", WindowsVirtualKeyCode: 13})
		return
	}
	require.Contains(p.t, keyCodes, name)
	p.press(input.DispatchKeyEventParams{Key: name, Code: name, WindowsVirtualKeyCode: keyCodes[name]})
}

// press sends the key and its character as one event, like a keyboard: chromedp's own key actions
// send two, and the character comes through although the page prevented the key.
func (p *Page) press(key input.DispatchKeyEventParams) {
	p.t.Helper()
	key.Type = "keyDown"
	Call(p, input.DispatchKeyEvent, key)
	key.Type, key.Text = "keyUp", ""
	Call(p, input.DispatchKeyEvent, key)
}

// Send types a text and presses Enter.
func (p *Page) Send(text string) {
	p.t.Helper()
	p.Type(text)
	p.Press("Enter")
}

// WaitText waits until a message on the page contains text.
func (p *Page) WaitText(text string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`[...document.querySelectorAll("#list .text")].some((n) => n.innerText.includes(%q))`, text))
}

// WaitGone waits until no message on the page contains text.
func (p *Page) WaitGone(text string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`![...document.querySelectorAll("#list .text")].some((n) => n.innerText.includes(%q))`, text))
}

// Tap presses the newest button with that label, when there is one.
func (p *Page) Tap(label string) {
	p.t.Helper()
	p.Wait(fmt.Sprintf(`(() => {
		const b = [...document.querySelectorAll(".keyboard button")].filter((n) => n.textContent === %q && !n.disabled).pop();
		b?.click();
		return !!b;
	})()`, label))
}

// Wait waits until a JavaScript expression is true.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	Run(p, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(30*time.Millisecond), chromedp.WithPollingTimeout(stepLimit)))
}

// Eval runs JavaScript in the page.
func (p *Page) Eval(expression string) {
	p.t.Helper()
	Run(p, chromedp.Evaluate[chromedp.Void](expression))
}

// Screenshot writes what the window shows to a PNG file.
func (p *Page) Screenshot(path string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(path, Run(p, chromedp.CaptureScreenshot()), 0o600))
}

// Value runs JavaScript in the page and returns its value.
func Value[T any](p *Page, expression string) T {
	p.t.Helper()
	return Run(p, chromedp.Evaluate[T](expression))
}

// Run does any action of chromedp.
func Run[T any](p *Page, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 2*stepLimit)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	require.NoError(p.t, err, "problems so far: %v", p.Problems())
	return value
}

// Call sends a command of the protocol.
func Call[P, R any](p *Page, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 2*stepLimit)
	defer cancel()
	value, err := chromedp.Call(ctx, command, params)
	require.NoError(p.t, err, "%s", command.Method)
	return value
}
