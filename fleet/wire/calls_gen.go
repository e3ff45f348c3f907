// Code generated from the interfaces of the port by go generate; DO NOT EDIT.

package wire

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/machine"
	"ccbot/internal/address"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Machine returns the machine that the client makes calls on.
func (c *Client) Machine() *machine.Machine {
	return &machine.Machine{
		Sessions:    allSessions{agentsClient{c}, starterClient{c}, enderClient{c}, archiverClient{c}, keeperClient{c}, namerClient{c}, promptQueueClient{c}, promptDecisionsClient{c}, promptViewsClient{c}, promptEditsClient{c}, promptOrderClient{c}, turnEnderClient{c}, worksClient{c}, keysClient{c}, panesClient{c}, screensClient{c}, writerFinderClient{c}, windowsClient{c}, noticesClient{c}, modeSwitcherClient{c}, cursorStoreClient{c}, diffsClient{c}, spendingClient{c}},
		Records:     &mirror{Client: c},
		Decisions:   allDecisions{requestWaitersClient{c}, decisionRecordsClient{c}},
		Loops:       loopsClient{c},
		Templates:   loopTemplatesClient{c},
		Schedules:   schedulesClient{c},
		Places:      allPlaces{placesClient{c}, foldersClient{c}, searchesClient{c}, worktreesClient{c}, checkoutsClient{c}, worktreeMakerClient{c}, lookupsClient{c}},
		Files:       filesClient{c},
		Bodies:      bodiesClient{c},
		Received:    receivedClient{c},
		Transcripts: allTranscripts{transcriptsClient{c}, picturesClient{c}, conversationsClient{c}, exportsClient{c}, lastQuestionsClient{c}},
	}
}

type allSessions struct {
	agentsClient
	starterClient
	enderClient
	archiverClient
	keeperClient
	namerClient
	promptQueueClient
	promptDecisionsClient
	promptViewsClient
	promptEditsClient
	promptOrderClient
	turnEnderClient
	worksClient
	keysClient
	panesClient
	screensClient
	writerFinderClient
	windowsClient
	noticesClient
	modeSwitcherClient
	cursorStoreClient
	diffsClient
	spendingClient
}

type agentsClient struct{ *Client }

func (client agentsClient) Installed(ctx context.Context, dir string) (r0 []port.Installed, err error) {
	err = client.call(ctx, "Agents.Installed", uuid.Nil, args{"dir": dir}, &r0)
	return r0, err
}

func (client agentsClient) Abilities(ctx context.Context, dir string, agent string) (r0 port.Abilities, err error) {
	err = client.call(ctx, "Agents.Abilities", uuid.Nil, args{"dir": dir, "agent": agent}, &r0)
	return r0, err
}

type starterClient struct{ *Client }

func (client starterClient) Start(ctx context.Context, q port.Start) (r0 port.Session, err error) {
	err = client.call(ctx, "Starter.Start", uuid.Nil, args{"q": q}, &r0)
	return r0, err
}

func (client starterClient) Restore(ctx context.Context, q port.Restore) (r0 port.Restored, err error) {
	err = client.call(ctx, "Starter.Restore", q.Session, args{"q": q}, &r0)
	return r0, err
}

func (client starterClient) Adopt(ctx context.Context, q port.Adopt) (r0 port.Session, err error) {
	err = client.call(ctx, "Starter.Adopt", uuid.Nil, args{"q": q}, &r0)
	return r0, err
}

type enderClient struct{ *Client }

func (client enderClient) Archive(ctx context.Context, id uuid.UUID, final port.State, cause port.Cause) (err error) {
	err = client.call(ctx, "Ender.Archive", id, args{"id": id, "final": final, "cause": cause})
	return err
}

func (client enderClient) BeginEnd(ctx context.Context, id uuid.UUID, final port.State, cause port.Cause) (err error) {
	err = client.call(ctx, "Ender.BeginEnd", id, args{"id": id, "final": final, "cause": cause})
	return err
}

func (client enderClient) EndWriters(ctx context.Context, id uuid.UUID, who []port.ID) (r0 []port.Ending, err error) {
	err = client.call(ctx, "Ender.EndWriters", id, args{"id": id, "who": who}, &r0)
	return r0, err
}

type archiverClient struct{ *Client }

func (client archiverClient) ArchiveQuiet(ctx context.Context, id uuid.UUID, q port.Silence) (err error) {
	err = client.call(ctx, "Archiver.ArchiveQuiet", id, args{"id": id, "q": q})
	return err
}

type keeperClient struct{ *Client }

func (client keeperClient) Move(ctx context.Context, id uuid.UUID, to address.Conversation, since port.MoveSince) (err error) {
	err = client.call(ctx, "Keeper.Move", id, args{"id": id, "to": to, "since": since})
	return err
}

func (client keeperClient) SetIdleAfter(ctx context.Context, id uuid.UUID, after *time.Duration) (err error) {
	err = client.call(ctx, "Keeper.SetIdleAfter", id, args{"id": id, "after": after})
	return err
}

func (client keeperClient) SetBudget(ctx context.Context, id uuid.UUID, b port.Budget) (err error) {
	err = client.call(ctx, "Keeper.SetBudget", id, args{"id": id, "b": b})
	return err
}

func (client keeperClient) Reported(ctx context.Context, id uuid.UUID) (err error) {
	err = client.call(ctx, "Keeper.Reported", id, args{"id": id})
	return err
}

func (client keeperClient) Forget(ctx context.Context, id uuid.UUID) (err error) {
	err = client.call(ctx, "Keeper.Forget", id, args{"id": id})
	return err
}

type namerClient struct{ *Client }

func (client namerClient) Rename(ctx context.Context, id uuid.UUID, name string) (err error) {
	err = client.call(ctx, "Namer.Rename", id, args{"id": id, "name": name})
	return err
}

type promptQueueClient struct{ *Client }

func (client promptQueueClient) Queue(ctx context.Context, id uuid.UUID, o talk.Offer) (err error) {
	err = client.call(ctx, "PromptQueue.Queue", id, args{"id": id, "o": o})
	return err
}

func (client promptQueueClient) Keep(ctx context.Context, id uuid.UUID, o talk.Offer) (err error) {
	err = client.call(ctx, "PromptQueue.Keep", id, args{"id": id, "o": o})
	return err
}

type promptDecisionsClient struct{ *Client }

func (client promptDecisionsClient) SendAgain(ctx context.Context, id uuid.UUID, key string) (err error) {
	err = client.call(ctx, "PromptDecisions.SendAgain", id, args{"id": id, "key": key})
	return err
}

func (client promptDecisionsClient) SendAnyway(ctx context.Context, id uuid.UUID, key string) (err error) {
	err = client.call(ctx, "PromptDecisions.SendAnyway", id, args{"id": id, "key": key})
	return err
}

