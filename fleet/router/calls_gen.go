// Code generated from the interfaces of the port by go generate; DO NOT EDIT.

package router

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/machine"
	"ccbot/internal/address"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// Machine returns all machines as one.
func (r *Router) Machine() *machine.Machine {
	return &machine.Machine{
		Sessions:    allSessions{agentsRouter{r}, starterRouter{r}, enderRouter{r}, archiverRouter{r}, keeperRouter{r}, namerRouter{r}, promptQueueRouter{r}, promptDecisionsRouter{r}, promptViewsRouter{r}, promptEditsRouter{r}, promptOrderRouter{r}, turnEnderRouter{r}, worksRouter{r}, keysRouter{r}, panesRouter{r}, screensRouter{r}, writerFinderRouter{r}, windowsRouter{r}, noticesRouter{r}, modeSwitcherRouter{r}, cursorStoreRouter{r}, diffsRouter{r}, spendingRouter{r}},
		Records:     viewsRouter{r},
		Decisions:   allDecisions{requestWaitersRouter{r}, decisionRecordsRouter{r}},
		Loops:       loopsRouter{r},
		Templates:   loopTemplatesRouter{r},
		Schedules:   schedulesRouter{r},
		Places:      allPlaces{placesRouter{r}, foldersRouter{r}, searchesRouter{r}, worktreesRouter{r}, checkoutsRouter{r}, worktreeMakerRouter{r}, lookupsRouter{r}},
		Files:       filesRouter{r},
		Bodies:      bodiesRouter{r},
		Received:    receivedRouter{r},
		Transcripts: allTranscripts{transcriptsRouter{r}, picturesRouter{r}, conversationsRouter{r}, exportsRouter{r}, lastQuestionsRouter{r}},
		Fonts:       r.own.Fonts,
	}
}

type allSessions struct {
	agentsRouter
	starterRouter
	enderRouter
	archiverRouter
	keeperRouter
	namerRouter
	promptQueueRouter
	promptDecisionsRouter
	promptViewsRouter
	promptEditsRouter
	promptOrderRouter
	turnEnderRouter
	worksRouter
	keysRouter
	panesRouter
	screensRouter
	writerFinderRouter
	windowsRouter
	noticesRouter
	modeSwitcherRouter
	cursorStoreRouter
	diffsRouter
	spendingRouter
}

type agentsRouter struct{ *Router }

func (r agentsRouter) Installed(ctx context.Context, dir string) (r0 []port.Installed, err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Installed(ctx, h.local(dir))
	return up(h, r0), h.upError(err)
}

func (r agentsRouter) Abilities(ctx context.Context, dir string, agent string) (r0 port.Abilities, err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Abilities(ctx, h.local(dir), agent)
	return up(h, r0), h.upError(err)
}

type starterRouter struct{ *Router }

func (r starterRouter) Start(ctx context.Context, q port.Start) (r0 port.Session, err error) {
	h, err := r.at(q)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Start(ctx, down(h, q))
	return up(h, r0), h.upError(err)
}

func (r starterRouter) Restore(ctx context.Context, q port.Restore) (r0 port.Restored, err error) {
	h, err := r.about(q.Session, q)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Restore(ctx, down(h, q))
	return up(h, r0), h.upError(err)
}

func (r starterRouter) Adopt(ctx context.Context, q port.Adopt) (r0 port.Session, err error) {
	h, err := r.at(q)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Adopt(ctx, down(h, q))
	return up(h, r0), h.upError(err)
}

type enderRouter struct{ *Router }

func (r enderRouter) Archive(ctx context.Context, id uuid.UUID, final port.State, cause port.Cause) (err error) {
	h, err := r.about(id, final, cause)
	if err != nil {
		return err
	}
	err = h.Sessions.Archive(ctx, id, down(h, final), down(h, cause))
	return h.upError(err)
}

func (r enderRouter) BeginEnd(ctx context.Context, id uuid.UUID, final port.State, cause port.Cause) (err error) {
	h, err := r.about(id, final, cause)
	if err != nil {
		return err
	}
	err = h.Sessions.BeginEnd(ctx, id, down(h, final), down(h, cause))
	return h.upError(err)
}

