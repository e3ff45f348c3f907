package join

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/fleet/seal"
)

// maxGuesses is the number of wrong proofs after which a code ends.
const maxGuesses = 5

// maxRivals is the number of rivals after which no other one is counted: the person sees each.
const maxRivals = 9

// ErrChanged is returned by Decide if the person saw another machine.
var ErrChanged = errors.New("another machine waits with this code")

// Settings has the dependencies of a Desk.
type Settings struct {
	Keys  *rights.Keys
	Key   seal.Key // the chat's
	Name  string   // of the chat's machine
	Hub   link.Hub
	Hosts Hosts
	Now   func() time.Time
	// SetFleet sends the fleet to the hub after each change of a host.
	SetFleet func(context.Context, link.Fleet) error
	// OnCandidate is called when a machine waits for a decision, and again for each rival. It does
	// not block, and calls no method of the Desk.
	OnCandidate func(Candidate)
}

// Candidate is a machine that has proven a code's secret and waits for the person.
type Candidate struct {
	Code        string // id
	Name        string
	Fingerprint string
	Machine     Machine
	Rivals      int // other machines that have proven the same secret; at most maxRivals
}

// Desk is the chat's side of joins.
type Desk struct {
	settings Settings

	mu    sync.Mutex
	codes map[string]*offer // by id
}

// offer is a code that was made.
type offer struct {
	name      string
	secret    []byte
	until     time.Time
	guesses   int
	user, key string // of the first machine that has proven the secret
	candidate Candidate
	end       error          // of the code, nil while it is open
	reply     func(a answer) // to the machine's last request
}

// NewDesk returns a Desk without open codes.
func NewDesk(s Settings) *Desk { return &Desk{settings: s, codes: make(map[string]*offer)} }

// Offer returns a code for a machine that will have a name. An open code for the same name ends.
func (d *Desk) Offer(name string) (Code, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.settings.Hosts.checkName(name); err != nil {
		return Code{}, err
	}
	now := d.settings.Now()
	for id, o := range d.codes {
		if strings.EqualFold(o.name, name) || now.After(o.until.Add(answerTTL)) {
			delete(d.codes, id)
		}
	}
	secret := make([]byte, secretSize)
	if _, err := rand.Read(secret); err != nil {
		return Code{}, fmt.Errorf("join: %w", err)
	}
	c := Code{Hub: d.settings.Hub, Chat: d.settings.Key.Public(), Account: d.settings.Keys.Account(),
		Until: now.Add(TTL).Truncate(time.Second), secret: secret}
	_, j, err := joiner(secret, c.Account, c.Until)
	if err != nil {
		return Code{}, err
	}
	if c.signature, err = d.settings.Keys.Sign(j); err != nil {
		return Code{}, err
	}
	d.codes[j.Code] = &offer{name: name, secret: secret, until: c.Until}
	return c, nil
}

// Serve answers the machines until ctx ends.
func (d *Desk) Serve(ctx context.Context, conn *nats.Conn) error {
	messages := make(chan *nats.Msg, 64)
	sub, err := conn.ChanSubscribe(d.settings.Keys.Names().Join("*"), messages)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-messages:
			id := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
			if rights.IsInbox(id, m.Reply) {
				d.receive(id, m.Data, func(data []byte) { _ = conn.Publish(m.Reply, data) }) // the machine asks again
			}
		}
	}
}

// receive takes a machine's request. It does not answer what no machine with a code could send.
func (d *Desk) receive(id string, data []byte, send func([]byte)) {
	from, r, err := unwrap(d.settings.Key, data)
	if err != nil {
		return
	}
	reply := func(a answer) {
		plain, err := json.Marshal(a)
		if err != nil {
			return
		}
		if sealed, err := d.settings.Key.SealFor(from, plain); err == nil {
			send(sealed)
		}
	}
	d.mu.Lock()
	a, changed := d.answerLocked(id, from, r, reply)
	d.mu.Unlock()
	if a.Status != waiting {
		reply(a)
	}
	if changed != nil && d.settings.OnCandidate != nil {
		d.settings.OnCandidate(*changed)
	}
}

