//go:build pictures

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/try/botapi"
	"ccbot/try/botapi/pagetest"
)

// Looks of the README's pictures, and how large a picture may be.
var (
	desktop = pagetest.Look{Width: 900, Height: 620, Scale: 1.5}
	phone   = pagetest.Look{Width: 390, Height: 780, Scale: 2, Dark: true}
	small   = pagetest.Look{Width: 390, Height: 620, Scale: 1.5}
)

const (
	pictures       = "../docs/pictures"
	largestPicture = 150 << 10
	pictureQuality = 82 // of JPEG: letters stay sharp
)

// TestPictures makes the README's pictures for `make pictures`. They depend on the machine's fonts,
// so no other test compares them, and the test has a build tag.
func TestPictures(t *testing.T) {
	pagetest.Browser(t)
	catalog := i18n.Load(glyph.Name)
	tr := &walk{words: catalog.For("en")}
	tr.world = newWorldAt(t, botapi.Options{}, withCards)
	tr.dir = filepath.Join(filepath.Dir(tr.dir), "shop")
	for _, dir := range []string{tr.dir, filepath.Join(filepath.Dir(tr.dir), "api")} {
		require.NoError(t, os.MkdirAll(dir, 0o750))
		playground(t, dir)
	}
	tr.start()
	tr.page = pagetest.Open(t, tr.api, phone)
	tr.sees(tr.say("/new shop ~/shop"), tr.says(i18n.Ready, i18n.Args{"Name": "shop"}))
	tr.worked()
	tr.listed()
	assert.Empty(t, tr.page.Problems(), "console errors")
	tr.stop()
}

// picture writes what the page shows.
func (tr *walk) picture(name string, look pagetest.Look) {
	tr.t.Helper()
	tr.page.Look(look)
	writePicture(tr.t, tr.page, name)
}

func writePicture(t *testing.T, shown *pagetest.Page, name string) {
	t.Helper()
	quality := int64(pictureQuality)
	shot := pagetest.Call(shown, page.CaptureScreenshot,
		page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatJpeg, Quality: &quality})
	require.LessOrEqual(t, len(shot.Data), largestPicture, name)
	require.NoError(t, os.MkdirAll(pictures, 0o755))                                         //nolint:gosec // for everybody to read
	require.NoError(t, os.WriteFile(filepath.Join(pictures, name+".jpg"), shot.Data, 0o644)) //nolint:gosec // for everybody to read
}

// worked is a turn of many steps, and what it has changed.
func (tr *walk) worked() {
	asked := tr.say("work 60")
	card := tr.with(asked, i18n.ButtonStop)
	tr.sees(asked, "All 60 steps are done")
	tr.until("the card is one line", func() bool { return tr.has(card.ID, i18n.ButtonDetails) })
	tr.press(card.ID, i18n.ButtonChanges)
	changes := tr.withWord(card.ID, "1 colours.conf")
	tr.pressWord(changes.ID, "1 colours.conf")
	tr.until("the hunks are shown", func() bool { return strings.Contains(tr.message(changes.ID).Body(), "+weight = 3") })
	tr.picture("changes", small)
}

// listed are two sessions, and what both cost.
func (tr *walk) listed() {
	tr.sees(tr.say("/new api ~/api"), tr.says(i18n.Ready, i18n.Args{"Name": "api"}))
	tr.with(tr.say("plan"), i18n.ButtonStop)
	tr.sees(tr.say("/list"), "shop")
	tr.with(tr.say("/usage"), i18n.ButtonRefresh)
	tr.picture("usage", small)
}
