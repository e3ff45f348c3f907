// Package rpc carries the envelopes of package wire between the chat and one host, each in seals,
// through a hub.
//
// A call and its answer are core messages of NATS, which the hub stores nowhere: a call that comes
// late would be made in another situation. News are items of package courier, which keeps them
// until the chat has them. Beats say that the host is there, and which calls it is making.
//
// It promises:
//
//   - A call is made at most once, and only if the chat has sealed it for this host, within
//     seal.MaxAge. A beat that is older proves no presence.
//   - A call ends with its context, with its answer, or with refusal.ErrUnreachable: at once if the
//     hub or the host is not connected, or if the host is away, and after beat.Timeout if the host
//     is silent or the beats show that the call or its answer was lost. A call that only takes long
//     continues for DefaultLongest, and a call whose caller has left is ended on the host.
//   - Calls to one host wait for no other host.
//   - A host sends Rate bytes a second. What it sends beyond twice as much is dropped at the chat,
//     before a seal is opened. An envelope has at most MostBytes.
package rpc