func (r enderRouter) EndWriters(ctx context.Context, id uuid.UUID, who []port.ID) (r0 []port.Ending, err error) {
	h, err := r.about(id, who)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.EndWriters(ctx, id, down(h, who))
	return up(h, r0), h.upError(err)
}

type archiverRouter struct{ *Router }

func (r archiverRouter) ArchiveQuiet(ctx context.Context, id uuid.UUID, q port.Silence) (err error) {
	h, err := r.about(id, q)
	if err != nil {
		return err
	}
	err = h.Sessions.ArchiveQuiet(ctx, id, down(h, q))
	return h.upError(err)
}

type keeperRouter struct{ *Router }

func (r keeperRouter) Move(ctx context.Context, id uuid.UUID, to address.Conversation, since port.MoveSince) (err error) {
	h, err := r.about(id, to, since)
	if err != nil {
		return err
	}
	err = h.Sessions.Move(ctx, id, down(h, to), down(h, since))
	return h.upError(err)
}

func (r keeperRouter) SetIdleAfter(ctx context.Context, id uuid.UUID, after *time.Duration) (err error) {
	h, err := r.about(id, after)
	if err != nil {
		return err
	}
	err = h.Sessions.SetIdleAfter(ctx, id, down(h, after))
	return h.upError(err)
}

func (r keeperRouter) SetBudget(ctx context.Context, id uuid.UUID, b port.Budget) (err error) {
	h, err := r.about(id, b)
	if err != nil {
		return err
	}
	err = h.Sessions.SetBudget(ctx, id, down(h, b))
	return h.upError(err)
}

func (r keeperRouter) Reported(ctx context.Context, id uuid.UUID) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.Reported(ctx, id)
	return h.upError(err)
}

func (r keeperRouter) Forget(ctx context.Context, id uuid.UUID) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.Forget(ctx, id)
	return h.upError(err)
}

type namerRouter struct{ *Router }

type promptQueueRouter struct{ *Router }

func (r promptQueueRouter) Queue(ctx context.Context, id uuid.UUID, o talk.Offer) (err error) {
	h, err := r.about(id, o)
	if err != nil {
		return err
	}
	err = h.Sessions.Queue(ctx, id, down(h, o))
	return h.upError(err)
}

func (r promptQueueRouter) Keep(ctx context.Context, id uuid.UUID, o talk.Offer) (err error) {
	h, err := r.about(id, o)
	if err != nil {
		return err
	}
	err = h.Sessions.Keep(ctx, id, down(h, o))
	return h.upError(err)
}

type promptDecisionsRouter struct{ *Router }

func (r promptDecisionsRouter) SendAgain(ctx context.Context, id uuid.UUID, key string) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.SendAgain(ctx, id, key)
	return h.upError(err)
}

func (r promptDecisionsRouter) SendAnyway(ctx context.Context, id uuid.UUID, key string) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.SendAnyway(ctx, id, key)
	return h.upError(err)
}

func (r promptDecisionsRouter) Drop(ctx context.Context, id uuid.UUID, key string) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.Drop(ctx, id, key)
	return h.upError(err)
}

type promptViewsRouter struct{ *Router }

func (r promptViewsRouter) LeaveView(ctx context.Context, id uuid.UUID, key string) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.LeaveView(ctx, id, key)
	return h.upError(err)
}

type promptEditsRouter struct{ *Router }

func (r promptEditsRouter) TakeBack(ctx context.Context, id uuid.UUID, key string, number int64, held bool) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.TakeBack(ctx, id, key, number, held)
	return h.upError(err)
}

func (r promptEditsRouter) Withdraw(ctx context.Context, id uuid.UUID, key string, number int64) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.Withdraw(ctx, id, key, number)
	return h.upError(err)
}

func (r promptEditsRouter) Reword(ctx context.Context, id uuid.UUID, key string, number int64, text string, class talk.PromptClass) (err error) {
	h, err := r.about(id, class)
	if err != nil {
		return err
	}
	err = h.Sessions.Reword(ctx, id, key, number, text, down(h, class))
	return h.upError(err)
}

