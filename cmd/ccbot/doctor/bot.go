package doctor

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	bothealth "ccbot/bot/health"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/i18n"
	"ccbot/internal/control"
	"ccbot/internal/gauge"
	"ccbot/internal/health"
	"ccbot/internal/ownfile"
	"ccbot/internal/session"
	"ccbot/internal/suspect"
)

// bot asks the running bot, or checks what an ended one has left.
func bot(ctx context.Context, w *World) []Finding {
	figures, err := w.Ask(ctx)
	if err == nil {
		w.running = &figures
	}
	all := w.answer(figures, err)
	if err != nil {
		figures = w.withoutBot(ctx)
	}
	switch d := figures.Disk; {
	case d.Known && d.Free < statefolder.LeastFree:
		all = append(all, found("disk_full", "", "%s free on the disk of %s; a start needs %s", i18n.Words{}.Size(int64(d.Free)), w.Dir, i18n.Words{}.Size(statefolder.LeastFree)))
		figures.Disk.Low = false // it is the same fault
	case d.Known && !d.Low:
		all = append(all, good("disk", "%s free of %s", i18n.Words{}.Size(int64(d.Free)), i18n.Words{}.Size(int64(d.Total))))
	}
	if figures.ClaudeNeeded != "" && w.wrong == nil && !w.isOld(ctx) { // it was updated since
		figures.ClaudeNeeded = ""
	}
	well := true
	for _, wrong := range health.Warnings(figures) {
		all, well = append(all, found(Code(wrong.Code), "", "%s", offline.InTerminal(bothealth.Sentence(w.Words(), wrong, w.Dir)))), false
	}
	if refused := bothealth.Refused(w.Words(), figures.Refused); refused != "" {
		all = append(all, good("refused", "no report since the start: %s", offline.InTerminal(refused)))
	}
	if well && err == nil {
		all = append(all, good("health", "the bot says that everything works"))
	}
	return all
}

// withoutBot are the figures that can be seen without a bot.
func (w *World) withoutBot(ctx context.Context) (f health.Figures) {
	if room, err := gauge.Disk(ctx, w.Dir); err == nil {
		f.Disk = health.Disk{Known: true, Free: room.Free, Total: room.Total, Low: room.Low()}
	}
	if w.wrong == nil {
		f.Keys, f.HooksShutBy = w.Config.KeysFault(), w.Config.HooksShutBy()
	}
	f.Unread = suspect.Read(filepath.Join(w.Dir, suspect.Name), w.Table.Self().Boot)
	if w.unread == nil {
		for _, r := range w.Store.Shared() {
			if r.State == session.CleanupFailed {
				f.NotClean++
			}
		}
	}
	return f
}

func (w *World) answer(figures health.Figures, err error) []Finding {
	refusal := (*control.Refusal)(nil)
	pid := w.pid
	switch {
	case errors.As(err, &refusal) && refusal.Code == control.CodeUnknown:
		return []Finding{found("bot_other_version", "restart the bot", "the bot does not know what this ccbot %s asks: it is older", w.Version)}
	case errors.As(err, &refusal):
		return []Finding{found("bot_refuses", "run `ccbot doctor` in a terminal", "the bot does not answer this program: %s", refusal.Text)}
	case pid != 0 && err != nil:
		return []Finding{found("bot_silent", "wait if it is still starting, otherwise restart it", "process %d holds the lock, and its socket does not answer", pid)}
	case errors.Is(err, control.ErrNoServer):
		return []Finding{found("bot_down", "ccbot run", "no bot runs on %s", w.Dir)}
	case err != nil:
		return []Finding{unseen("bot", err)}
	case pid == 0:
		return []Finding{found("lock_lost", "restart the bot", "a bot answers that ccbot.lock does not name")}
	}
	var all []Finding
	if figures.Version != w.Version {
		all = append(all, found("bot_other_version", "restart the bot", "the bot is ccbot %s, and this program is ccbot %s", figures.Version, w.Version))
	}
	if figures.Program != "" { // the kernel shows it to the bot itself and to root only
		w.program = figures.Program
	}
	if w.otherProgram() {
		all = append(all, found("bot_other_program", "", "the bot runs %s, and this program is %s", w.program, w.self))
	}
	if len(all) == 0 {
		all = append(all, good("bot", "process %d, for %s", pid, terminal.Age(figures.Up)))
	}
	return all
}

func (w *World) otherProgram() bool {
	return w.program != "" && w.program != w.self && (strings.HasSuffix(w.program, " (deleted)") || !ownfile.Same(w.program, w.self))
}
