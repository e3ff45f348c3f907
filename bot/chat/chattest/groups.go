package chattest

import (
	"context"
	"maps"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/conversation"
)

// AllowedGroups is the setting of allowed groups; it counts in its world at once.
type AllowedGroups struct {
	world  *World
	Groups []int64 // that were added
	Line   string  // that allows a group by hand; empty: a tap does
	Err    error   // of the next write
}

// AllowGroup adds a group.
func (a *AllowedGroups) AllowGroup(_ context.Context, group int64) error {
	if a.Err != nil {
		return a.Err
	}
	a.Groups = append(a.Groups, group)
	lists := conversation.Lists{People: a.world.Config.People, Groups: maps.Clone(a.world.Config.Groups)}
	lists.Groups[group] = true
	a.world.Config.Lists = lists // also after a restart
	a.world.Admit(lists)
	return nil
}

// GroupLine returns the line of the test.
func (a *AllowedGroups) GroupLine(int64) string { return a.Line }

// GroupLeft does nothing.
func (a *AllowedGroups) GroupLeft(int64) {}

// Membership is the news that a person has changed whether the bot is in a chat.
func Membership(by int64, in models.Chat, was, is models.ChatMemberType) *models.Update {
	member := func(t models.ChatMemberType) (m models.ChatMember) {
		switch m.Type = t; t {
		case models.ChatMemberTypeLeft:
			m.Left = &models.ChatMemberLeft{Status: t, User: &models.User{ID: 99}}
		case models.ChatMemberTypeMember:
			m.Member = &models.ChatMemberMember{Status: t, User: &models.User{ID: 99}}
		}
		return m
	}
	return &models.Update{MyChatMember: &models.ChatMemberUpdated{Chat: in, From: models.User{ID: by},
		OldChatMember: member(was), NewChatMember: member(is)}}
}
