// Package recovery makes the world right when ccbot starts.
//
// Plan looks at a World (the records, the panes, what the kernel says of the
// bound processes) and returns what to do and what to tell; it is pure and
// decides everything. Apply does it. For the same moment, planning again after
// applying finds nothing to do.
//
// It promises that records of ours are brought to a state that is true, that a
// session is called lost only on proof, that what is unknown changes nothing,
// and that windows which are not ours are told once and never touched.
package recovery
