package i18n

// Taps.
const (
	TapLate Key = "tap_late"
)
