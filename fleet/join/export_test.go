package join

import (
	"context"

	"ccbot/fleet/link"
	"ccbot/fleet/rights"
)

// WrapForTest returns a request of a machine that was let in.
func WrapForTest(keys HostKeys, chat string) ([]byte, error) {
	return wrap(keys.Seal, chat, request{User: keys.user})
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
	_, err = askOnce(ctx, conn, rights.Names{Fleet: rights.FleetOf(code.Account)}.Join(j.Code), code, keys, Machine{})
	return err
}