func (client promptDecisionsClient) Drop(ctx context.Context, id uuid.UUID, key string) (err error) {
	err = client.call(ctx, "PromptDecisions.Drop", id, args{"id": id, "key": key})
	return err
}

type promptViewsClient struct{ *Client }

func (client promptViewsClient) LeaveView(ctx context.Context, id uuid.UUID, key string) (err error) {
	err = client.call(ctx, "PromptViews.LeaveView", id, args{"id": id, "key": key})
	return err
}

type promptEditsClient struct{ *Client }

func (client promptEditsClient) TakeBack(ctx context.Context, id uuid.UUID, key string, number int64, held bool) (err error) {
	err = client.call(ctx, "PromptEdits.TakeBack", id, args{"id": id, "key": key, "number": number, "held": held})
	return err
}

func (client promptEditsClient) Withdraw(ctx context.Context, id uuid.UUID, key string, number int64) (err error) {
	err = client.call(ctx, "PromptEdits.Withdraw", id, args{"id": id, "key": key, "number": number})
	return err
}

func (client promptEditsClient) Reword(ctx context.Context, id uuid.UUID, key string, number int64, text string, class talk.PromptClass) (err error) {
	err = client.call(ctx, "PromptEdits.Reword", id, args{"id": id, "key": key, "number": number, "text": text, "class": class})
	return err
}

type promptOrderClient struct{ *Client }

func (client promptOrderClient) ToFront(ctx context.Context, id uuid.UUID, key string) (err error) {
	err = client.call(ctx, "PromptOrder.ToFront", id, args{"id": id, "key": key})
	return err
}

func (client promptOrderClient) SendNow(ctx context.Context, id uuid.UUID, key string) (r0 bool, err error) {
	err = client.call(ctx, "PromptOrder.SendNow", id, args{"id": id, "key": key}, &r0)
	return r0, err
}

func (client promptOrderClient) Halt(ctx context.Context, id uuid.UUID) (err error) {
	err = client.call(ctx, "PromptOrder.Halt", id, args{"id": id})
	return err
}

type turnEnderClient struct{ *Client }

func (client turnEnderClient) EndTurn(ctx context.Context, id uuid.UUID) (err error) {
	err = client.call(ctx, "TurnEnder.EndTurn", id, args{"id": id})
	return err
}

type worksClient struct{ *Client }

func (client worksClient) Work(ctx context.Context, id uuid.UUID) (r0 port.Work, err error) {
	err = client.call(ctx, "Works.Work", id, args{"id": id}, &r0)
	return r0, err
}

func (client worksClient) Brief(ctx context.Context, id uuid.UUID) (r0 port.Work, err error) {
	err = client.call(ctx, "Works.Brief", id, args{"id": id}, &r0)
	return r0, err
}

func (client worksClient) Usage(ctx context.Context, id uuid.UUID) (r0 *port.Usage, err error) {
	err = client.call(ctx, "Works.Usage", id, args{"id": id}, &r0)
	return r0, err
}

type keysClient struct{ *Client }

func (client keysClient) Dialog(ctx context.Context, id uuid.UUID) (r0 port.Dialog, err error) {
	err = client.call(ctx, "Keys.Dialog", id, args{"id": id}, &r0)
	return r0, err
}

func (client keysClient) Press(ctx context.Context, id uuid.UUID, fingerprint string, key string) (r0 port.Dialog, err error) {
	err = client.call(ctx, "Keys.Press", id, args{"id": id, "fingerprint": fingerprint, "key": key}, &r0)
	return r0, err
}

func (client keysClient) Choose(ctx context.Context, id uuid.UUID, fingerprint string, option int) (r0 port.Dialog, err error) {
	err = client.call(ctx, "Keys.Choose", id, args{"id": id, "fingerprint": fingerprint, "option": option}, &r0)
	return r0, err
}

type panesClient struct{ *Client }

func (client panesClient) Screen(ctx context.Context, id uuid.UUID, press port.KeyOn) (r0 port.Screen, err error) {
	err = client.call(ctx, "Panes.Screen", id, args{"id": id, "press": press}, &r0)
	return r0, err
}

type screensClient struct{ *Client }

func (client screensClient) Inspect(ctx context.Context, ids ...uuid.UUID) (r0 map[uuid.UUID]port.Status, err error) {
	err = client.call(ctx, "Screens.Inspect", uuid.Nil, args{"ids": ids}, &r0)
	return r0, err
}

func (client screensClient) Output(ctx context.Context, id uuid.UUID, command string) (r0 port.Output, err error) {
	err = client.call(ctx, "Screens.Output", id, args{"id": id, "command": command}, &r0)
	return r0, err
}

func (client screensClient) Interrupt(ctx context.Context, id uuid.UUID) (r0 bool, err error) {
	err = client.call(ctx, "Screens.Interrupt", id, args{"id": id}, &r0)
	return r0, err
}

type writerFinderClient struct{ *Client }

func (client writerFinderClient) Writers(ctx context.Context, id uuid.UUID) (r0 []port.Writer, err error) {
	err = client.call(ctx, "WriterFinder.Writers", id, args{"id": id}, &r0)
	return r0, err
}

type windowsClient struct{ *Client }

func (client windowsClient) Orphans(ctx context.Context) (r0 []port.Window, err error) {
	err = client.call(ctx, "Windows.Orphans", uuid.Nil, args{}, &r0)
	return r0, err
}

func (client windowsClient) Ignore(ctx context.Context, w port.Window) (err error) {
	err = client.call(ctx, "Windows.Ignore", uuid.Nil, args{"w": w})
	return err
}

type noticesClient struct{ *Client }

func (client noticesClient) NewOrphans(ctx context.Context, of []port.Window) (r0 []port.Window, err error) {
	err = client.call(ctx, "Notices.NewOrphans", uuid.Nil, args{"of": of}, &r0)
	return r0, err
}

func (client noticesClient) MarkReported(ctx context.Context, all []port.Window) (err error) {
	err = client.call(ctx, "Notices.MarkReported", uuid.Nil, args{"all": all})
	return err
}

type modeSwitcherClient struct{ *Client }

func (client modeSwitcherClient) Switch(ctx context.Context, id uuid.UUID, want port.ModeChange) (r0 port.ModeState, err error) {
	err = client.call(ctx, "ModeSwitcher.Switch", id, args{"id": id, "want": want}, &r0)
	return r0, err
}

type cursorStoreClient struct{ *Client }

func (client cursorStoreClient) Advance(ctx context.Context, id uuid.UUID, c talk.Cursor) (err error) {
	err = client.call(ctx, "CursorStore.Advance", id, args{"id": id, "c": c})
	return err
}

type diffsClient struct{ *Client }

func (client diffsClient) Snapshot(ctx context.Context, session uuid.UUID) (r0 folders.Since, err error) {
	err = client.call(ctx, "Diffs.Snapshot", session, args{"session": session}, &r0)
	return r0, err
}

