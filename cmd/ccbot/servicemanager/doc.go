// Package servicemanager reports ccbot's state to systemd. It promises that the watchdog is fed as
// long as the polls continue, whether Telegram answers or not. It starts and ends nothing.
package servicemanager
