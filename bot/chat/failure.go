package chat

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/internal/logkey"
	"ccbot/internal/sysfault"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Failure is a person's view of an error; the log has the chain.
type Failure struct {
	Text     render.Text
	Links    [][]card.Option // the next steps
	Err      error
	Internal bool      // only the log has more
	Session  uuid.UUID // whose failure it is
}

// Internal is the failure of ccbot or of its machine. A fault of the machine has a separate
// sentence, which names the folder of the error.
func (p Phrases) Internal(err error) Failure {
	word := i18n.InternalError
	if kind := sysfault.Of(err); kind != "" {
		word = i18n.SystemKey.Of(string(kind))
	}
	dir := p.Short(p.Dir)
	if file, ok := errors.AsType[*fs.PathError](err); ok && path.IsAbs(file.Path) {
		dir = p.ShortTail(path.Dir(file.Path))
	}
	return Failure{Text: p.Text(word, i18n.Args{"Dir": render.Code(dir)}), Err: err, Internal: true}
}

// Quoted returns words of a person or of another program, as a part of a sentence.
func (p Phrases) Quoted(words string) string {
	return p.Words.Say(i18n.Quoted, i18n.Args{"Said": words})
}

// Cause returns the system's reason for a refusal, as a part of a sentence. The common reasons have
// texts; the words of another one are quoted.
func (p Phrases) Cause(e *refusal.Error) string {
	if cause := sysfault.Cause(e.Err); cause != "" {
		return p.Words.Say(i18n.CauseKey.Of(cause))
	}
	return p.Quoted(e.Reason)
}

// refusals maps each refusal of the agent's machine to two sentences: with and without the name of
// the session. A feature may look up its own words first.
var refusals = map[refusal.Code]struct{ named, bare i18n.Key }{
	refusal.DirMissing:   {i18n.DirGone, i18n.PathMissing},
	refusal.DirNotADir:   {i18n.DirNotADir, i18n.PathNotDir},
	refusal.DirNoAccess:  {i18n.DirNoAccess, i18n.PathUnreadable},
	refusal.DirNotText:   {bare: i18n.PathNotText},
	refusal.DirOutside:   {bare: i18n.PathNotAllowed},
	refusal.NoTmux:       {bare: i18n.TmuxMissing},
	refusal.TmuxSilent:   {i18n.TmuxSilent, i18n.TmuxSilent},
	refusal.NoMachine:    {i18n.MachineNotThere, i18n.MachineNotThere},
	refusal.WindowTaken:  {i18n.WindowTaken, i18n.WindowTaken},
	refusal.NotInstalled: {bare: i18n.AgentMissing},
	refusal.NoTerminal:   {bare: i18n.FootAdoptElsewhere},
	refusal.Changed:      {bare: i18n.WritersChanged},
	refusal.NotFound:     {named: i18n.NoSuchSession},
	refusal.NoAgent:      {named: i18n.AlreadyEnded},
	refusal.WrongState:   {named: i18n.AlreadyEnded},
	refusal.Guarded:      {named: i18n.StopRefused},
	refusal.BoxBusy:      {named: i18n.BoxBusy},
	refusal.DraftHidden:  {named: i18n.DraftHidden},
	refusal.NoDialog:     {named: i18n.KeysNoDialog},
	refusal.Relayed:      {named: i18n.KeysRelayed},
	refusal.Unseen:       {named: i18n.KeysUnseen},
	refusal.Idle:         {named: i18n.StopNothing},
	refusal.Asks:         {named: i18n.StopAsks},
	refusal.StillWorks:   {named: i18n.StopStillWorks},
	refusal.WorksOn:      {named: i18n.StopWorksOn},
	refusal.Rebound:      {named: i18n.KeysBound},
	refusal.Damaged:      {i18n.TranscriptDamaged, i18n.ConversationDamaged},
	refusal.NothingLeft:  {i18n.TranscriptEmpty, i18n.ConversationEmpty},
	refusal.Deleted:      {i18n.TranscriptDeleted, i18n.ConversationEmpty},
	refusal.Unsaid:       {named: i18n.HistoryNone},
	refusal.Unread:       {i18n.SessionUnread, i18n.SessionUnread},
	refusal.FileLinked:   {named: i18n.ChangesLinked},
	refusal.FileOwn:      {named: i18n.GetOwn},
	refusal.FileChanged:  {named: i18n.GetChanged},
	refusal.NoRepository: {i18n.ChangesNoGit, i18n.WorktreeNoGit},
	refusal.NoCommit:     {bare: i18n.WorktreeNoCommit},
	refusal.GitSlow:      {i18n.ChangesGitSlow, i18n.WorktreeSlow},
	refusal.GitFailed:    {i18n.ChangesGitFailed, i18n.WorktreeFailed},
	refusal.LoopHeld:     {i18n.LoopHeld, i18n.LoopHeld},
	refusal.NoModels:     {named: i18n.UnableModel}, refusal.NoCompact: {named: i18n.UnableCompact}, refusal.NoBash: {named: i18n.UnableBash},
	refusal.IsProse:  {named: i18n.UnableCommand},
	refusal.HostName: {bare: i18n.HostNameBad}, refusal.HostTaken: {bare: i18n.HostNameTaken}, refusal.HostCode: {bare: i18n.HostCodeOver}, refusal.HubAway: {bare: i18n.HubAway},
	refusal.InboxNotOurs: {bare: i18n.InboxNotOurs}, refusal.InboxUnwritable: {bare: i18n.InboxUnwritable},
}

