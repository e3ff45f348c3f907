package join

import (
	"context"

	"github.com/nats-io/nkeys"

	"ccbot/fleet/link"
	"ccbot/fleet/rights"
)

// WrapForTest returns a request of a machine that was let in.
func WrapForTest(keys HostKeys, chat string) ([]byte, error) {
	return wrap(keys.Seal, chat, request{User: keys.user})
}

// LikeForTest returns keys whose machine would have the id of another one. They have no private key
// of the user.
func LikeForTest(keys, other HostKeys) (HostKeys, error) {
	own, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(keys.user))
	if err != nil {
		return HostKeys{}, err
	}
	victim, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(other.user))
	if err != nil {
		return HostKeys{}, err
	}
	public, err := nkeys.Encode(nkeys.PrefixByteUser, append(victim[:6:6], own[6:]...))
	keys.user = string(public)
	return keys, err
}

// GuessForTest sends one request with a wrong proof, as only the hub's operator could.
func GuessForTest(ctx context.Context, code Code, keys HostKeys) error {
	pair, j, err := joiner(code.secret, code.Account, code.Until)
	if err != nil {
		return err
	}
	token, err := j.JWT(code.signature)
	if err != nil {
		return err
	}
	conn, err := link.Dial(code.Hub, link.Login{User: rights.User{JWT: token, Key: pair}, Inbox: rights.Inbox(j.Code)})
	if err != nil {
		return err
	}
	defer conn.Close()
	code.secret = []byte("another secret..")
	for a := (answer{Status: waiting}); a.Status == waiting && err == nil; { // until the chat has connected
		a, err = askOnce(ctx, conn, rights.Names{Fleet: rights.FleetOf(code.Account)}.Join(j.Code), code, keys, Machine{})
	}
	return err
}