// answerLocked decides about a request. It returns the candidate if the person has something new
// to see.
func (d *Desk) answerLocked(id, key string, r request, reply func(answer)) (answer, *Candidate) {
	all, _, err := d.settings.Hosts.List()
	if err != nil {
		return answer{Status: waiting}, nil // the machine asks again
	}
	o := d.codes[id]
	for _, host := range all {
		if host.Code != id {
			continue
		}
		if o == nil {
			o = &offer{end: ErrUsed}
		}
		if host.Key == key && host.Users[0] == r.User && !host.IsRemoved() {
			return d.admission(host), nil
		}
	}
	switch {
	case o == nil, o.end == nil && d.settings.Now().After(o.until):
		return answer{Status: statusOf(ErrLate)}, nil
	case o.end != nil && o.key == "", o.end != nil && o.key == key:
		return answer{Status: statusOf(o.end)}, nil
	}
	want, err := proof(o.secret, r.User, key, d.settings.Key.Public())
	if err != nil || !hmac.Equal(want, r.Proof) || !nkeys.IsValidPublicUserKey(r.User) {
		if o.guesses++; o.guesses >= maxGuesses {
			o.end = ErrProof
		}
		return answer{Status: statusOf(ErrProof)}, nil
	}
	switch {
	case o.key == "":
		o.user, o.key, o.reply = r.User, key, reply
		o.candidate = Candidate{Code: id, Name: o.name, Fingerprint: Fingerprint(r.User, key), Machine: r.Machine}
		first := o.candidate
		return answer{Status: waiting}, &first
	case o.key == key && o.user == r.User:
		o.reply = reply
		return answer{Status: waiting}, nil
	}
	if o.end != nil || o.candidate.Rivals == maxRivals {
		return answer{Status: statusOf(ErrUsed)}, nil
	}
	o.candidate.Rivals++
	rival := o.candidate
	return answer{Status: statusOf(ErrUsed)}, &rival
}

func (d *Desk) admission(host Host) answer {
	token, err := d.settings.Keys.HostJWT(host.ID, host.Users[len(host.Users)-1], host.Until)
	if err != nil {
		return answer{Status: waiting}
	}
	return answer{Status: admitted, ID: host.ID, Name: host.Name, Chat: d.settings.Name, JWT: token}
}

// Decide ends the wait of the machine with a code, which is let in or refused. fingerprint is what
// the person saw.
func (d *Desk) Decide(ctx context.Context, code, fingerprint string, admit bool) (Host, error) {
	d.mu.Lock()
	host, reply, a, err := d.decideLocked(code, fingerprint, admit)
	d.mu.Unlock()
	if err == nil && a.Status == admitted {
		err = d.give(ctx) // the hub makes the host's consumer
	}
	if reply != nil {
		reply(a)
	}
	return host, err
}

func (d *Desk) decideLocked(code, fingerprint string, admit bool) (Host, func(answer), answer, error) {
	o := d.codes[code]
	now := d.settings.Now()
	switch {
	case o == nil:
		return Host{}, nil, answer{}, ErrLate
	case o.end != nil:
		return Host{}, nil, answer{}, o.end
	case now.After(o.until):
		return Host{}, o.reply, answer{Status: statusOf(ErrLate)}, ErrLate
	case o.key == "" || o.candidate.Fingerprint != fingerprint:
		return Host{}, nil, answer{}, ErrChanged
	case !admit:
		o.end = ErrRefused
		return Host{}, o.reply, answer{Status: statusOf(ErrRefused)}, nil
	}
	if err := d.settings.Hosts.checkName(o.name); errors.Is(err, ErrNameTaken) {
		o.end = err
		return Host{}, o.reply, answer{Status: statusOf(err)}, err
	} else if err != nil {
		return Host{}, nil, answer{}, err
	}
	id := rights.HostID(o.user)
	switch known, err := d.settings.Hosts.has(id); {
	case err != nil:
		return Host{}, nil, answer{}, err
	case known: // a machine chooses its key, and so its id: it takes no other's place, and ends no revocation
		o.end = ErrUsed
		return Host{}, o.reply, answer{Status: statusOf(ErrUsed)}, ErrUsed
	}
	host := Host{ID: id, Name: o.name, Key: o.key, Users: []string{o.user}, Code: code, Joined: now, Until: now.Add(rights.HostTTL)}
	if err := d.settings.Hosts.put(host); err != nil {
		return Host{}, nil, answer{}, err
	}
	o.end = ErrUsed
	return host, o.reply, d.admission(host), nil
}
