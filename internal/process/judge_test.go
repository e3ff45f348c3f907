package process

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func identity(pid int) Identity { return Identity{PID: pid, Start: uint64(1000 + pid), Boot: "boot"} }

func agent(pid, ppid int, args ...string) Process {
	return Process{Identity: identity(pid), PPID: ppid, State: 'S', Args: append([]string{"claude"}, args...)}
}

func claim(s Source, pid int, id uuid.UUID) Claim { return Claim{identity(pid), id, s} }

func TestP1_Judge_orderOfEvidence(t *testing.T) {
	other := claim(SourcePresence, 10, idY)
	other.Process.Start++
	otherBoot := claim(SourcePresence, 10, idY)
	otherBoot.Process.Boot = "earlier"
	incomplete := claim(SourcePresence, 10, idY)
	incomplete.Process.Start = 0
	incompleteX := claim(SourceHook, 10, idX)
	incompleteX.Process.Boot = ""

	tests := []struct {
		name   string
		p      Process
		claims []Claim
		want   map[uuid.UUID]Answer // asked for X and Y; absent: no verdict
		source Source
	}{
		{"presence alone", agent(10, 1), []Claim{claim(SourcePresence, 10, idX)}, map[uuid.UUID]Answer{idX: Yes}, SourcePresence},
		{"hook alone", agent(10, 1), []Claim{claim(SourceHook, 10, idX)}, map[uuid.UUID]Answer{idX: Yes}, SourceHook},
		{"presence and hook agree", agent(10, 1), []Claim{claim(SourceHook, 10, idX), claim(SourcePresence, 10, idX)}, map[uuid.UUID]Answer{idX: Yes}, SourcePresence},
		{"stale argv after /clear", agent(10, 1, "--resume", textX), []Claim{claim(SourcePresence, 10, idY)}, map[uuid.UUID]Answer{idX: No, idY: Yes}, SourcePresence},
		{"stale argv, hook knows", agent(10, 1, "--resume", textX), []Claim{claim(SourceHook, 10, idY)}, map[uuid.UUID]Answer{idX: No, idY: Yes}, SourceHook},
		{"forked, presence knows the new id", agent(10, 1, "-r", textX, "--fork-session"), []Claim{claim(SourcePresence, 10, idY)}, map[uuid.UUID]Answer{idY: Yes}, SourcePresence},
		{"presence against hook", agent(10, 1), []Claim{claim(SourcePresence, 10, idX), claim(SourceHook, 10, idY)}, map[uuid.UUID]Answer{idX: Maybe, idY: Maybe}, SourcePresence},
		{"two presences", agent(10, 1), []Claim{claim(SourcePresence, 10, idX), claim(SourcePresence, 10, idY)}, map[uuid.UUID]Answer{idX: Maybe, idY: Maybe}, SourcePresence},
		{"presence beside two hooks", agent(10, 1), []Claim{claim(SourcePresence, 10, idX), claim(SourceHook, 10, idX), claim(SourceHook, 10, idY)}, map[uuid.UUID]Answer{idX: Maybe, idY: Maybe}, ""},
		{"two hooks", agent(10, 1), []Claim{claim(SourceHook, 10, idX), claim(SourceHook, 10, idY)}, map[uuid.UUID]Answer{idX: Maybe, idY: Maybe}, SourceHook},
		{"two locks", agent(10, 1), []Claim{claim(SourceLock, 10, idX), claim(SourceLock, 10, idY)}, map[uuid.UUID]Answer{idX: Yes, idY: Yes}, SourceLock},
		{"lock against presence and hook", agent(10, 1, "-r", textY), []Claim{claim(SourceLock, 10, idX), claim(SourcePresence, 10, idY), claim(SourceHook, 10, idY)},
			map[uuid.UUID]Answer{idX: Yes, idY: No}, SourceLock},
		{"the same presence twice", agent(10, 1), []Claim{claim(SourcePresence, 10, idX), claim(SourcePresence, 10, idX)}, map[uuid.UUID]Answer{idX: Yes}, SourcePresence},
		{"claim of another start", agent(10, 1, "-r", textX), []Claim{other}, map[uuid.UUID]Answer{idX: Yes}, SourceArgv},
		{"claim of another boot", agent(10, 1, "-r", textX), []Claim{otherBoot}, map[uuid.UUID]Answer{idX: Yes}, SourceArgv},
		{"claim without a start", agent(10, 1, "-r", textX), []Claim{incomplete}, map[uuid.UUID]Answer{idX: Maybe, idY: Maybe}, ""},
		{"claim without a boot beside a full one", agent(10, 1), []Claim{incompleteX, claim(SourcePresence, 10, idY)}, map[uuid.UUID]Answer{idX: No, idY: Yes}, SourcePresence},
		{"claimed argv counts for nothing", agent(10, 1), []Claim{claim(SourceArgv, 10, idX)}, map[uuid.UUID]Answer{}, ""},
		{"unknown source", agent(10, 1), []Claim{claim("rumour", 10, idX)}, map[uuid.UUID]Answer{idX: Maybe}, ""},
		{"no agent but presence", Process{Identity: identity(10), State: 'S', Args: []string{"node", "cli.js"}}, []Claim{claim(SourcePresence, 10, idX)}, map[uuid.UUID]Answer{idX: Yes}, SourcePresence},
		{"zombie", Process{Identity: identity(10), State: 'Z', Args: []string{"claude", "-r", textX}}, []Claim{claim(SourcePresence, 10, idX)}, map[uuid.UUID]Answer{}, ""},
		{"claim about another pid", agent(10, 1), []Claim{claim(SourcePresence, 11, idX)}, map[uuid.UUID]Answer{}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := map[uuid.UUID]Answer{}
			for _, v := range Judge(Snapshot{Processes: []Process{test.p}}, test.claims, testAgents, idX, idY, idX) {
				got[v.SessionID] = v.Writer
				if v.Writer == Yes {
					assert.Equal(t, test.source, v.Source)
				}
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestP1_Judge_echoes(t *testing.T) {
	script := func(pid, ppid int, args ...string) Process {
		return Process{Identity: identity(pid), PPID: ppid, State: 'S', Args: append([]string{"node", "/x/claude"}, args...)}
	}
	tests := []struct {
		name   string
		table  []Process
		claims []Claim
		want   map[int]Answer
	}{
		{"two real writers", []Process{agent(10, 1, "-r", textX), agent(11, 1, "-r", textX)}, nil, map[int]Answer{10: Yes, 11: Yes}},
		{"forked, not exec'd", []Process{agent(10, 1, "-r", textX), agent(11, 10, "-r", textX)}, nil, map[int]Answer{10: Yes, 11: No}},
		{"forked by an agent that went on to Y", []Process{agent(10, 1, "-r", textX), agent(11, 10, "-r", textX)},
			[]Claim{claim(SourcePresence, 10, idY)}, map[int]Answer{10: No, 11: No}},
		{"child with a presence of its own", []Process{agent(10, 1, "-r", textX), agent(11, 10, "-r", textX)},
			[]Claim{claim(SourcePresence, 11, idX)}, map[int]Answer{10: Yes, 11: Yes}},
		{"nested resume with other arguments", []Process{agent(10, 1, "-r", textX), agent(11, 10, "-p", "-r", textX)}, nil, map[int]Answer{10: Yes, 11: Yes}},
		{"launcher and its agent", []Process{script(10, 1, "-r", textX), agent(11, 10, "-r", textX)}, nil, map[int]Answer{10: No, 11: Yes}},
		{"script alone", []Process{script(10, 1, "-r", textX), agent(11, 10)}, nil, map[int]Answer{10: Yes}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := map[int]Answer{}
			for _, v := range Judge(Snapshot{Processes: test.table}, test.claims, claudeNames, idX) {
				got[v.Process.PID] = v.Writer
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// world is a random process table with random evidence, right and wrong, about a handful of
// sessions.
type world struct {
	snapshot Snapshot
	claims   []Claim
	ids      []uuid.UUID
}

func drawWorld(t *rapid.T) world {
	var w world
	for i := range 4 {
		w.ids = append(w.ids, uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, i)))
	}
	id := rapid.SampledFrom(w.ids)
	word := rapid.OneOf(
		rapid.SampledFrom([]string{"--resume", "-r", "--session-id", "--fork-session", "--", "-p", "-c", "claude", ""}),
		rapid.Map(id, uuid.UUID.String),
		rapid.Map(id, func(u uuid.UUID) string { return "--resume=" + u.String() }),
		rapid.Map(id, func(u uuid.UUID) string { return "claude --resume " + u.String() }),
	)
	for pid := 2; pid < 2+rapid.IntRange(1, 12).Draw(t, "processes"); pid++ {
		program := rapid.SampledFrom([]string{"claude", "/x/claude", "bash", "vim", "tmux", "env", "node"}).Draw(t, "program")
		w.snapshot.Processes = append(w.snapshot.Processes, Process{
			Identity: identity(pid), PPID: rapid.IntRange(0, 13).Draw(t, "ppid"),
			State: rapid.SampledFrom([]byte("SSSRDZ")).Draw(t, "state"),
			Args:  append([]string{program}, rapid.SliceOfN(word, 0, 5).Draw(t, "args")...),
		})
	}
	for range rapid.IntRange(0, 12).Draw(t, "claims") {
		c := claim(rapid.SampledFrom([]Source{SourcePresence, SourceHook, SourceArgv, "rumour"}).Draw(t, "source"),
			rapid.IntRange(2, 14).Draw(t, "pid"), id.Draw(t, "id"))
		switch rapid.IntRange(0, 5).Draw(t, "flaw") {
		case 0:
			c.Process.Start++
		case 1:
			c.Process.Boot = "earlier"
		case 2:
			c.Process.Start = 0
		}
		w.claims = append(w.claims, c)
	}
	return w
}

// matching are the sessions that full claims of one source name for exactly this process.
func (w world) matching(p Process, source Source) []uuid.UUID {
	var ids []uuid.UUID
	for _, c := range w.claims {
		if c.Process == p.Identity && c.Source == source && !slices.Contains(ids, c.SessionID) {
			ids = append(ids, c.SessionID)
		}
	}
	return ids
}

// proven is the whole set that may get a yes, said again in the plainest way.
func (w world) proven(p Process, id uuid.UUID) bool {
	presence, hook := w.matching(p, SourcePresence), w.matching(p, SourceHook)
	only := func(ids []uuid.UUID) bool { return len(ids) == 1 && ids[0] == id }
	switch {
	case p.Gone():
		return false
	case len(presence) > 0 && len(hook) > 0:
		return only(presence) && only(hook)
	case len(presence) > 0:
		return only(presence)
	case len(hook) > 0:
		return only(hook)
	default:
		named, ok := sessionOf(p.Args)
		return ok && named == id && IsAgent(p, claudeNames)
	}
}

func TestP2_Judge_nothingOutsideTheProvenSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		type key struct {
			pid int
			id  uuid.UUID
		}
		seen := map[key]bool{}
		for _, v := range Judge(w.snapshot, w.claims, claudeNames, w.ids...) {
			at := key{v.Process.PID, v.SessionID}
			if seen[at] {
				t.Fatalf("two verdicts about %v", at)
			}
			seen[at] = true
			if v.Writer == Yes && !w.proven(v.Process, v.SessionID) {
				t.Fatalf("yes without proof: %+v", v)
			}
		}
	})
}

func TestP6_Judge_contradictionIsUnknown(t *testing.T) {
	contradictions := 0
	check := func(t *rapid.T) {
		w := drawWorld(t)
		for _, v := range Judge(w.snapshot, w.claims, claudeNames, w.ids...) {
			presence, hook := w.matching(v.Process, SourcePresence), w.matching(v.Process, SourceHook)
			contradicts := len(presence) > 1 || len(presence) == 1 && len(hook) > 0 && !slices.Equal(presence, hook)
			if !contradicts {
				continue
			}
			contradictions++
			if v.Writer != Maybe {
				t.Fatalf("a contradiction is not unknown: %+v", v)
			}
		}
	}
	for tries := 0; contradictions < 20 && tries < 50; tries++ { // they are rare
		rapid.Check(t, check)
	}
	assert.GreaterOrEqual(t, contradictions, 20)
}

// A writer that is missed is a second writer that gets started.
func TestP1_Judge_noProvenWriterIsMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		verdicts := Judge(w.snapshot, w.claims, claudeNames, w.ids...)
		for _, p := range w.snapshot.Processes {
			presence, hook := w.matching(p, SourcePresence), w.matching(p, SourceHook)
			if p.Gone() || len(presence) != 1 || len(hook) != 0 {
				continue
			}
			found := slices.ContainsFunc(verdicts, func(v Verdict) bool {
				return v.Process.PID == p.PID && v.SessionID == presence[0] && v.Writer == Yes
			})
			if !found {
				t.Fatalf("presence of %v for %v was missed", p.Identity, presence[0])
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	ids := make([]uuid.UUID, 500)
	for i := range ids {
		ids[i] = uuid.New()
	}
	var s Snapshot
	var claims []Claim
	for pid := 2; pid < 2002; pid++ {
		p := Process{Identity: identity(pid), PPID: 1, State: 'S', Args: []string{"/usr/lib/program", "--flag", "value", "file"}}
		if pid%4 == 0 {
			id := ids[random.IntN(len(ids))]
			p.Args = []string{"claude", "--settings", "/s.json", "--resume", id.String()}
			if pid%8 == 0 {
				claims = append(claims, claim(SourcePresence, pid, id))
			}
		}
		s.Processes = append(s.Processes, p)
	}
	for b.Loop() {
		Judge(s, claims, claudeNames, ids...)
	}
}
