package join

import (
	"context"
	"errors"
	"slices"
	"time"

	"ccbot/fleet/link"
	"ccbot/fleet/rights"
)

// Fleet returns what the hub has to know. If a host is unread, it has no account: the hub keeps the
// one that it has, because another one could lack a revocation.
func (d *Desk) Fleet() (link.Fleet, error) {
	ids, revoked, err := d.settings.Hosts.Revoked()
	if unread := (*Unread)(nil); errors.As(err, &unread) {
		return link.Fleet{Hosts: ids}, nil
	}
	if err != nil {
		return link.Fleet{}, err
	}
	account, err := d.settings.Keys.AccountJWT(revoked)
	return link.Fleet{Account: account, Hosts: ids}, err
}

func (d *Desk) give(ctx context.Context) error {
	fleet, err := d.Fleet()
	if err != nil {
		return err
	}
	return d.settings.SetFleet(ctx, fleet)
}

// Remove takes the rights of a host back. The record stays, with the revocation. tell is called
// before the hub cuts the host off.
func (d *Desk) Remove(ctx context.Context, id string, tell func()) error {
	err := d.change(id, func(h *Host) {
		h.Removed = d.settings.Now()
		d.revoke(h, h.Users)
	})
	if err != nil {
		return err
	}
	tell()
	return d.giveRevoked(ctx)
}

// giveRevoked gives the hub the revocations. It fails if one of them may be missing.
func (d *Desk) giveRevoked(ctx context.Context) error {
	if _, _, err := d.settings.Hosts.Revoked(); err != nil {
		return err
	}
	return d.give(ctx)
}

// Renew returns rights that begin now, for a user key of the host: the present one, or another one
// that replaces it. The earlier key is valid until Retire, so that a host that misses the answer is
// not shut out. Until Renewed, the rights count as not renewed.
func (d *Desk) Renew(id, user string) (jwt string, until time.Time, err error) {
	until = d.settings.Now().Add(rights.HostTTL)
	if jwt, err = d.settings.Keys.HostJWT(id, user, until); err != nil {
		return "", until, err
	}
	err = d.change(id, func(h *Host) {
		if !slices.Contains(h.Users, user) {
			h.Users = append(h.Users, user)
		}
	})
	if err != nil {
		return "", until, err
	}
	return jwt, until, nil
}

// Renewed notes that a host has its renewed rights.
func (d *Desk) Renewed(id string, until time.Time) error {
	return d.change(id, func(h *Host) { h.Until = until })
}

// Retire revokes the keys of a host but for the newest, after the host has used that.
func (d *Desk) Retire(ctx context.Context, id string) error {
	err := d.change(id, func(h *Host) { d.revoke(h, h.Users[:len(h.Users)-1]) })
	if err != nil {
		return err
	}
	return d.giveRevoked(ctx)
}

func (d *Desk) revoke(h *Host, users []string) {
	if h.Revoked == nil {
		h.Revoked = make(rights.Revoked)
	}
	for _, user := range users {
		if _, done := h.Revoked[user]; !done {
			h.Revoked[user] = d.settings.Now()
		}
	}
}

func (d *Desk) change(id string, do func(*Host)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	host, err := d.settings.Hosts.find(id)
	if err != nil {
		return err
	}
	do(&host)
	return d.settings.Hosts.put(host)
}