type promptOrderRouter struct{ *Router }

func (r promptOrderRouter) ToFront(ctx context.Context, id uuid.UUID, key string) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.ToFront(ctx, id, key)
	return h.upError(err)
}

func (r promptOrderRouter) SendNow(ctx context.Context, id uuid.UUID, key string) (r0 bool, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.SendNow(ctx, id, key)
	return r0, h.upError(err)
}

func (r promptOrderRouter) Halt(ctx context.Context, id uuid.UUID) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.Halt(ctx, id)
	return h.upError(err)
}

type turnEnderRouter struct{ *Router }

func (r turnEnderRouter) EndTurn(ctx context.Context, id uuid.UUID) (err error) {
	h, err := r.about(id)
	if err != nil {
		return err
	}
	err = h.Sessions.EndTurn(ctx, id)
	return h.upError(err)
}

type worksRouter struct{ *Router }

func (r worksRouter) Work(ctx context.Context, id uuid.UUID) (r0 port.Work, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Work(ctx, id)
	return up(h, r0), h.upError(err)
}

func (r worksRouter) Brief(ctx context.Context, id uuid.UUID) (r0 port.Work, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Brief(ctx, id)
	return up(h, r0), h.upError(err)
}

func (r worksRouter) Usage(ctx context.Context, id uuid.UUID) (r0 *port.Usage, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Usage(ctx, id)
	return up(h, r0), h.upError(err)
}

type keysRouter struct{ *Router }

func (r keysRouter) Dialog(ctx context.Context, id uuid.UUID) (r0 port.Dialog, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Dialog(ctx, id)
	return up(h, r0), h.upError(err)
}

func (r keysRouter) Press(ctx context.Context, id uuid.UUID, fingerprint string, key string) (r0 port.Dialog, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Press(ctx, id, fingerprint, key)
	return up(h, r0), h.upError(err)
}

func (r keysRouter) Choose(ctx context.Context, id uuid.UUID, fingerprint string, option int) (r0 port.Dialog, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Choose(ctx, id, fingerprint, option)
	return up(h, r0), h.upError(err)
}

type panesRouter struct{ *Router }

func (r panesRouter) Screen(ctx context.Context, id uuid.UUID, press port.KeyOn) (r0 port.Screen, err error) {
	h, err := r.about(id, press)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Screen(ctx, id, down(h, press))
	return up(h, r0), h.upError(err)
}

type screensRouter struct{ *Router }

func (r screensRouter) Output(ctx context.Context, id uuid.UUID, command string) (r0 port.Output, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Output(ctx, id, command)
	return up(h, r0), h.upError(err)
}

func (r screensRouter) Interrupt(ctx context.Context, id uuid.UUID) (r0 bool, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Interrupt(ctx, id)
	return r0, h.upError(err)
}

type writerFinderRouter struct{ *Router }

func (r writerFinderRouter) Writers(ctx context.Context, id uuid.UUID) (r0 []port.Writer, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Writers(ctx, id)
	return up(h, r0), h.upError(err)
}

type windowsRouter struct{ *Router }

func (r windowsRouter) Ignore(ctx context.Context, w port.Window) (err error) {
	h, err := r.at(w)
	if err != nil {
		return err
	}
	err = h.Sessions.Ignore(ctx, down(h, w))
	return h.upError(err)
}

type noticesRouter struct{ *Router }

type modeSwitcherRouter struct{ *Router }

func (r modeSwitcherRouter) Switch(ctx context.Context, id uuid.UUID, want port.ModeChange) (r0 port.ModeState, err error) {
	h, err := r.about(id, want)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Switch(ctx, id, down(h, want))
	return up(h, r0), h.upError(err)
}

type cursorStoreRouter struct{ *Router }

func (r cursorStoreRouter) Advance(ctx context.Context, id uuid.UUID, c talk.Cursor) (err error) {
	h, err := r.about(id, c)
	if err != nil {
		return err
	}
	err = h.Sessions.Advance(ctx, id, down(h, c))
	return h.upError(err)
}

