package ask

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/bot/card"
	"ccbot/bot/render"
	"ccbot/internal/glyph"
	"ccbot/port/talk"
)

// faults checks for text that Telegram would refuse or unformat.
func faults(t testing.TB, text render.Text) {
	t.Helper()
	require.LessOrEqual(t, text.Length(), render.Limit)
	require.False(t, text.Blank())
	require.LessOrEqual(t, len(text.Entities), 100)
	units := utf16.Encode([]rune(text.Text))
	for _, e := range text.Entities {
		require.GreaterOrEqual(t, e.Offset, 0)
		require.Positive(t, e.Length)
		require.LessOrEqual(t, e.Offset+e.Length, len(units))
	}
}

// checkView checks the rules for every view.
func checkView(t testing.TB, v Viewer, s State) {
	t.Helper()
	seen := v.View(s, "work")
	checkText(t, seen)
	for _, row := range seen.Options {
		for _, b := range row {
			verb, _, _ := strings.Cut(b.Value, ":")
			_, err := Tap(s, person, b.Value, noon)
			require.NoError(t, err, "no dead button: %s", b.Value)
			require.False(t, allows[verb] && !whole(s) && !s.AllShown, "allowed without having been shown")
		}
	}
	require.Equal(t, s.Stage == StageOpen, len(seen.Options) > 0)
}

func checkText(t testing.TB, seen View) {
	t.Helper()
	faults(t, seen.Text)
	for _, r := range seen.Text.Text {
		require.False(t, r != '\n' && (glyph.Unseen(r) || unicode.Is(unicode.Co, r)), "%U is invisible", r)
	}
	for _, row := range seen.Options {
		require.NotEmpty(t, row)
		for _, b := range row {
			require.False(t, render.Plain(b.Text).Blank())
		}
	}
}

var allows = map[string]bool{"ok": true, "ses": true, "plan": true, "edit": true, "o": true, "d": true, "x": true}

func FuzzView(f *testing.F) {
	for _, tool := range []string{"Bash", "Edit", "MultiEdit", "NotebookEdit", "Write", "Read", "Grep", "WebFetch", "mcp__a__b", "AskUserQuestion", "ExitPlanMode", "X\u202e"} {
		f.Add(tool, `{"command":"ls","description":"x","file_path":"/a","old_string":"a","new_string":"b","edits":[{"old_string":"","new_string":""}],"content":"x"}`, npmRule, false)
	}
	f.Add("AskUserQuestion", twoQuestions, "", true)
	f.Add("ExitPlanMode", object("plan", somePlan), `null`, false)
	f.Add("Bash", `{"command":"a","command":"b\u202e","":null,"\u0000":[[[[]]]],"x":1e999}`, `{"type":"addDirectories","directories":["/\n"]}`, true)
	f.Add("Bash", object("command", strings.Repeat("x\n", 3000)), npmRule, true)
	f.Add("AskUserQuestion", `{"questions":[{"question":"\u200b","options":[{"label":"\u200b"}]}]}`, "", true)
	v := viewer(f, "ru")
	f.Fuzz(func(t *testing.T, tool, input, suggestion string, shown bool) {
		s := stateOf(tool, input)
		if json.Valid([]byte(suggestion)) {
			s = stateOf(tool, input, suggestion)
		}
		s.Request.Cwd, s.Request.Subagent, s.Request.SubagentID = suggestion, tool, tool
		s = described(s)
		if s.check() != nil {
			t.Skip()
		}
		s.AllShown = shown
		checkView(t, v, s)
		for _, part := range v.All(s) {
			faults(t, part)
		}
		for _, state := range []Stage{StageAway, StageEnded} {
			s.Stage = state
			checkView(t, v, s)
		}
	})
}