// Failure explains an error about a session. For the zero session no sentence names one.
func (p Phrases) Failure(s port.Session, err error) Failure {
	e, f := refusal.In(err), Failure{Err: err, Session: s.ID}
	word := refusals[e.Code].named
	if word == "" || s.ID == uuid.Nil {
		word = refusals[e.Code].bare
	}
	known := word != "" || e.Code == refusal.AgentUnfit
	switch {
	case e.Code == refusal.AgentUnfit:
		word = i18n.UnfitKey.Of(e.Reason)
	case known && e.State == port.StateStopping:
		word = i18n.StillEnding
	case word == i18n.DirGone && s.State.Open(): // it cannot be resumed
		word = i18n.DirGoneOpen
	case (word == i18n.DirNotADir || word == i18n.DirNoAccess) && s.State.Open():
		word = refusals[e.Code].bare
	}
	reason := e.Reason // Rebound and git have words of other programs
	switch e.Code {
	case refusal.InboxUnwritable:
		reason = p.Cause(e)
	case refusal.LoopHeld:
		reason = ShownName(e.Reason)
	}
	faults := each.As(e.Faults, func(fault string) string { return p.Words.Say(i18n.FaultKey.Of(fault)) })
	dir := render.Code(p.Short(e.Dir))
	in, _ := p.Places.Bounds(e.Dir) // a refusal about them comes from a machine that has told them
	switch {
	case known && e.State == port.StateCleanupFailed:
		f.Text, f.Links = p.NotCleanText(s), p.ResumeLink(s)
	case e.Code == refusal.Writers: // its conversation may have a writer
		f.Text = Lines(p.Text(i18n.StartUnsure), p.Bullets(MaxListed, each.As(e.Writers, p.WriterText)))
	case e.Code == refusal.NoEvidence:
		f.Text, f.Internal = render.Plain(p.Words.Say(i18n.NoEvidence)), true
	case e.Code == refusal.Unreachable:
		f.Text = render.Plain(p.Unreachable(cmp.Or(e.Machine, s.Machine)))
	case e.Code == refusal.OldMachine:
		m, _ := p.Machines.Find(cmp.Or(e.Machine, s.Machine))
		f.Text = render.Plain(p.Say(i18n.MachineOld, i18n.Args{"Machine": glyph.Name(m.Name)}))
	case !known:
		f.Text, f.Internal = p.Internal(err).Text, true
	default:
		f.Text = p.Text(word, i18n.Args{"Name": s.Name, "Path": dir, "Dir": dir, "Reason": reason, "Binding": render.Code(e.Reason),
			"Roots":   strings.Join(in.Roots, p.Words.Say(i18n.JoinNames)),
			"Details": strings.Join(faults, p.Words.Say(i18n.JoinItems)),
			"Command": cmp.Or(e.Command, s.Attach), "Agent": e.Agent, "Setting": e.Setting})
	}
	return f
}

// IsGone reports whether an error means that a prompt or a session no longer exists, or is no
// longer in the state of the decision.
func IsGone(err error) bool { return refusal.Is(err, refusal.NotFound) }

// Explain reports a failure. The update is handled with that.
func (c *Chat) Explain(ctx context.Context, to outbox.Conversation, f Failure) error {
	c.LogRefused(f.Err, f.Internal)
	return c.Report(ctx, card.Content{To: to, Session: f.Session, Text: f.Text, Options: f.Links})
}

// Report posts a message about a failure. If a fault of the machine keeps it off the disk, it is
// sent at once instead, without its options, and Report returns when Telegram has it.
func (c *Chat) Report(ctx context.Context, l card.Content) error {
	err := c.Post(ctx, l)
	if sysfault.Of(err) == "" || !c.Book.MayShow(l.To) {
		return err
	}
	for _, part := range outbox.Parts(outbox.Message{To: l.To, Text: l.Text, ReplyTo: l.ReplyTo, Sounds: l.Sounds}) {
		if _, err := c.Sender.Send(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// LogRefused logs why a request was refused: as an error if it is internal, otherwise as a refusal
// that the person understands.
func (c *Chat) LogRefused(err error, internal bool) {
	if internal {
		c.Log.Error("request_refused", logkey.Error, err)
		return
	}
	c.Log.Info("request_refused", logkey.Error, err)
}

// IsRefused reports whether Telegram will never take a message. A message to a chat that accepts
// nothing now only waits until the chat writes again.
func IsRefused(err error) bool {
	return errors.As(err, new(*outbox.Refused)) && !errors.Is(err, outbox.ErrBlocked)
}