type diffsRouter struct{ *Router }

func (r diffsRouter) Snapshot(ctx context.Context, session uuid.UUID) (r0 folders.Since, err error) {
	h, err := r.about(session)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Snapshot(ctx, session)
	return up(h, r0), h.upError(err)
}

func (r diffsRouter) Changes(ctx context.Context, session uuid.UUID, since folders.Since) (r0 folders.Changes, err error) {
	h, err := r.about(session, since)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Changes(ctx, session, down(h, since))
	return up(h, r0), h.upError(err)
}

func (r diffsRouter) Patch(ctx context.Context, session uuid.UUID, since folders.Since, path string) (r0 folders.Patch, err error) {
	h, err := r.about(session, since)
	if err != nil {
		return r0, err
	}
	r0, err = h.Sessions.Patch(ctx, session, down(h, since), path)
	return up(h, r0), h.upError(err)
}

type spendingRouter struct{ *Router }

type viewsRouter struct{ *Router }

func (r viewsRouter) History(ctx context.Context, id uuid.UUID) (r0 []port.Change, err error) {
	h, err := r.about(id)
	if err != nil {
		return r0, err
	}
	r0, err = h.Records.History(ctx, id)
	return up(h, r0), h.upError(err)
}

type allDecisions struct {
	requestWaitersRouter
	decisionRecordsRouter
}

type requestWaitersRouter struct{ *Router }

func (r requestWaitersRouter) Decide(ctx context.Context, session uuid.UUID, request string, a talk.Answer) (err error) {
	h, err := r.about(session, a)
	if err != nil {
		return err
	}
	err = h.Decisions.Decide(ctx, session, request, down(h, a))
	return h.upError(err)
}

func (r requestWaitersRouter) Leave(ctx context.Context, session uuid.UUID, request string) (err error) {
	h, err := r.about(session)
	if err != nil {
		return err
	}
	err = h.Decisions.Leave(ctx, session, request)
	return h.upError(err)
}

func (r requestWaitersRouter) Waiting(ctx context.Context, session uuid.UUID) (r0 []talk.Request, err error) {
	h, err := r.about(session)
	if err != nil {
		return r0, err
	}
	r0, err = h.Decisions.Waiting(ctx, session)
	return up(h, r0), h.upError(err)
}

type decisionRecordsRouter struct{ *Router }

func (r decisionRecordsRouter) Outcome(ctx context.Context, q talk.Request, a *talk.Answer) (r0 talk.RequestOutcome, r1 bool, err error) {
	h, err := r.about(q.Session, q, a)
	if err != nil {
		return r0, r1, err
	}
	r0, r1, err = h.Decisions.Outcome(ctx, down(h, q), down(h, a))
	return up(h, r0), r1, h.upError(err)
}

func (r decisionRecordsRouter) Answerers(ctx context.Context, session uuid.UUID) (r0 []talk.Answerer, err error) {
	h, err := r.about(session)
	if err != nil {
		return r0, err
	}
	r0, err = h.Decisions.Answerers(ctx, session)
	return up(h, r0), h.upError(err)
}

type loopsRouter struct{ *Router }

func (r loopsRouter) Start(ctx context.Context, q port.LoopRequest) (r0 port.Loop, err error) {
	h, err := r.about(q.Session, q)
	if err != nil {
		return r0, err
	}
	r0, err = h.Loops.Start(ctx, down(h, q))
	return up(h, r0), h.upError(err)
}

func (r loopsRouter) Change(ctx context.Context, c port.LoopChange) (r0 port.Loop, err error) {
	h, err := r.about(c.Session, c)
	if err != nil {
		return r0, err
	}
	r0, err = h.Loops.Change(ctx, down(h, c))
	return up(h, r0), h.upError(err)
}

type loopTemplatesRouter struct{ *Router }

func (r loopTemplatesRouter) Templates(ctx context.Context, session uuid.UUID, now time.Time) (r0 []port.LoopTemplate, err error) {
	h, err := r.about(session, now)
	if err != nil {
		return r0, err
	}
	r0, err = h.Templates.Templates(ctx, session, down(h, now))
	return up(h, r0), h.upError(err)
}

