package statefolder

import (
	"strings"

	"github.com/joho/godotenv"
)

// subfolders are the folders that ccbot makes in its folder.
var subfolders = []string{"asks", "backups", "bindings", "cards", "changes", "chats", "events", "exports", "fleet", "inbox", "launch", "loops", "outbox", "prompts",
	"quarantine", "received", "schedules", "sessions", "status", "usage"}

// SettingsFile is in CCBOT_DIR.
const SettingsFile = "ccbot.env"

// ByteOrderMark begins a text file that some editors write.
const ByteOrderMark = "\ufeff"

// ParseSettings reads the text of SettingsFile.
func ParseSettings(text string) (map[string]string, error) {
	return godotenv.Unmarshal(strings.TrimPrefix(text, ByteOrderMark))
}

// ReadableVariable allows that other users may read SettingsFile. Set in that file itself it has no
// effect.
const ReadableVariable = "CCBOT_ALLOW_READABLE_ENV"
