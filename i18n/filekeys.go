package i18n

// Files that people send.
const (
	MediaUnknown    Key = "media_unknown"
	FileTooBig      Key = "file_too_big"     // Name
	FileNotFetched  Key = "file_not_fetched" // Name
	InboxNotOurs    Key = "inbox_not_ours"   // Path
	InboxUnwritable Key = "inbox_unwritable" // Path, Reason
	AlbumRest       Key = "album_rest"
	AlbumLate       Key = "album_late"
	VoiceFailed     Key = "voice_failed"
)
