// Package seal seals the messages between the chat and one host.
//
// The messages travel through a hub that need not be trusted, and the subject of a message does not
// prove its sender. So each message is encrypted and authenticated by the curve keys of both ends
// (nkeys, which is NaCl's box), and has its address inside.
//
// It promises:
//
//   - Open returns only a message that the peer sealed for this end, in the present epoch, and each
//     one once. The other messages are errors: ErrSender, ErrAddress, ErrEpoch, ErrReplay, ErrLife.
//   - Both ends may run twice, from copies of a folder, or be set back to an earlier state. A message has an effect
//     only if this end follows the start that sealed it, and that start follows this one. Package life decides that.
//     The other starts are known, and what a beat or a goodbye decides about the followed
//     one is on disk before it has an effect.
//   - A start whose machine was resumed from an earlier state of its memory takes another life when it hears of a number
//     that it has not given.
//   - A message that was sealed before the last start of either end is not opened. The chat counts
//     the epochs of each host. Each start of the chat and each hello of a host that is not refused begins one; both
//     ends have it on disk before they use it.
//   - A message that may be older than MaxAge is Late, unless an earlier program has sealed it. One
//     clock decides: a message names the last one that its sender has opened, and is younger.
//   - A private key leaves its end only by Key.Seed, for the end's own disk, and no log shows it.
//
// The hub can still delay, drop and reorder messages, and sees their sizes and times. A hello can
// be repeated by the hub: it begins another epoch. If no start is followed or the followed one is silent, a hello of a
// start that was never heard makes the next one wait a few beats, and has no other effect.
package seal
