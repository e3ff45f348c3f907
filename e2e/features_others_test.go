//go:build linux

package e2e

// walkedByOthers names the tests that walk through features of the list already.
var walkedByOthers = map[string][][2]string{
	"Claude Code": {
		{"a permission denied with a reason, given for the session, answered at the desk", "TestRealPermissions"},
		{"a permission that waits while ccbot is killed", "TestRealCrashWhileARequestWaits"},
		{"a turn with a to-do list, a subagent and a permission", "TestRealTurnIsOneCard"},
		{"EnterWorktree, ExitWorktree, /cd, a folder that is gone", "TestRealP5_WorktreeLosesNoAnswer TestRealP5_AgentsFolderIsFollowed"},
		{"CronCreate", "TestRealP6_AgentsOwnSchedulesAreKept"},
		{"a picture from the chat", "TestRealPicturesAreNamedNotPasted"},
		{"a server in the background, its page, and its end from there", "TestRealP6_BackgroundShellHoldsNoText TestRealCommandIsEndedFromItsPage"},
		{"/stop and texts while a subagent works", "TestRealTextDuringBackgroundAgent"},
		{"a subagent that asks for a permission", "TestRealSubagentAsks"},
		{"several questions, and plans that are approved or sent back", "TestRealQuestionsAndPlans"},
		{"a plan that is carried out in a new conversation", "TestRealPlanInNewConversation"},
		{"modes and models, also during a turn", "TestRealModes"},
		{"logged out, a limit, an API error; a wait for a limit that is stopped", "TestRealStatesHaveNextStep TestRealStopCancelsWaitForLimit"},
		{"a picture that the API refuses, used credit, a full context", "TestRealErrorsNameWhatHelps"},
		{"waiting texts at /stop, and those that are sent at once", "TestRealP4_WaitingTextIsOfferedAtStop TestRealP4_InterruptAndSendOnce TestRealP4_UnansweredPromptIsOffered"},
		{"a compaction with words, and one by itself", "TestRealCompactionIsAnswered TestRealP7_SettingsOfPeople"},
		{"bash mode", "TestRealBashMode"},
		{"a hook that refuses a prompt", "TestRealRefusedPromptLeavesBox"},
		{"vim keys, screen reader, status lines, own keys, sizes of the window, themes and languages", "TestRealP7_SettingsOfPeople"},
		{"a window that is too small", "TestRealP7_SmallWindowHoldsText"},
		{"/background, /bg, /fork, ← in the empty box", "TestRealP5_ConversationStaysInWindow"},
		{"commands that answer with a notice", "TestRealP5_NoticesAreAnswers"},
		{"/exit, quit, and /clear before /kill", "TestRealExitWordIsEndReason TestRealClearThenKillLeavesNothing"},
		{"the trust of a folder", "TestRealTrustIsAnsweredFromTheChat"},
		{"a flag that Claude Code does not know", "TestRealFailedStartSaysWhy"},
		{"all kinds of forms of an MCP server", "TestRealP7_FormsForgeNoOptions"},
		{"sessions that a person has started", "TestRealAdopted TestRealHandStartedSessionIsKnown TestRealWriterAtTheDesk"},
		{"one of these, moved into the background by ← (`claude attach`)", "TestRealP1_BackgroundIsNamed"},
		{"a reboot, and a turn that it interrupts", "TestRealRebootRestoresAll TestRealInterruptedTurnGoesOn"},
		{"a loop of ccbot", "TestRealP8_LoopFixesFailingTest"},
	},
	"Codex": {
		{"permissions of commands and patches, answered in the chat and at the desk", "TestRealP7_CodexOutcomes TestRealP8_CodexRequest"},
		{"a plan, its question, and a question of the agent", "TestRealP5_CodexPlanComesBeforeItsQuestion"},
		{"/clear and /new at the desk, prompts typed there, //clear from the chat", "TestRealP5_CodexFollowsDesk"},
		{"hooks that need a review, settings that are refused, no login", "TestRealP7_CodexHooksAreShown TestRealP7_CodexThatCannotStart"},
		{"its server, its terminal or its pane is killed", "TestRealP3_CodexLosesHalf"},
		{"tools and servers that do not end", "TestRealP3_StubbornCodexIsEnded TestRealP3_SandboxedCodexToolEnds"},
		{"a second writer, a reader, a conversation of the desk", "TestRealP1_CodexWriterBlocksResume TestRealP1_CodexReaderIsNoWriter TestRealP1_CodexConversationContinues"},
		{"a restart of ccbot in a turn", "TestRealP3_CodexMainJob"},
		{"a goal, a text that waits for it, and a resume", "TestRealP4_CodexGoal"},
		{"a full context, and how it is compacted", "TestRealP4_CodexFullContext"},
		{"a picture from the chat, and one that the model makes", "TestRealP5_CodexPictures"},
	},
}

// notWalked has the features of the list through which nothing walks, and why.
var notWalked = map[string][][2]string{
	"Claude Code": {
		{"an editor in the pane (/keybindings, ctrl+g)", "it cannot be left from the chat, so it cannot go through the five checks"},
		{"a retry that ends well, a dropped connection", "the scripted API answers a text in the same way each time"},
		{"thinking, a PDF", "the scripted API has no word for them"},
		{"WebFetch, WebSearch, MCP servers on the web", "they need a network; their denial is walked through"},
		{"teammates, remote control, IDE, Chrome, voice, plugins", "they need an account or another program; without one, only their flags and commands are walked through"},
		{"/login, /logout, /feedback", "they need an account"},
		{"//loop, /loop in Claude Code", "it sets the schedules and wake-ups that are walked through"},
		{"--prompt-suggestions", "it is for --print only (2.1.332), so no session starts; TestRealFailedStartSaysWhy has such a start"},
		{"a URL form, a prompt of an MCP server", "the test's MCP server has no prompts, and the form is in TestRealP7_FormsForgeNoOptions"},
		{"`claude --continue` in a window of the desk", "the conversation is chosen by time; TestRealAdopted has the rest"},
	},
	"Codex": {
		{"a subagent that asks, a review", "the scripted API has no word for them"},
		{"C-c, /quit and /exit at the desk", "the session ends, and the five checks need one"},
		{"apps, an account, network approvals, voice", "they need an account or a network"},
	},
}
