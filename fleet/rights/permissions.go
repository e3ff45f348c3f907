package rights

import "github.com/nats-io/jwt/v2"

// Limits of the hub.
const (
	// MaxPayload is the size of a sealed message with its headers.
	MaxPayload = 300 << 10
	// maxJoinPayload is the size of a joiner's message.
	maxJoinPayload = 16 << 10
	// MaxDisk is the size of the streams of a fleet on the hub's disk. A hub with less serves no fleet.
	MaxDisk = 4 << 30
	// maxConnections is the number of connections of a fleet.
	maxConnections = 512

	maxSubscriptions = 64
)

// hostPermissions returns what a host may do.
func hostPermissions(n Names, host string) jwt.UserPermissionLimits {
	commands := n.Commands()
	limits := limitsOf(MaxPayload, maxSubscriptions)
	limits.Pub.Allow.Add(
		n.Event(host),
		n.Answer(host),
		"$JS.API.CONSUMER.INFO."+commands+"."+host,
		"$JS.API.CONSUMER.MSG.NEXT."+commands+"."+host,
		"$JS.ACK."+commands+"."+host+".>",
		"$JS.ACK.*.*."+commands+"."+host+".>", // the form with a domain and the hash of an account
	)
	limits.Sub.Allow.Add(Inbox(host)+".>", n.Request(host))
	return limits
}

// joinerPermissions returns what the holder of a code may do.
func joinerPermissions(n Names, code string) jwt.UserPermissionLimits {
	limits := limitsOf(maxJoinPayload, 4)
	limits.Pub.Allow.Add(n.Join(code))
	limits.Sub.Allow.Add(Inbox(code) + ".>")
	return limits
}

func limitsOf(payload, subs int64) (l jwt.UserPermissionLimits) {
	l.Limits = jwt.Limits{NatsLimits: jwt.NatsLimits{Subs: subs, Data: jwt.NoLimit, Payload: payload}}
	return l
}
