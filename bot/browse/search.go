package browse

import (
	"context"
	"sync"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/port/folders"
)

// mostSearched bounds a search: a person waits for it.
var mostSearched = folders.Extent{Folders: 5000, Depth: 8, Found: 100, Time: 3 * time.Second}

// extent describes the extent of a search.
func extent(p chat.Phrases, found folders.Found) (text render.Text) {
	below := p.Some(each.As(found.Roots, p.Short), p.Say(i18n.JoinNames))
	says := i18n.NewSearched
	if found.IsWhole() {
		says = i18n.NewSearchedAll
	}
	text = p.Text(says, i18n.Args{"Count": found.Read, "Roots": below})
	if found.Unreadable > 0 {
		text = chat.Lines(text, p.Text(i18n.NewUnreadable, i18n.Args{"Count": found.Unreadable}))
	}
	return text
}

// answerTimeout bounds the search on another machine: one that hangs delays no page for longer.
const answerTimeout = 5 * time.Second

// search returns the folders of all machines whose names contain part, and the ids of the machines
// that have not answered. The error is of the chat's own machine.
func (b *Browser) search(ctx context.Context, part string) (all folders.Found, silent []string, err error) {
	late, stop := context.WithTimeout(ctx, answerTimeout)
	defer stop()
	others := b.chat.Machines.Others()
	found, errs := make([]folders.Found, len(others)), make([]error, len(others))
	var wait sync.WaitGroup
	for i, m := range others {
		if !m.Away {
			wait.Go(func() {
				found[i], errs[i] = b.Places.Search(late, folders.Address(m.ID, ""), part, mostSearched)
			})
		}
	}
	all, err = b.Places.Search(ctx, "", part, mostSearched)
	wait.Wait()
	for i, one := range found {
		if errs[i] != nil {
			silent = append(silent, others[i].ID)
			continue
		}
		all.Dirs, all.Roots = append(all.Dirs, one.Dirs...), append(all.Roots, one.Roots...)
		all.Read, all.Unreadable, all.Cut = all.Read+one.Read, all.Unreadable+one.Unreadable, all.Cut || one.Cut
	}
	return all, silent, err
}
