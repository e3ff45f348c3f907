package doctor

// canWatch reports true: kqueue has no such limit.
func canWatch() bool { return true }
