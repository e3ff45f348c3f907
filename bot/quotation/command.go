package quotation

import (
	"regexp"
	"strings"

	"github.com/go-telegram/bot/models"
)

// IsService says whether nobody wrote a message: Telegram tells of a change of the chat. Where a
// kind is missing here, the chat is told once too often.
func IsService(m *models.Message) bool {
	return len(m.NewChatMembers) > 0 || m.LeftChatMember != nil || m.NewChatTitle != "" || len(m.NewChatPhoto) > 0 ||
		m.DeleteChatPhoto || m.GroupChatCreated || m.SupergroupChatCreated || m.MessageAutoDeleteTimerChanged != nil ||
		m.MigrateToChatID != 0 || m.MigrateFromChatID != 0 || m.PinnedMessage != nil || m.ChatBackgroundSet != nil ||
		m.ForumTopicCreated != nil || m.ForumTopicEdited != nil || m.ForumTopicClosed != nil || m.ForumTopicReopened != nil ||
		m.GeneralForumTopicHidden != nil || m.GeneralForumTopicUnhidden != nil || m.BoostAdded != nil ||
		m.VideoChatScheduled != nil || m.VideoChatStarted != nil || m.VideoChatEnded != nil || m.VideoChatParticipantsInvited != nil
}

// IsForBot reports whether a name and what stands behind its "@" are a command for a bot: the name of
// a bot ends in "bot", and a path with an @ in it is no command.
func IsForBot(name, to string) bool { return addressed.MatchString(name + "@" + to) }

var addressed = regexp.MustCompile(`(?i)^\w{1,32}@[a-z]\w*bot$`)

// Command splits "/name@bot rest"; rest begins with the blank or line break that ends the
// name. Without a command all of it is empty; "//name" is the agent's own.
func Command(text string) (name, to, rest string) {
	if !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return "", "", ""
	}
	head := text[1:]
	if i := strings.IndexAny(head, " \n\t"); i >= 0 {
		head, rest = head[:i], head[i:]
	}
	name, to, _ = strings.Cut(head, "@")
	return name, to, rest
}