func (client diffsClient) Changes(ctx context.Context, session uuid.UUID, since folders.Since) (r0 folders.Changes, err error) {
	err = client.call(ctx, "Diffs.Changes", session, args{"session": session, "since": since}, &r0)
	return r0, err
}

func (client diffsClient) Patch(ctx context.Context, session uuid.UUID, since folders.Since, path string) (r0 folders.Patch, err error) {
	err = client.call(ctx, "Diffs.Patch", session, args{"session": session, "since": since, "path": path}, &r0)
	return r0, err
}

type spendingClient struct{ *Client }

func (client spendingClient) Spent(ctx context.Context, budget time.Duration) (r0 talk.Report, err error) {
	err = client.call(ctx, "Spending.Spent", uuid.Nil, args{"budget": budget}, &r0)
	return r0, err
}

func (client spendingClient) Limits(ctx context.Context) (r0 []talk.Limit, err error) {
	err = client.call(ctx, "Spending.Limits", uuid.Nil, args{}, &r0)
	return r0, err
}

func (client spendingClient) LimitsChange(ctx context.Context) (err error) {
	err = client.call(ctx, "Spending.LimitsChange", uuid.Nil, args{})
	return err
}

type allDecisions struct {
	requestWaitersClient
	decisionRecordsClient
}

type requestWaitersClient struct{ *Client }

func (client requestWaitersClient) Decide(ctx context.Context, session uuid.UUID, request string, a talk.Answer) (err error) {
	err = client.call(ctx, "RequestWaiters.Decide", session, args{"session": session, "request": request, "a": a})
	return err
}

func (client requestWaitersClient) Leave(ctx context.Context, session uuid.UUID, request string) (err error) {
	err = client.call(ctx, "RequestWaiters.Leave", session, args{"session": session, "request": request})
	return err
}

func (client requestWaitersClient) Waiting(ctx context.Context, session uuid.UUID) (r0 []talk.Request, err error) {
	err = client.call(ctx, "RequestWaiters.Waiting", session, args{"session": session}, &r0)
	return r0, err
}

type decisionRecordsClient struct{ *Client }

func (client decisionRecordsClient) Outcome(ctx context.Context, q talk.Request, a *talk.Answer) (r0 talk.RequestOutcome, r1 bool, err error) {
	err = client.call(ctx, "DecisionRecords.Outcome", q.Session, args{"q": q, "a": a}, &r0, &r1)
	return r0, r1, err
}

func (client decisionRecordsClient) Answerers(ctx context.Context, session uuid.UUID) (r0 []talk.Answerer, err error) {
	err = client.call(ctx, "DecisionRecords.Answerers", session, args{"session": session}, &r0)
	return r0, err
}

type loopsClient struct{ *Client }

func (client loopsClient) Start(ctx context.Context, q port.LoopRequest) (r0 port.Loop, err error) {
	err = client.call(ctx, "Loops.Start", q.Session, args{"q": q}, &r0)
	return r0, err
}

func (client loopsClient) All(ctx context.Context) (r0 []port.Loop, err error) {
	err = client.call(ctx, "Loops.All", uuid.Nil, args{}, &r0)
	return r0, err
}

func (client loopsClient) Change(ctx context.Context, c port.LoopChange) (r0 port.Loop, err error) {
	err = client.call(ctx, "Loops.Change", c.Session, args{"c": c}, &r0)
	return r0, err
}

type loopTemplatesClient struct{ *Client }

func (client loopTemplatesClient) Templates(ctx context.Context, session uuid.UUID, now time.Time) (r0 []port.LoopTemplate, err error) {
	err = client.call(ctx, "LoopTemplates.Templates", session, args{"session": session, "now": now}, &r0)
	return r0, err
}

type schedulesClient struct{ *Client }

func (client schedulesClient) Add(ctx context.Context, q port.ScheduleRequest) (r0 port.Schedule, err error) {
	err = client.call(ctx, "Schedules.Add", q.Session, args{"q": q}, &r0)
	return r0, err
}

func (client schedulesClient) SetZone(ctx context.Context, session uuid.UUID, schedule uuid.UUID, zone string) (err error) {
	err = client.call(ctx, "Schedules.SetZone", session, args{"session": session, "schedule": schedule, "zone": zone})
	return err
}

func (client schedulesClient) SetPlanner(ctx context.Context, session uuid.UUID, schedule uuid.UUID, by port.Planner) (err error) {
	err = client.call(ctx, "Schedules.SetPlanner", session, args{"session": session, "schedule": schedule, "by": by})
	return err
}

func (client schedulesClient) List(ctx context.Context) (r0 []port.Schedule, err error) {
	err = client.call(ctx, "Schedules.List", uuid.Nil, args{}, &r0)
	return r0, err
}

func (client schedulesClient) Remove(ctx context.Context, session uuid.UUID, schedule uuid.UUID) (r0 port.Schedule, err error) {
	err = client.call(ctx, "Schedules.Remove", session, args{"session": session, "schedule": schedule}, &r0)
	return r0, err
}

type allPlaces struct {
	placesClient
	foldersClient
	searchesClient
	worktreesClient
	checkoutsClient
	worktreeMakerClient
	lookupsClient
}

type placesClient struct{ *Client }

func (client placesClient) Bounds(dir string) (r0 folders.Bounds, err error) {
	err = client.call(client.Context, "Places.Bounds", uuid.Nil, args{"dir": dir}, &r0)
	return r0, err
}

func (client placesClient) Resolve(ctx context.Context, base string, path string) (r0 string, err error) {
	err = client.call(ctx, "Places.Resolve", uuid.Nil, args{"base": base, "path": path}, &r0)
	return r0, err
}

func (client placesClient) Make(ctx context.Context, dir string) (err error) {
	err = client.call(ctx, "Places.Make", uuid.Nil, args{"dir": dir})
	return err
}

type foldersClient struct{ *Client }

func (client foldersClient) Children(ctx context.Context, dir string, hidden bool) (r0 []string, r1 bool, err error) {
	err = client.call(ctx, "Folders.Children", uuid.Nil, args{"dir": dir, "hidden": hidden}, &r0, &r1)
	return r0, r1, err
}

func (client foldersClient) Conversations(ctx context.Context, dir string, from int, most int) (r0 []folders.Conversation, r1 bool, err error) {
	err = client.call(ctx, "Folders.Conversations", uuid.Nil, args{"dir": dir, "from": from, "most": most}, &r0, &r1)
	return r0, r1, err
}

type searchesClient struct{ *Client }

func (client searchesClient) Search(ctx context.Context, dir string, part string, most folders.Extent) (r0 folders.Found, err error) {
	err = client.call(ctx, "Searches.Search", uuid.Nil, args{"dir": dir, "part": part, "most": most}, &r0)
	return r0, err
}