type schedulesRouter struct{ *Router }

func (r schedulesRouter) Add(ctx context.Context, q port.ScheduleRequest) (r0 port.Schedule, err error) {
	h, err := r.about(q.Session, q)
	if err != nil {
		return r0, err
	}
	r0, err = h.Schedules.Add(ctx, down(h, q))
	return up(h, r0), h.upError(err)
}

func (r schedulesRouter) SetZone(ctx context.Context, session uuid.UUID, schedule uuid.UUID, zone string) (err error) {
	h, err := r.about(session)
	if err != nil {
		return err
	}
	err = h.Schedules.SetZone(ctx, session, schedule, zone)
	return h.upError(err)
}

func (r schedulesRouter) SetPlanner(ctx context.Context, session uuid.UUID, schedule uuid.UUID, by port.Planner) (err error) {
	h, err := r.about(session, by)
	if err != nil {
		return err
	}
	err = h.Schedules.SetPlanner(ctx, session, schedule, down(h, by))
	return h.upError(err)
}

func (r schedulesRouter) Remove(ctx context.Context, session uuid.UUID, schedule uuid.UUID) (r0 port.Schedule, err error) {
	h, err := r.about(session)
	if err != nil {
		return r0, err
	}
	r0, err = h.Schedules.Remove(ctx, session, schedule)
	return up(h, r0), h.upError(err)
}

type allPlaces struct {
	placesRouter
	foldersRouter
	searchesRouter
	worktreesRouter
	checkoutsRouter
	worktreeMakerRouter
	lookupsRouter
}

type placesRouter struct{ *Router }

func (r placesRouter) Make(ctx context.Context, dir string) (err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return err
	}
	err = h.Places.Make(ctx, h.local(dir))
	return h.upError(err)
}

type foldersRouter struct{ *Router }

func (r foldersRouter) Children(ctx context.Context, dir string, hidden bool) (r0 []string, r1 bool, err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return r0, r1, err
	}
	r0, r1, err = h.Places.Children(ctx, h.local(dir), hidden)
	return r0, r1, h.upError(err)
}

func (r foldersRouter) Conversations(ctx context.Context, dir string, from int, most int) (r0 []folders.Conversation, r1 bool, err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return r0, r1, err
	}
	r0, r1, err = h.Places.Conversations(ctx, h.local(dir), from, most)
	return up(h, r0), r1, h.upError(err)
}

type searchesRouter struct{ *Router }

func (r searchesRouter) Search(ctx context.Context, dir string, part string, most folders.Extent) (r0 folders.Found, err error) {
	h, err := r.at(place(dir), most)
	if err != nil {
		return r0, err
	}
	r0, err = h.Places.Search(ctx, h.local(dir), part, down(h, most))
	return up(h, r0), h.upError(err)
}

type worktreesRouter struct{ *Router }

func (r worktreesRouter) Find(ctx context.Context, dir string) (r0 folders.Worktree, r1 bool, err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return r0, r1, err
	}
	r0, r1, err = h.Places.Find(ctx, h.local(dir))
	return up(h, r0), r1, h.upError(err)
}

func (r worktreesRouter) Remove(ctx context.Context, dir string) (err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return err
	}
	err = h.Places.Remove(ctx, h.local(dir))
	return h.upError(err)
}

type checkoutsRouter struct{ *Router }

func (r checkoutsRouter) Checkouts(ctx context.Context, dir string) (r0 []folders.Checkout, err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return r0, err
	}
	r0, err = h.Places.Checkouts(ctx, h.local(dir))
	return up(h, r0), h.upError(err)
}

type worktreeMakerRouter struct{ *Router }

func (r worktreeMakerRouter) Add(ctx context.Context, dir string, key string) (r0 string, err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return r0, err
	}
	r0, err = h.Places.Add(ctx, h.local(dir), key)
	return h.address(r0), h.upError(err)
}

