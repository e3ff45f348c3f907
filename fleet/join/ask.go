package join

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/fleet/seal"
	"ccbot/internal/pause"
)

// A request is sent again after askTimeout without an answer, and after awayInterval if the hub
// reports that the chat is not connected.
const (
	askTimeout   = 10 * time.Second
	awayInterval = time.Second
)

// HostKeys are the keys of a machine.
type HostKeys struct {
	User nkeys.KeyPair // signs what the hub asks
	Seal seal.Key
	user string
}

// NewHostKeys makes the keys of a machine.
func NewHostKeys() (HostKeys, error) {
	user, err := nkeys.CreateUser()
	if err != nil {
		return HostKeys{}, fmt.Errorf("join: %w", err)
	}
	public, err := user.PublicKey()
	if err != nil {
		return HostKeys{}, fmt.Errorf("join: %w", err)
	}
	key, err := seal.NewKey()
	if err != nil {
		return HostKeys{}, err
	}
	return HostKeys{user, key, public}, nil
}

// Secret returns the keys for the machine's own disk.
func (k HostKeys) Secret() ([]byte, error) {
	user, err := k.User.Seed()
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	sealing, err := k.Seal.Seed()
	if err != nil {
		return nil, err
	}
	return json.Marshal(storedKeys{string(user), string(sealing)})
}

// storedKeys is the stored form of HostKeys.
type storedKeys struct {
	User string `json:"user"`
	Seal string `json:"seal"`
}

// ParseHostKeys reads what HostKeys.Secret returned.
func ParseHostKeys(secret []byte) (k HostKeys, err error) {
	var s storedKeys
	if err = json.Unmarshal(secret, &s); err == nil {
		k.User, err = nkeys.FromSeed([]byte(s.User))
	}
	if err == nil {
		k.user, err = k.User.PublicKey()
	}
	if err != nil {
		return HostKeys{}, fmt.Errorf("join: read the keys: %w", err)
	}
	k.Seal, err = seal.ParseKey([]byte(s.Seal))
	return k, err
}

// Fingerprint returns what the person compares.
func (k HostKeys) Fingerprint() string { return Fingerprint(k.user, k.Seal.Public()) }

// String returns the fingerprint.
func (k HostKeys) String() string { return k.Fingerprint() }

// GoString returns the fingerprint.
func (k HostKeys) GoString() string { return k.Fingerprint() }

// Admission is stored by an admitted machine, with its keys.
type Admission struct {
	Hub      link.Hub
	Chat     string // public key
	ChatName string // of the chat's machine; empty if the chat did not send it
	Names    rights.Names
	ID       string
	Name     string
	JWT      string
}

// Login returns the user of an admitted machine.
func (a Admission) Login(keys HostKeys) link.Login {
	return link.Login{User: rights.User{JWT: a.JWT, Key: keys.User}}
}

// Ask asks the chat to let this machine in, and waits for the person's decision until ctx ends. A
// machine that asks again with the same keys gets the same answer.
func Ask(ctx context.Context, code Code, keys HostKeys, m Machine) (Admission, error) {
	pair, rightsOf, err := joiner(code.secret, code.Account, code.Until)
	if err != nil {
		return Admission{}, err
	}
	token, err := rightsOf.JWT(code.signature)
	if err != nil {
		return Admission{}, err
	}
	conn, err := link.Dial(code.Hub, link.Login{User: rights.User{JWT: token, Key: pair}, Inbox: rights.Inbox(rightsOf.Code)})
	if errors.Is(err, link.ErrRights) { // the hub knows the end of the code too
		return Admission{}, code.refusedAt(time.Now(), err)
	}
	if err != nil {
		return Admission{}, err
	}
	defer conn.Close()
	names := rights.Names{Fleet: rights.FleetOf(code.Account)}
	for {
		a, err := askOnce(ctx, conn, names.Join(rightsOf.Code), code, keys, m)
		if err != nil {
			return Admission{}, err
		}
		if a.Status == admitted {
			return Admission{Hub: code.Hub, Chat: code.Chat, ChatName: a.Chat, Names: names, ID: a.ID, Name: a.Name, JWT: a.JWT}, nil
		}
	}
}

// refusedAt explains at a time why the hub does not let the joiner in.
func (c Code) refusedAt(now time.Time, err error) error {
	why := ErrLate
	if now.Before(c.Until) {
		why = ErrClock
	}
	return fmt.Errorf("%w (here it is %s, and the code is for until %s): %w", why, now.Format(shownTime), c.Until.In(now.Location()).Format(shownTime), err)
}

const shownTime = "2006-01-02 15:04"

// askOnce returns the answer waiting if none came.
func askOnce(ctx context.Context, conn *nats.Conn, subject string, code Code, keys HostKeys, m Machine) (answer, error) {
	shown, err := proof(code.secret, keys.user, keys.Seal.Public(), code.Chat)
	if err != nil {
		return answer{}, err
	}
	data, err := wrap(keys.Seal, code.Chat, request{User: keys.user, Proof: shown, Machine: m})
	if err != nil {
		return answer{}, err
	}
	once, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	reply, err := conn.RequestWithContext(once, subject, data)
	switch {
	case ctx.Err() != nil:
		return answer{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return answer{Status: waiting}, nil
	case errors.Is(err, nats.ErrNoResponders): // the chat is not connected just now
		return answer{Status: waiting}, pause.For(ctx, awayInterval)
	case err != nil:
		return answer{}, fmt.Errorf("ask the chat: %w", err)
	}
	plain, err := keys.Seal.OpenFrom(code.Chat, reply.Data)
	if err != nil {
		return answer{}, err
	}
	var a answer
	if err := json.Unmarshal(plain, &a); err != nil {
		return answer{}, fmt.Errorf("read the chat's answer: %w", err)
	}
	return a, refusals[a.Status]
}