type worktreesClient struct{ *Client }

func (client worktreesClient) Find(ctx context.Context, dir string) (r0 folders.Worktree, r1 bool, err error) {
	err = client.call(ctx, "Worktrees.Find", uuid.Nil, args{"dir": dir}, &r0, &r1)
	return r0, r1, err
}

func (client worktreesClient) Remove(ctx context.Context, dir string) (err error) {
	err = client.call(ctx, "Worktrees.Remove", uuid.Nil, args{"dir": dir})
	return err
}

type checkoutsClient struct{ *Client }

func (client checkoutsClient) Checkouts(ctx context.Context, dir string) (r0 []folders.Checkout, err error) {
	err = client.call(ctx, "Checkouts.Checkouts", uuid.Nil, args{"dir": dir}, &r0)
	return r0, err
}

type worktreeMakerClient struct{ *Client }

func (client worktreeMakerClient) Add(ctx context.Context, dir string, key string) (r0 string, err error) {
	err = client.call(ctx, "WorktreeMaker.Add", uuid.Nil, args{"dir": dir, "key": key}, &r0)
	return r0, err
}

func (client worktreeMakerClient) Done(ctx context.Context, dir string, key string) (err error) {
	err = client.call(ctx, "WorktreeMaker.Done", uuid.Nil, args{"dir": dir, "key": key})
	return err
}

type lookupsClient struct{ *Client }

func (client lookupsClient) IsMissing(ctx context.Context, dir string) (r0 bool, err error) {
	err = client.call(ctx, "Lookups.IsMissing", uuid.Nil, args{"dir": dir}, &r0)
	return r0, err
}

func (client lookupsClient) Branch(ctx context.Context, dir string) (r0 string, err error) {
	err = client.call(ctx, "Lookups.Branch", uuid.Nil, args{"dir": dir}, &r0)
	return r0, err
}

func (client lookupsClient) HasCommand(ctx context.Context, session uuid.UUID, name string) (r0 bool, err error) {
	err = client.call(ctx, "Lookups.HasCommand", session, args{"session": session, "name": name}, &r0)
	return r0, err
}

type filesClient struct{ *Client }

func (client filesClient) Open(ctx context.Context, session uuid.UUID, path string) (r0 folders.File, err error) {
	err = client.call(ctx, "Files.Open", session, args{"session": session, "path": path}, &r0)
	return r0, err
}

func (client filesClient) List(ctx context.Context, session uuid.UUID, path string) (r0 folders.Listing, err error) {
	err = client.call(ctx, "Files.List", session, args{"session": session, "path": path}, &r0)
	return r0, err
}

func (client filesClient) Read(ctx context.Context, transcript string, path string, most int64) (r0 string, err error) {
	err = client.call(ctx, "Files.Read", uuid.Nil, args{"transcript": transcript, "path": path, "most": most}, &r0)
	return r0, err
}

func (client filesClient) Offered(ctx context.Context, session uuid.UUID, id uuid.UUID, outcome folders.Outcome) (err error) {
	err = client.call(ctx, "Files.Offered", session, args{"session": session, "id": id, "outcome": outcome})
	return err
}

type bodiesClient struct{ *Client }

func (client bodiesClient) ReadPart(ctx context.Context, t folders.Ticket, offset int64) (r0 []byte, err error) {
	err = client.call(ctx, "Bodies.ReadPart", uuid.Nil, args{"t": t, "offset": offset}, &r0)
	return r0, err
}

func (client bodiesClient) WritePart(ctx context.Context, t folders.Ticket, offset int64, data []byte) (err error) {
	err = client.call(ctx, "Bodies.WritePart", uuid.Nil, args{"t": t, "offset": offset, "data": data})
	return err
}

func (client bodiesClient) Close(ctx context.Context, t folders.Ticket) (err error) {
	err = client.call(ctx, "Bodies.Close", uuid.Nil, args{"t": t})
	return err
}

type receivedClient struct{ *Client }

func (client receivedClient) Has(ctx context.Context, session uuid.UUID, id string) (r0 string, r1 string, err error) {
	err = client.call(ctx, "Received.Has", session, args{"session": session, "id": id}, &r0, &r1)
	return r0, r1, err
}

func (client receivedClient) Begin(ctx context.Context, session uuid.UUID, id string, wished string) (r0 folders.Ticket, err error) {
	err = client.call(ctx, "Received.Begin", session, args{"session": session, "id": id, "wished": wished}, &r0)
	return r0, err
}

func (client receivedClient) Finish(ctx context.Context, t folders.Ticket) (r0 string, r1 string, err error) {
	err = client.call(ctx, "Received.Finish", uuid.Nil, args{"t": t}, &r0, &r1)
	return r0, r1, err
}

func (client receivedClient) Discard(ctx context.Context, dir string, names []string) (err error) {
	err = client.call(ctx, "Received.Discard", uuid.Nil, args{"dir": dir, "names": names})
	return err
}

type allTranscripts struct {
	transcriptsClient
	picturesClient
	conversationsClient
	exportsClient
	lastQuestionsClient
}

type transcriptsClient struct{ *Client }

func (client transcriptsClient) Next(ctx context.Context, session uuid.UUID, from talk.Cursor, most int, wait bool) (r0 []talk.Item, err error) {
	err = client.call(ctx, "Transcripts.Next", session, args{"session": session, "from": from, "most": most, "wait": wait}, &r0)
	return r0, err
}

func (client transcriptsClient) Between(ctx context.Context, from *talk.Cursor, before talk.Cursor) (r0 []talk.Item, r1 bool, err error) {
	err = client.call(ctx, "Transcripts.Between", uuid.Nil, args{"from": from, "before": before}, &r0, &r1)
	return r0, r1, err
}

func (client transcriptsClient) End(ctx context.Context, of talk.Cursor) (r0 talk.Cursor, err error) {
	err = client.call(ctx, "Transcripts.End", uuid.Nil, args{"of": of}, &r0)
	return r0, err
}

type picturesClient struct{ *Client }

func (client picturesClient) Image(ctx context.Context, at talk.Cursor, image talk.Image) (r0 folders.File, err error) {
	err = client.call(ctx, "Pictures.Image", uuid.Nil, args{"at": at, "image": image}, &r0)
	return r0, err
}

func (client picturesClient) Words(ctx context.Context, at talk.Cursor, rest talk.Rest, beyond bool) (r0 folders.File, err error) {
	err = client.call(ctx, "Pictures.Words", uuid.Nil, args{"at": at, "rest": rest, "beyond": beyond}, &r0)
	return r0, err
}

type conversationsClient struct{ *Client }

func (client conversationsClient) Read(ctx context.Context, session uuid.UUID, at talk.Place, way talk.Direction, most int) (r0 []talk.Entry, err error) {
	err = client.call(ctx, "Conversations.Read", session, args{"session": session, "at": at, "way": way, "most": most}, &r0)
	return r0, err
}

