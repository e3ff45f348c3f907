package doctor

import "context"

// unit looks at ccbot as a service.
func unit(ctx context.Context, w *World) (all []Finding) {
	if w.wrong != nil { // which the unit's own look would report once more
		return []Finding{unseen("service", errNoSettings)}
	}
	u, err := w.Unit(ctx)
	switch {
	case err != nil:
		return []Finding{unseen("service", err)}
	case !u.Installed:
		return []Finding{skipped("service", "none is installed")}
	}
	switch {
	case u.Changed && u.Same:
		all = append(all, found("unit_changed", "ccbot service install --force", "%s was changed by hand", u.File))
	case u.Changed:
		all = append(all, found("unit_changed", "ccbot service install --force", "%s was changed by hand, and starts %s", u.File, u.Starts))
	case !u.Same:
		all = append(all, found("unit_other_program", "ccbot service install", "%s does not start this program but %s", u.File, u.Starts))
	case !u.Current:
		all = append(all, found("unit_outdated", "ccbot service install", "%s is not what this ccbot would write", u.File))
	}
	switch {
	case u.Problem != "":
		all = append(all, found("unit_unknown", "", "%s", u.Problem))
	case !u.Active:
		all = append(all, found("unit_inactive", "ccbot service restart", "the service does not run"))
	}
	if u.Lingers == "no" {
		all = append(all, found("unit_ends_at_logout", "loginctl enable-linger", "the service ends when you log out"))
	}
	if len(all) == 0 {
		all = append(all, good("service", "%s runs this program", u.Manager))
	}
	return all
}
