package process

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// made is a table whose truth is known because it was made so: which sessions each process has
// evidence for. It does not ask the code under test what a command line or a claim means.
type made struct {
	snapshot Snapshot
	claims   []Claim
	ids      []uuid.UUID
	argv     map[int][]uuid.UUID // by pid: named on the line of an agent
	claimed  map[int][]uuid.UUID // by pid: named by a claim that holds
	flawed   map[int]bool        // by pid: a claim that cannot be checked
}

// agentLine writes the session; decoyLine names it in a way that does not count.
var (
	agentLine = []func(id string) []string{
		func(id string) []string { return []string{"claude", "--resume", id} },
		func(id string) []string { return []string{"/x/claude", "--settings", "/s", "--session-id=" + id} },
		func(id string) []string { return []string{"claude", "-p", "-r" + id, "about " + textY} },
		func(id string) []string { return []string{"node", "--no-warnings", "/x/claude", "-r", id} },
		func(id string) []string { return []string{"claude", "-r", textY, "--fork-session", "--session-id", id} },
	}
	decoyLine = []func(id string) []string{
		func(id string) []string { return []string{"bash", "-c", "claude --resume " + id} },
		func(id string) []string { return []string{"bash", "-c", "claude", "--resume", id} },
		func(id string) []string { return []string{"vim", "--resume", id} },
		func(id string) []string { return []string{"tail", "-f", id + ".jsonl"} },
		func(id string) []string { return []string{"tmux", "new-window", "claude", "--session-id", id} },
		func(id string) []string { return []string{"ssh", "host", "claude", "-r", id} },
		func(id string) []string { return []string{"env", "A=b", "claude", "-r", id} },
		func(id string) []string { return []string{"claude", "--resume", id, "--fork-session"} },
		func(id string) []string { return []string{"claude", "--", "--resume", id} },
		func(id string) []string { return []string{"claude", "--append-system-prompt", "--resume", id} },
		func(id string) []string { return []string{"claude", "-p", "claude --resume " + id} },
		func(id string) []string { return []string{"claude", id} },
		func(id string) []string { return []string{"claude", "--resume", "{" + id + "}"} },
		func(string) []string { return []string{"claude"} },
		func(string) []string { return nil },
	}
)

func drawMade(t *rapid.T) made {
	m := made{argv: map[int][]uuid.UUID{}, claimed: map[int][]uuid.UUID{}, flawed: map[int]bool{}}
	for i := range rapid.IntRange(1, 5).Draw(t, "sessions") {
		m.ids = append(m.ids, uuid.NewSHA1(uuid.NameSpaceDNS, fmt.Append(nil, i)))
	}
	id := rapid.SampledFrom(m.ids)
	for pid := 2; pid < 2+rapid.IntRange(1, 10).Draw(t, "processes"); pid++ {
		p := Process{Identity: identity(pid), PPID: rapid.IntRange(0, 11).Draw(t, "ppid"), State: rapid.SampledFrom([]byte("SSSRDZ")).Draw(t, "state")}
		named := id.Draw(t, "named")
		if rapid.Bool().Draw(t, "writes") {
			p.Args = rapid.SampledFrom(agentLine).Draw(t, "agent")(named.String())
			m.argv[pid] = []uuid.UUID{named}
		} else {
			p.Args = rapid.SampledFrom(decoyLine).Draw(t, "decoy")(named.String())
		}
		m.snapshot.Processes = append(m.snapshot.Processes, p)
	}
	for range rapid.IntRange(0, 10).Draw(t, "claims") {
		m.claim(rapid.IntRange(2, 13).Draw(t, "pid"), id.Draw(t, "claimed"), rapid.SampledFrom([]Source{SourcePresence, SourceHook}).Draw(t, "source"),
			rapid.IntRange(0, 9).Draw(t, "flaw"))
	}
	return m
}

func (m *made) claim(pid int, id uuid.UUID, source Source, flaw int) {
	c := claim(source, pid, id)
	switch flaw {
	case 0:
		c.Process.Start += 3 // the one that had the pid before, or comes after
	case 1:
		c.Process.Boot = "earlier"
	case 2:
		c.Source = SourceArgv // counts for nothing
	case 3:
		c.Process.Start, m.flawed[pid] = 0, true
	case 4:
		c.Source, m.flawed[pid] = "rumour", true
	default:
		m.claimed[pid] = append(m.claimed[pid], id)
	}
	m.claims = append(m.claims, c)
}

// may reports whether a yes for p and id could be right.
func (m *made) may(p Process, id uuid.UUID) bool {
	switch {
	case p.Gone():
		return false
	case len(m.claimed[p.PID]) > 0: // argv is stale if there is any claim
		return slices.Contains(m.claimed[p.PID], id)
	case m.flawed[p.PID]:
		return false
	default:
		return slices.Contains(m.argv[p.PID], id)
	}
}

func TestP2_Judge_neverYesWithoutEvidence(t *testing.T) {
	for range 10 {
		rapid.Check(t, func(t *rapid.T) {
			m := drawMade(t)
			yes := map[int]int{}
			for _, v := range Judge(m.snapshot, m.claims, claudeNames, m.ids...) {
				if v.Writer != Yes {
					continue
				}
				if !m.may(v.Process, v.SessionID) {
					t.Fatalf("yes without evidence: %+v", v)
				}
				if yes[v.Process.PID]++; yes[v.Process.PID] > 1 {
					t.Fatalf("one process writes two sessions: %+v", v)
				}
			}
		})
	}
}

// One snapshot serves any number of ids: each gets the same answer as alone, for any order of the
// claims.
func TestP1_Judge_manyIdsAreManyQuestions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMade(t)
		type key struct {
			pid int
			id  uuid.UUID
		}
		together := map[key]Answer{}
		for _, v := range Judge(m.snapshot, m.claims, claudeNames, m.ids...) {
			together[key{v.Process.PID, v.SessionID}] = v.Writer
		}
		slices.Reverse(m.claims)
		for _, id := range m.ids {
			for _, v := range Judge(m.snapshot, m.claims, claudeNames, id) {
				at := key{v.Process.PID, id}
				if together[at] != v.Writer {
					t.Fatalf("alone %s is %v for %d, among others %v", id, v.Writer, v.Process.PID, together[at])
				}
				delete(together, at)
			}
		}
		if len(together) > 0 {
			t.Fatalf("only among others: %v", together)
		}
	})
}