func (client conversationsClient) Find(ctx context.Context, session uuid.UUID, at talk.Place, word string, most int, budget time.Duration) (r0 talk.Found, err error) {
	err = client.call(ctx, "Conversations.Find", session, args{"session": session, "at": at, "word": word, "most": most, "budget": budget}, &r0)
	return r0, err
}

func (client conversationsClient) Days(ctx context.Context, session uuid.UUID, at talk.Place, most int, budget time.Duration) (r0 talk.Days, err error) {
	err = client.call(ctx, "Conversations.Days", session, args{"session": session, "at": at, "most": most, "budget": budget}, &r0)
	return r0, err
}

type exportsClient struct{ *Client }

func (client exportsClient) Export(ctx context.Context, session uuid.UUID, most int64, words talk.Words) (r0 folders.File, err error) {
	err = client.call(ctx, "Exports.Export", session, args{"session": session, "most": most, "words": words}, &r0)
	return r0, err
}

type lastQuestionsClient struct{ *Client }

func (client lastQuestionsClient) LastQuestions(ctx context.Context, sessions []uuid.UUID) (r0 []string, err error) {
	err = client.call(ctx, "LastQuestions.LastQuestions", uuid.Nil, args{"sessions": sessions}, &r0)
	return r0, err
}

// handlers are the calls that a Server makes.
var handlers = map[string]handler{
	"Agents.Installed": method(func(ctx context.Context, m *machine.Machine, in struct{ Dir string }) ([]any, error) {
		r0, err := m.Sessions.Installed(ctx, in.Dir)
		return []any{r0}, err
	}),
	"Agents.Abilities": method(func(ctx context.Context, m *machine.Machine, in struct {
		Dir   string
		Agent string
	}) ([]any, error) {
		r0, err := m.Sessions.Abilities(ctx, in.Dir, in.Agent)
		return []any{r0}, err
	}),
	"Starter.Start": method(func(ctx context.Context, m *machine.Machine, in struct{ Q port.Start }) ([]any, error) {
		r0, err := m.Sessions.Start(ctx, in.Q)
		return []any{r0}, err
	}),
	"Starter.Restore": method(func(ctx context.Context, m *machine.Machine, in struct{ Q port.Restore }) ([]any, error) {
		r0, err := m.Sessions.Restore(ctx, in.Q)
		return []any{r0}, err
	}),
	"Starter.Adopt": method(func(ctx context.Context, m *machine.Machine, in struct{ Q port.Adopt }) ([]any, error) {
		r0, err := m.Sessions.Adopt(ctx, in.Q)
		return []any{r0}, err
	}),
	"Ender.Archive": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id    uuid.UUID
		Final port.State
		Cause port.Cause
	}) ([]any, error) {
		err := m.Sessions.Archive(ctx, in.Id, in.Final, in.Cause)
		return []any{}, err
	}),
	"Ender.BeginEnd": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id    uuid.UUID
		Final port.State
		Cause port.Cause
	}) ([]any, error) {
		err := m.Sessions.BeginEnd(ctx, in.Id, in.Final, in.Cause)
		return []any{}, err
	}),
	"Ender.EndWriters": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id  uuid.UUID
		Who []port.ID
	}) ([]any, error) {
		r0, err := m.Sessions.EndWriters(ctx, in.Id, in.Who)
		return []any{r0}, err
	}),
	"Archiver.ArchiveQuiet": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id uuid.UUID
		Q  port.Silence
	}) ([]any, error) {
		err := m.Sessions.ArchiveQuiet(ctx, in.Id, in.Q)
		return []any{}, err
	}),
	"Keeper.Move": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id    uuid.UUID
		To    address.Conversation
		Since port.MoveSince
	}) ([]any, error) {
		err := m.Sessions.Move(ctx, in.Id, in.To, in.Since)
		return []any{}, err
	}),
	"Keeper.SetIdleAfter": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id    uuid.UUID
		After *time.Duration
	}) ([]any, error) {
		err := m.Sessions.SetIdleAfter(ctx, in.Id, in.After)
		return []any{}, err
	}),
	"Keeper.SetBudget": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id uuid.UUID
		B  port.Budget
	}) ([]any, error) {
		err := m.Sessions.SetBudget(ctx, in.Id, in.B)
		return []any{}, err
	}),
	"Keeper.Reported": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		err := m.Sessions.Reported(ctx, in.Id)
		return []any{}, err
	}),
	"Keeper.Forget": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		err := m.Sessions.Forget(ctx, in.Id)
		return []any{}, err
	}),
	"Namer.Rename": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id   uuid.UUID
		Name string
	}) ([]any, error) {
		err := m.Sessions.Rename(ctx, in.Id, in.Name)
		return []any{}, err
	}),
	"PromptQueue.Queue": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id uuid.UUID
		O  talk.Offer
	}) ([]any, error) {
		err := m.Sessions.Queue(ctx, in.Id, in.O)
		return []any{}, err
	}),
	"PromptQueue.Keep": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id uuid.UUID
		O  talk.Offer
	}) ([]any, error) {
		err := m.Sessions.Keep(ctx, in.Id, in.O)
		return []any{}, err
	}),
	"PromptDecisions.SendAgain": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id  uuid.UUID
		Key string
	}) ([]any, error) {
		err := m.Sessions.SendAgain(ctx, in.Id, in.Key)
		return []any{}, err
	}),
	"PromptDecisions.SendAnyway": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id  uuid.UUID
		Key string
	}) ([]any, error) {
		err := m.Sessions.SendAnyway(ctx, in.Id, in.Key)
		return []any{}, err
	}),
	"PromptDecisions.Drop": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id  uuid.UUID
		Key string
	}) ([]any, error) {
		err := m.Sessions.Drop(ctx, in.Id, in.Key)
		return []any{}, err
	}),
	"PromptViews.LeaveView": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id  uuid.UUID
		Key string
	}) ([]any, error) {
		err := m.Sessions.LeaveView(ctx, in.Id, in.Key)
		return []any{}, err
	}),
	"PromptEdits.TakeBack": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id     uuid.UUID
		Key    string
		Number int64
		Held   bool
	}) ([]any, error) {
		err := m.Sessions.TakeBack(ctx, in.Id, in.Key, in.Number, in.Held)
		return []any{}, err
	}),
	"PromptEdits.Withdraw": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id     uuid.UUID
		Key    string
		Number int64
	}) ([]any, error) {
		err := m.Sessions.Withdraw(ctx, in.Id, in.Key, in.Number)
		return []any{}, err
	}),
	"PromptEdits.Reword": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id     uuid.UUID
		Key    string
		Number int64
		Text   string
		Class  talk.PromptClass
	}) ([]any, error) {
		err := m.Sessions.Reword(ctx, in.Id, in.Key, in.Number, in.Text, in.Class)
		return []any{}, err
	}),
	"PromptOrder.ToFront": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id  uuid.UUID
		Key string
	}) ([]any, error) {
		err := m.Sessions.ToFront(ctx, in.Id, in.Key)
		return []any{}, err
	}),
	"PromptOrder.SendNow": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id  uuid.UUID
		Key string
	}) ([]any, error) {
		r0, err := m.Sessions.SendNow(ctx, in.Id, in.Key)
		return []any{r0}, err
	}),
	"PromptOrder.Halt": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		err := m.Sessions.Halt(ctx, in.Id)
		return []any{}, err
	}),
	"TurnEnder.EndTurn": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		err := m.Sessions.EndTurn(ctx, in.Id)
		return []any{}, err
	}),
	"Works.Work": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		r0, err := m.Sessions.Work(ctx, in.Id)
		return []any{r0}, err
	}),
	"Works.Brief": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		r0, err := m.Sessions.Brief(ctx, in.Id)
		return []any{r0}, err
	}),
	"Works.Usage": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		r0, err := m.Sessions.Usage(ctx, in.Id)
		return []any{r0}, err
	}),
	"Keys.Dialog": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		r0, err := m.Sessions.Dialog(ctx, in.Id)
		return []any{r0}, err
	}),
	"Keys.Press": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id          uuid.UUID
		Fingerprint string
		Key         string
	}) ([]any, error) {
		r0, err := m.Sessions.Press(ctx, in.Id, in.Fingerprint, in.Key)
		return []any{r0}, err
	}),
	"Keys.Choose": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id          uuid.UUID
		Fingerprint string
		Option      int
	}) ([]any, error) {
		r0, err := m.Sessions.Choose(ctx, in.Id, in.Fingerprint, in.Option)
		return []any{r0}, err
	}),
	"Panes.Screen": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id    uuid.UUID
		Press port.KeyOn
	}) ([]any, error) {
		r0, err := m.Sessions.Screen(ctx, in.Id, in.Press)
		return []any{r0}, err
	}),
	"Screens.Inspect": method(func(ctx context.Context, m *machine.Machine, in struct{ Ids []uuid.UUID }) ([]any, error) {
		r0, err := m.Sessions.Inspect(ctx, in.Ids...)
		return []any{r0}, err
	}),
	"Screens.Output": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id      uuid.UUID
		Command string
	}) ([]any, error) {
		r0, err := m.Sessions.Output(ctx, in.Id, in.Command)
		return []any{r0}, err
	}),
	"Screens.Interrupt": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		r0, err := m.Sessions.Interrupt(ctx, in.Id)
		return []any{r0}, err
	}),
	"WriterFinder.Writers": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		r0, err := m.Sessions.Writers(ctx, in.Id)
		return []any{r0}, err
	}),
	"Windows.Orphans": method(func(ctx context.Context, m *machine.Machine, in struct{}) ([]any, error) {
		r0, err := m.Sessions.Orphans(ctx)
		return []any{r0}, err
	}),
	"Windows.Ignore": method(func(ctx context.Context, m *machine.Machine, in struct{ W port.Window }) ([]any, error) {
		err := m.Sessions.Ignore(ctx, in.W)
		return []any{}, err
	}),
	"Notices.NewOrphans": method(func(ctx context.Context, m *machine.Machine, in struct{ Of []port.Window }) ([]any, error) {
		r0, err := m.Sessions.NewOrphans(ctx, in.Of)
		return []any{r0}, err
	}),
	"Notices.MarkReported": method(func(ctx context.Context, m *machine.Machine, in struct{ All []port.Window }) ([]any, error) {
		err := m.Sessions.MarkReported(ctx, in.All)
		return []any{}, err
	}),
	"ModeSwitcher.Switch": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id   uuid.UUID
		Want port.ModeChange
	}) ([]any, error) {
		r0, err := m.Sessions.Switch(ctx, in.Id, in.Want)
		return []any{r0}, err
	}),
	"CursorStore.Advance": method(func(ctx context.Context, m *machine.Machine, in struct {
		Id uuid.UUID
		C  talk.Cursor
	}) ([]any, error) {
		err := m.Sessions.Advance(ctx, in.Id, in.C)
		return []any{}, err
	}),
	"Diffs.Snapshot": method(func(ctx context.Context, m *machine.Machine, in struct{ Session uuid.UUID }) ([]any, error) {
		r0, err := m.Sessions.Snapshot(ctx, in.Session)
		return []any{r0}, err
	}),
	"Diffs.Changes": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Since   folders.Since
	}) ([]any, error) {
		r0, err := m.Sessions.Changes(ctx, in.Session, in.Since)
		return []any{r0}, err
	}),
	"Diffs.Patch": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Since   folders.Since
		Path    string
	}) ([]any, error) {
		r0, err := m.Sessions.Patch(ctx, in.Session, in.Since, in.Path)
		return []any{r0}, err
	}),
	"Spending.Spent": method(func(ctx context.Context, m *machine.Machine, in struct{ Budget time.Duration }) ([]any, error) {
		r0, err := m.Sessions.Spent(ctx, in.Budget)
		return []any{r0}, err
	}),
	"Spending.Limits": method(func(ctx context.Context, m *machine.Machine, in struct{}) ([]any, error) {
		r0, err := m.Sessions.Limits(ctx)
		return []any{r0}, err
	}),
	"Spending.LimitsChange": method(func(ctx context.Context, m *machine.Machine, in struct{}) ([]any, error) {
		err := m.Sessions.LimitsChange(ctx)
		return []any{}, err
	}),
	"Views.Get": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		r0, r1 := m.Records.Get(in.Id)
		return []any{r0, r1}, nil
	}),
	"Views.List": method(func(ctx context.Context, m *machine.Machine, in struct{}) ([]any, error) {
		r0, err := m.Records.List()
		return []any{r0}, err
	}),
	"Views.History": method(func(ctx context.Context, m *machine.Machine, in struct{ Id uuid.UUID }) ([]any, error) {
		r0, err := m.Records.History(ctx, in.Id)
		return []any{r0}, err
	}),
	"RequestWaiters.Decide": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Request string
		A       talk.Answer
	}) ([]any, error) {
		err := m.Decisions.Decide(ctx, in.Session, in.Request, in.A)
		return []any{}, err
	}),
	"RequestWaiters.Leave": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Request string
	}) ([]any, error) {
		err := m.Decisions.Leave(ctx, in.Session, in.Request)
		return []any{}, err
	}),
	"RequestWaiters.Waiting": method(func(ctx context.Context, m *machine.Machine, in struct{ Session uuid.UUID }) ([]any, error) {
		r0, err := m.Decisions.Waiting(ctx, in.Session)
		return []any{r0}, err
	}),
	"DecisionRecords.Outcome": method(func(ctx context.Context, m *machine.Machine, in struct {
		Q talk.Request
		A *talk.Answer
	}) ([]any, error) {
		r0, r1, err := m.Decisions.Outcome(ctx, in.Q, in.A)
		return []any{r0, r1}, err
	}),
	"DecisionRecords.Answerers": method(func(ctx context.Context, m *machine.Machine, in struct{ Session uuid.UUID }) ([]any, error) {
		r0, err := m.Decisions.Answerers(ctx, in.Session)
		return []any{r0}, err
	}),
	"Loops.Start": method(func(ctx context.Context, m *machine.Machine, in struct{ Q port.LoopRequest }) ([]any, error) {
		r0, err := m.Loops.Start(ctx, in.Q)
		return []any{r0}, err
	}),
	"Loops.All": method(func(ctx context.Context, m *machine.Machine, in struct{}) ([]any, error) {
		r0, err := m.Loops.All(ctx)
		return []any{r0}, err
	}),
	"Loops.Change": method(func(ctx context.Context, m *machine.Machine, in struct{ C port.LoopChange }) ([]any, error) {
		r0, err := m.Loops.Change(ctx, in.C)
		return []any{r0}, err
	}),
	"LoopTemplates.Templates": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Now     time.Time
	}) ([]any, error) {
		r0, err := m.Templates.Templates(ctx, in.Session, in.Now)
		return []any{r0}, err
	}),
	"Schedules.Add": method(func(ctx context.Context, m *machine.Machine, in struct{ Q port.ScheduleRequest }) ([]any, error) {
		r0, err := m.Schedules.Add(ctx, in.Q)
		return []any{r0}, err
	}),
	"Schedules.SetZone": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session  uuid.UUID
		Schedule uuid.UUID
		Zone     string
	}) ([]any, error) {
		err := m.Schedules.SetZone(ctx, in.Session, in.Schedule, in.Zone)
		return []any{}, err
	}),
	"Schedules.SetPlanner": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session  uuid.UUID
		Schedule uuid.UUID
		By       port.Planner
	}) ([]any, error) {
		err := m.Schedules.SetPlanner(ctx, in.Session, in.Schedule, in.By)
		return []any{}, err
	}),
	"Schedules.List": method(func(ctx context.Context, m *machine.Machine, in struct{}) ([]any, error) {
		r0, err := m.Schedules.List(ctx)
		return []any{r0}, err
	}),
	"Schedules.Remove": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session  uuid.UUID
		Schedule uuid.UUID
	}) ([]any, error) {
		r0, err := m.Schedules.Remove(ctx, in.Session, in.Schedule)
		return []any{r0}, err
	}),
	"Places.Bounds": method(func(ctx context.Context, m *machine.Machine, in struct{ Dir string }) ([]any, error) {
		r0, err := m.Places.Bounds(in.Dir)
		return []any{r0}, err
	}),
	"Places.Resolve": method(func(ctx context.Context, m *machine.Machine, in struct {
		Base string
		Path string
	}) ([]any, error) {
		r0, err := m.Places.Resolve(ctx, in.Base, in.Path)
		return []any{r0}, err
	}),
	"Places.Make": method(func(ctx context.Context, m *machine.Machine, in struct{ Dir string }) ([]any, error) {
		err := m.Places.Make(ctx, in.Dir)
		return []any{}, err
	}),
	"Folders.Children": method(func(ctx context.Context, m *machine.Machine, in struct {
		Dir    string
		Hidden bool
	}) ([]any, error) {
		r0, r1, err := m.Places.Children(ctx, in.Dir, in.Hidden)
		return []any{r0, r1}, err
	}),
	"Folders.Conversations": method(func(ctx context.Context, m *machine.Machine, in struct {
		Dir  string
		From int
		Most int
	}) ([]any, error) {
		r0, r1, err := m.Places.Conversations(ctx, in.Dir, in.From, in.Most)
		return []any{r0, r1}, err
	}),
	"Searches.Search": method(func(ctx context.Context, m *machine.Machine, in struct {
		Dir  string
		Part string
		Most folders.Extent
	}) ([]any, error) {
		r0, err := m.Places.Search(ctx, in.Dir, in.Part, in.Most)
		return []any{r0}, err
	}),
	"Worktrees.Find": method(func(ctx context.Context, m *machine.Machine, in struct{ Dir string }) ([]any, error) {
		r0, r1, err := m.Places.Find(ctx, in.Dir)
		return []any{r0, r1}, err
	}),
	"Worktrees.Remove": method(func(ctx context.Context, m *machine.Machine, in struct{ Dir string }) ([]any, error) {
		err := m.Places.Remove(ctx, in.Dir)
		return []any{}, err
	}),
	"Checkouts.Checkouts": method(func(ctx context.Context, m *machine.Machine, in struct{ Dir string }) ([]any, error) {
		r0, err := m.Places.Checkouts(ctx, in.Dir)
		return []any{r0}, err
	}),
	"WorktreeMaker.Add": method(func(ctx context.Context, m *machine.Machine, in struct {
		Dir string
		Key string
	}) ([]any, error) {
		r0, err := m.Places.Add(ctx, in.Dir, in.Key)
		return []any{r0}, err
	}),
	"WorktreeMaker.Done": method(func(ctx context.Context, m *machine.Machine, in struct {
		Dir string
		Key string
	}) ([]any, error) {
		err := m.Places.Done(ctx, in.Dir, in.Key)
		return []any{}, err
	}),
	"Lookups.IsMissing": method(func(ctx context.Context, m *machine.Machine, in struct{ Dir string }) ([]any, error) {
		r0, err := m.Places.IsMissing(ctx, in.Dir)
		return []any{r0}, err
	}),
	"Lookups.Branch": method(func(ctx context.Context, m *machine.Machine, in struct{ Dir string }) ([]any, error) {
		r0, err := m.Places.Branch(ctx, in.Dir)
		return []any{r0}, err
	}),
	"Lookups.HasCommand": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Name    string
	}) ([]any, error) {
		r0, err := m.Places.HasCommand(ctx, in.Session, in.Name)
		return []any{r0}, err
	}),
	"Files.Open": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Path    string
	}) ([]any, error) {
		r0, err := m.Files.Open(ctx, in.Session, in.Path)
		return []any{r0}, err
	}),
	"Files.List": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Path    string
	}) ([]any, error) {
		r0, err := m.Files.List(ctx, in.Session, in.Path)
		return []any{r0}, err
	}),
	"Files.Read": method(func(ctx context.Context, m *machine.Machine, in struct {
		Transcript string
		Path       string
		Most       int64
	}) ([]any, error) {
		r0, err := m.Files.Read(ctx, in.Transcript, in.Path, in.Most)
		return []any{r0}, err
	}),
	"Files.Offered": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Id      uuid.UUID
		Outcome folders.Outcome
	}) ([]any, error) {
		err := m.Files.Offered(ctx, in.Session, in.Id, in.Outcome)
		return []any{}, err
	}),
	"Bodies.ReadPart": method(func(ctx context.Context, m *machine.Machine, in struct {
		T      folders.Ticket
		Offset int64
	}) ([]any, error) {
		r0, err := m.Bodies.ReadPart(ctx, in.T, in.Offset)
		return []any{r0}, err
	}),
	"Bodies.WritePart": method(func(ctx context.Context, m *machine.Machine, in struct {
		T      folders.Ticket
		Offset int64
		Data   []byte
	}) ([]any, error) {
		err := m.Bodies.WritePart(ctx, in.T, in.Offset, in.Data)
		return []any{}, err
	}),
	"Bodies.Close": method(func(ctx context.Context, m *machine.Machine, in struct{ T folders.Ticket }) ([]any, error) {
		err := m.Bodies.Close(ctx, in.T)
		return []any{}, err
	}),
	"Received.Has": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Id      string
	}) ([]any, error) {
		r0, r1, err := m.Received.Has(ctx, in.Session, in.Id)
		return []any{r0, r1}, err
	}),
	"Received.Begin": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Id      string
		Wished  string
	}) ([]any, error) {
		r0, err := m.Received.Begin(ctx, in.Session, in.Id, in.Wished)
		return []any{r0}, err
	}),
	"Received.Finish": method(func(ctx context.Context, m *machine.Machine, in struct{ T folders.Ticket }) ([]any, error) {
		r0, r1, err := m.Received.Finish(ctx, in.T)
		return []any{r0, r1}, err
	}),
	"Received.Discard": method(func(ctx context.Context, m *machine.Machine, in struct {
		Dir   string
		Names []string
	}) ([]any, error) {
		err := m.Received.Discard(ctx, in.Dir, in.Names)
		return []any{}, err
	}),
	"Transcripts.Next": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		From    talk.Cursor
		Most    int
		Wait    bool
	}) ([]any, error) {
		r0, err := m.Transcripts.Next(ctx, in.Session, in.From, in.Most, in.Wait)
		return []any{r0}, err
	}),
	"Transcripts.Between": method(func(ctx context.Context, m *machine.Machine, in struct {
		From   *talk.Cursor
		Before talk.Cursor
	}) ([]any, error) {
		r0, r1, err := m.Transcripts.Between(ctx, in.From, in.Before)
		return []any{r0, r1}, err
	}),
	"Transcripts.End": method(func(ctx context.Context, m *machine.Machine, in struct{ Of talk.Cursor }) ([]any, error) {
		r0, err := m.Transcripts.End(ctx, in.Of)
		return []any{r0}, err
	}),
	"Pictures.Image": method(func(ctx context.Context, m *machine.Machine, in struct {
		At    talk.Cursor
		Image talk.Image
	}) ([]any, error) {
		r0, err := m.Transcripts.Image(ctx, in.At, in.Image)
		return []any{r0}, err
	}),
	"Pictures.Words": method(func(ctx context.Context, m *machine.Machine, in struct {
		At     talk.Cursor
		Rest   talk.Rest
		Beyond bool
	}) ([]any, error) {
		r0, err := m.Transcripts.Words(ctx, in.At, in.Rest, in.Beyond)
		return []any{r0}, err
	}),
	"Conversations.Read": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		At      talk.Place
		Way     talk.Direction
		Most    int
	}) ([]any, error) {
		r0, err := m.Transcripts.Read(ctx, in.Session, in.At, in.Way, in.Most)
		return []any{r0}, err
	}),
	"Conversations.Find": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		At      talk.Place
		Word    string
		Most    int
		Budget  time.Duration
	}) ([]any, error) {
		r0, err := m.Transcripts.Find(ctx, in.Session, in.At, in.Word, in.Most, in.Budget)
		return []any{r0}, err
	}),
	"Conversations.Days": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		At      talk.Place
		Most    int
		Budget  time.Duration
	}) ([]any, error) {
		r0, err := m.Transcripts.Days(ctx, in.Session, in.At, in.Most, in.Budget)
		return []any{r0}, err
	}),
	"Exports.Export": method(func(ctx context.Context, m *machine.Machine, in struct {
		Session uuid.UUID
		Most    int64
		Words   talk.Words
	}) ([]any, error) {
		r0, err := m.Transcripts.Export(ctx, in.Session, in.Most, in.Words)
		return []any{r0}, err
	}),
	"LastQuestions.LastQuestions": method(func(ctx context.Context, m *machine.Machine, in struct{ Sessions []uuid.UUID }) ([]any, error) {
		r0, err := m.Transcripts.LastQuestions(ctx, in.Sessions)
		return []any{r0}, err
	}),
}

