package courier

import "slices"

// Resumed returns this end as a snapshot of its machine's memory has it, with a copy of its folder.
func (e *End) Resumed(folder string) *End {
	e.mu.Lock()
	defer e.unlock()
	r := &End{settings: e.settings, session: e.session, sent: e.sent, out: e.out, in: e.in, wake: make(chan struct{}, 1), arrived: make(chan struct{}, 1)}
	r.settings.Folder = folder
	r.out.folder.Path, r.in.folder.Path = folder+"/out", folder+"/in"
	r.out.items, r.out.Later = slices.Clone(e.out.items), slices.Clone(e.out.Later)
	notify(r.wake)
	return r
}