func FuzzTap(f *testing.F) {
	f.Add("AskUserQuestion", twoQuestions, "o:0:1 o:1:0 d:1:0")
	f.Add("AskUserQuestion", twoQuestions, "x:0 say o:1:2 o:1:2 b:1 why say")
	f.Add("Bash", `{"command":"ls"}`, "all ok no")
	f.Add("ExitPlanMode", `{"plan":"# x"}`, "why c edit")
	f.Add("Bash", `{"command":"\u202e"}`, "ok:1:2:3 ses::: plan o:99999999999999999999:0")
	f.Fuzz(func(t *testing.T, tool, input, taps string) {
		s := stateOf(tool, input, npmRule)
		if s.check() != nil || len(taps) > 200 {
			t.Skip()
		}
		v := viewer(t, "en")
		for _, tap := range strings.Fields(taps) {
			before := written(t, s)
			after, err := applyText(s, person, tap, noon)
			if !strings.HasPrefix(tap, "say") {
				after, err = Tap(s, person, tap, noon)
			}
			require.Equal(t, before, written(t, s), "the card that was given is left alone")
			if err != nil {
				require.Equal(t, before, written(t, after))
			}
			require.Equal(t, after.Stage == StageSent && s.Stage == StageOpen, after.Answer != nil && s.Answer == nil)
			if after.Answer != nil && after.Answer.Allows() {
				require.True(t, whole(s))
			}
			checkView(t, v, after)
			s = after
		}
	})
}

// TestP9_DecisionCarriesOnlyShownInput drives a card through everything that can happen to it.
func TestP9_DecisionCarriesOnlyShownInput(t *testing.T) {
	v := viewer(t, "en")
	start := []State{
		stateOf("Bash", `{"command":"ls"}`, npmRule), stateOf("Bash", object("command", strings.Repeat("ls\n", 90)), npmRule),
		stateOf("Bash", `{"command":"l\u200bs"}`), stateOf("ExitPlanMode", object("plan", somePlan)), stateOf("AskUserQuestion", twoQuestions),
		stateOf("ExitPlanMode", object("plan", "[a](http://b)")), stateOf("AskUserQuestion", `{"questions":[]}`),
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.SampledFrom(start).Draw(rt, "card")
		sent, now := 0, noon
		step := func(after State) {
			if s.Stage == StageEnded {
				require.Equal(t, s, after, "over is over")
			}
			if after.Answer != nil && s.Answer == nil {
				sent++
				require.Equal(t, StageOpen, s.Stage)
				require.Equal(t, StageSent, after.Stage)
				require.True(t, !after.Answer.Allows() || whole(s) || s.AllShown)
			} else if s.Answer != nil {
				require.Equal(t, s.Answer, after.Answer, "a decision never changes")
			}
			require.LessOrEqual(t, sent, 1)
			require.Equal(t, sent == 1, after.Answer != nil)
			data, err := json.Marshal(after)
			require.NoError(t, err)
			var read State
			require.NoError(t, json.Unmarshal(data, &read), "every card can be saved and read")
			checkText(t, v.View(after, "work"))
			s = after
		}
		who := rapid.Int64Range(person, person+1)
		rt.Repeat(map[string]func(*rapid.T){
			"a button": func(rt *rapid.T) {
				var all []card.Option
				for _, row := range v.View(s, "w").Options {
					all = append(all, row...)
				}
				if len(all) == 0 {
					rt.Skip()
				}
				option := rapid.SampledFrom(all).Draw(rt, "button").Value
				after, err := Tap(s, who.Draw(rt, "who"), option, now)
				require.NoError(t, err)
				if option == verbAll {
					require.NotEmpty(t, v.All(after))
					after.AllShown = rapid.Bool().Draw(rt, "delivered") || after.AllShown
				}
				step(after)
			},
			"an old button": func(rt *rapid.T) {
				verb := rapid.SampledFrom(strings.Fields("ok ses no why all o d x b plan edit c")).Draw(rt, "verb")
				for range rapid.IntRange(0, 2).Draw(rt, "arguments") {
					verb += ":" + strconv.Itoa(rapid.IntRange(0, 3).Draw(rt, "argument"))
				}
				after, _ := Tap(s, who.Draw(rt, "who"), verb, now)
				step(after)
			},
			"a text": func(rt *rapid.T) {
				awaited := s.Why
				by := who.Draw(rt, "who")
				after, err := applyText(s, by, rapid.SampledFrom([]string{"because", " ", "<b> *x*"}).Draw(rt, "text"), now)
				if err == nil {
					require.Equal(t, by, awaited.By, "a text of somebody else is not taken")
				}
				step(after)
			},
			"a held text": func(*rapid.T) {
				after, _ := denyWith(s, person, "no", "u-1", now)
				step(after)
			},
			"the hook leaves":  func(rt *rapid.T) { step(leave(s, rapid.Bool().Draw(rt, "for good"), now)) },
			"the hook returns": func(*rapid.T) { step(Return(s)) },
			"the hook takes it": func(*rapid.T) {
				step(give(s, now))
				require.True(t, s.Given.IsZero() || s.Answer != nil)
			},
			"the person goes away": func(*rapid.T) { step(giveUp(s)) },
			"the transcript": func(rt *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(rt, "hours")) * time.Hour)
				o := talk.RequestOutcome{
					ByHook: rapid.SampledFrom([]string{"", "", "allow", "deny"}).Draw(rt, "hook"), Done: rapid.Bool().Draw(rt, "done"),
					Interrupted: rapid.Bool().Draw(rt, "interrupted"), Unclear: rapid.Bool().Draw(rt, "unclear"), Denial: rapid.SampledFrom([]string{"", "user-rejected"}).Draw(rt, "denial"),
				}
				after := settle(s, o, rapid.Bool().Draw(rt, "found"), rapid.Bool().Draw(rt, "gone"), now)
				if after.Outcome.Chat {
					require.NotNil(t, after.Answer, "what nobody decided here was not decided here")
				}
				step(after)
			},
		})
	})
}

