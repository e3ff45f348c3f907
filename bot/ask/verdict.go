package ask

import "ccbot/bot/render"

// Status is the last line of a card's message: what a person may do now, or what became of the request. It is blank
// where the buttons say it.
func (v Viewer) Status(c Card) render.Text { return v.status(c, judge(c, sheetOf(c, paths{}))) }