func (r worktreeMakerRouter) Done(ctx context.Context, dir string, key string) (err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return err
	}
	err = h.Places.Done(ctx, h.local(dir), key)
	return h.upError(err)
}

type lookupsRouter struct{ *Router }

func (r lookupsRouter) IsMissing(ctx context.Context, dir string) (r0 bool, err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return r0, err
	}
	r0, err = h.Places.IsMissing(ctx, h.local(dir))
	return r0, h.upError(err)
}

func (r lookupsRouter) Branch(ctx context.Context, dir string) (r0 string, err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return r0, err
	}
	r0, err = h.Places.Branch(ctx, h.local(dir))
	return r0, h.upError(err)
}

func (r lookupsRouter) HasCommand(ctx context.Context, session uuid.UUID, name string) (r0 bool, err error) {
	h, err := r.about(session)
	if err != nil {
		return r0, err
	}
	r0, err = h.Places.HasCommand(ctx, session, name)
	return r0, h.upError(err)
}

type filesRouter struct{ *Router }

func (r filesRouter) Open(ctx context.Context, session uuid.UUID, path string) (r0 folders.File, err error) {
	h, err := r.about(session, place(path))
	if err != nil {
		return r0, err
	}
	r0, err = h.Files.Open(ctx, session, h.local(path))
	return up(h, r0), h.upError(err)
}

func (r filesRouter) List(ctx context.Context, session uuid.UUID, path string) (r0 folders.Listing, err error) {
	h, err := r.about(session, place(path))
	if err != nil {
		return r0, err
	}
	r0, err = h.Files.List(ctx, session, h.local(path))
	return up(h, r0), h.upError(err)
}

func (r filesRouter) Read(ctx context.Context, transcript string, path string, most int64) (r0 string, err error) {
	h, err := r.at(place(transcript), place(path))
	if err != nil {
		return r0, err
	}
	r0, err = h.Files.Read(ctx, h.local(transcript), h.local(path), most)
	return r0, h.upError(err)
}

func (r filesRouter) Offered(ctx context.Context, session uuid.UUID, id uuid.UUID, outcome folders.Outcome) (err error) {
	h, err := r.about(session, outcome)
	if err != nil {
		return err
	}
	err = h.Files.Offered(ctx, session, id, down(h, outcome))
	return h.upError(err)
}

type bodiesRouter struct{ *Router }

func (r bodiesRouter) ReadPart(ctx context.Context, t folders.Ticket, offset int64) (r0 []byte, err error) {
	h, err := r.at(t)
	if err != nil {
		return r0, err
	}
	r0, err = h.Bodies.ReadPart(ctx, down(h, t), offset)
	return r0, h.upError(err)
}

func (r bodiesRouter) WritePart(ctx context.Context, t folders.Ticket, offset int64, data []byte) (err error) {
	h, err := r.at(t)
	if err != nil {
		return err
	}
	err = h.Bodies.WritePart(ctx, down(h, t), offset, data)
	return h.upError(err)
}

func (r bodiesRouter) Close(ctx context.Context, t folders.Ticket) (err error) {
	h, err := r.at(t)
	if err != nil {
		return err
	}
	err = h.Bodies.Close(ctx, down(h, t))
	return h.upError(err)
}

type receivedRouter struct{ *Router }

func (r receivedRouter) Has(ctx context.Context, session uuid.UUID, id string) (r0 string, r1 string, err error) {
	h, err := r.about(session)
	if err != nil {
		return r0, r1, err
	}
	r0, r1, err = h.Received.Has(ctx, session, id)
	return r0, r1, h.upError(err)
}

func (r receivedRouter) Begin(ctx context.Context, session uuid.UUID, id string, wished string) (r0 folders.Ticket, err error) {
	h, err := r.about(session)
	if err != nil {
		return r0, err
	}
	r0, err = h.Received.Begin(ctx, session, id, wished)
	return up(h, r0), h.upError(err)
}

func (r receivedRouter) Finish(ctx context.Context, t folders.Ticket) (r0 string, r1 string, err error) {
	h, err := r.at(t)
	if err != nil {
		return r0, r1, err
	}
	r0, r1, err = h.Received.Finish(ctx, down(h, t))
	return r0, r1, h.upError(err)
}

