package view

import "time"

// PollInterval is the polling interval for quick changes that send no notification.
const PollInterval = 25 * time.Millisecond

// Soon is the polling interval for a screen that is about to change: the terminal draws a little
// later than presence files and hooks report.
const Soon = 150 * time.Millisecond

// Drawn is how long the terminal may take to draw a dialog that the presence file reports. If the
// dialog is still not recognised then, the screen is reported as it is.
const Drawn = time.Second

// Slow is the polling interval for a screen that waits for a person.
const Slow = 30 * time.Second

// HoldPace is the polling interval for a box that is not free: no event reports that a person has
// cleared it.
const HoldPace = 5 * time.Second