// similar are pieces of commands that are easily mistaken for each other, or for nothing.
var similar = []string{"", " ", "  ", "\t", "    ", "\n", "\n\n", " \n", "\r", "\u00a0", "\u2007", "\u3000", "\u200b", "\u200d", "\ufe0f", "\u2800", "\u3164",
	"\u115f", "\u034f", "\u0301", "\u0378", "\ue000", "\U000E0041", "\u202e", ";", "\u037e", "é", "e\u0301", "⟨U+00A0⟩", "⟨2×␠⟩", "⟨1×⏎⟩", "⇥   ", "⏎", `"`, `\`, `""`, `"\n"`, "null"}

// TestP9_TwoCommandsAreShownDifferently checks each pair of similar pieces in a command: no two
// commands may have the same message.
func TestP9_TwoCommandsAreShownDifferently(t *testing.T) {
	v := viewer(t, "en")
	for _, kind := range [][2]string{{"Bash", "command"}, {"Read", "file_path"}, {"WebFetch", "url"}, {"mcp__a__b", "x"}} {
		for _, around := range [][2]string{{"./deploy", "--dry-run"}, {"a \\", "b"}, {"", ""}} {
			short, all := map[string]string{}, map[string]string{}
			for _, one := range similar {
				for _, other := range similar {
					command := around[0] + one + other + around[1]
					s := stateOf(kind[0], object(kind[1], command))
					for seen, as := range map[string]map[string]string{v.View(s, "work").Text.Text: short, fmt.Sprint(v.All(s)): all} {
						same, ok := as[seen]
						require.True(t, !ok || same == command, "%s: %+q and %+q are %q", kind[0], same, command, seen)
						as[seen] = command
					}
				}
			}
		}
	}
}

// TestP9_CardKeepsWordOrder shows commands that an app would draw alike without marks: "deploy א 1"
// and "deploy 1 א".
func TestP9_CardKeepsWordOrder(t *testing.T) {
	v, marked := viewer(t, "en"), "\u200eא\u200e 1"
	for _, s := range []State{
		stateOf("Bash", object("command", "deploy א 1")),
		stateOf("Read", object("file_path", "/w/א 1")),
		stateOf("mcp__a__b", object("x", "deploy א 1")),
		stateOf("Edit", `{"file_path":"/w/a","old_string":"deploy א 1","new_string":"x"}`),
	} {
		require.Contains(t, v.View(s, "work").Text.Text, marked, s.Request.Tool)
		require.True(t, judge(s).whole, s.Request.Tool)
	}
}