func (r receivedRouter) Discard(ctx context.Context, dir string, names []string) (err error) {
	h, err := r.at(place(dir))
	if err != nil {
		return err
	}
	err = h.Received.Discard(ctx, h.local(dir), names)
	return h.upError(err)
}

type allTranscripts struct {
	transcriptsRouter
	picturesRouter
	conversationsRouter
	exportsRouter
	lastQuestionsRouter
}

type transcriptsRouter struct{ *Router }

func (r transcriptsRouter) Next(ctx context.Context, session uuid.UUID, from talk.Cursor, most int, wait bool) (r0 []talk.Item, err error) {
	h, err := r.about(session, from)
	if err != nil {
		return r0, err
	}
	r0, err = h.Transcripts.Next(ctx, session, down(h, from), most, wait)
	return up(h, r0), h.upError(err)
}

func (r transcriptsRouter) Between(ctx context.Context, from *talk.Cursor, before talk.Cursor) (r0 []talk.Item, r1 bool, err error) {
	h, err := r.at(from, before)
	if err != nil {
		return r0, r1, err
	}
	r0, r1, err = h.Transcripts.Between(ctx, down(h, from), down(h, before))
	return up(h, r0), r1, h.upError(err)
}

func (r transcriptsRouter) End(ctx context.Context, of talk.Cursor) (r0 talk.Cursor, err error) {
	h, err := r.at(of)
	if err != nil {
		return r0, err
	}
	r0, err = h.Transcripts.End(ctx, down(h, of))
	return up(h, r0), h.upError(err)
}

type picturesRouter struct{ *Router }

func (r picturesRouter) Image(ctx context.Context, at talk.Cursor, image talk.Image) (r0 folders.File, err error) {
	h, err := r.at(at, image)
	if err != nil {
		return r0, err
	}
	r0, err = h.Transcripts.Image(ctx, down(h, at), down(h, image))
	return up(h, r0), h.upError(err)
}

func (r picturesRouter) Words(ctx context.Context, at talk.Cursor, rest talk.Rest, beyond bool) (r0 folders.File, err error) {
	h, err := r.at(at, rest)
	if err != nil {
		return r0, err
	}
	r0, err = h.Transcripts.Words(ctx, down(h, at), down(h, rest), beyond)
	return up(h, r0), h.upError(err)
}

type conversationsRouter struct{ *Router }

func (r conversationsRouter) Read(ctx context.Context, session uuid.UUID, at talk.Place, way talk.Direction, most int) (r0 []talk.Entry, err error) {
	h, err := r.about(session, at, way)
	if err != nil {
		return r0, err
	}
	r0, err = h.Transcripts.Read(ctx, session, down(h, at), down(h, way), most)
	return up(h, r0), h.upError(err)
}

func (r conversationsRouter) Find(ctx context.Context, session uuid.UUID, at talk.Place, word string, most int, budget time.Duration) (r0 talk.Found, err error) {
	h, err := r.about(session, at, budget)
	if err != nil {
		return r0, err
	}
	r0, err = h.Transcripts.Find(ctx, session, down(h, at), word, most, down(h, budget))
	return up(h, r0), h.upError(err)
}

func (r conversationsRouter) Days(ctx context.Context, session uuid.UUID, at talk.Place, most int, budget time.Duration) (r0 talk.Days, err error) {
	h, err := r.about(session, at, budget)
	if err != nil {
		return r0, err
	}
	r0, err = h.Transcripts.Days(ctx, session, down(h, at), most, down(h, budget))
	return up(h, r0), h.upError(err)
}

type exportsRouter struct{ *Router }

func (r exportsRouter) Export(ctx context.Context, session uuid.UUID, most int64, words talk.Words) (r0 folders.File, err error) {
	h, err := r.about(session, words)
	if err != nil {
		return r0, err
	}
	r0, err = h.Transcripts.Export(ctx, session, most, down(h, words))
	return up(h, r0), h.upError(err)
}

type lastQuestionsRouter struct{ *Router }