// newsKinds are the types of news by name.
var newsKinds = map[string]func(json.RawMessage) (news.News, error){
	"Delivered":    decodeNews[news.Delivered],
	"Dialog":       decodeNews[news.Dialog],
	"DialogGone":   decodeNews[news.DialogGone],
	"Doing":        decodeNews[news.Doing],
	"DraftCleared": decodeNews[news.DraftCleared],
	"Ended":        decodeNews[news.Ended],
	"Failed":       decodeNews[news.Failed],
	"FileOffered":  decodeNews[news.FileOffered],
	"FileUnread":   decodeNews[news.FileUnread],
	"FilesDue":     decodeNews[news.FilesDue],
	"Forgotten":    decodeNews[news.Forgotten],
	"Held":         decodeNews[news.Held],
	"Looped":       decodeNews[news.Looped],
	"Lost":         decodeNews[news.Lost],
	"Moved":        decodeNews[news.Moved],
	"NotReporting": decodeNews[news.NotReporting],
	"Opened":       decodeNews[news.Opened],
	"OtherWriters": decodeNews[news.OtherWriters],
	"Progress":     decodeNews[news.Progress],
	"Ready":        decodeNews[news.Ready],
	"Renamed":      decodeNews[news.Renamed],
	"RequestLeft":  decodeNews[news.RequestLeft],
	"Requested":    decodeNews[news.Requested],
	"Requeued":     decodeNews[news.Requeued],
	"Retrying":     decodeNews[news.Retrying],
	"Scheduled":    decodeNews[news.Scheduled],
	"Spared":       decodeNews[news.Spared],
	"Start":        decodeNews[news.Start],
	"Stopped":      decodeNews[news.Stopped],
	"Switched":     decodeNews[news.Switched],
	"TakenBack":    decodeNews[news.TakenBack],
	"TmuxSilence":  decodeNews[news.TmuxSilence],
	"Transcript":   decodeNews[news.Transcript],
	"Transferred":  decodeNews[news.Transferred],
	"Typed":        decodeNews[news.Typed],
	"Unproven":     decodeNews[news.Unproven],
}
