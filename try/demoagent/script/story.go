package script

// The prompts of a day, as people write them, and what the agent of that day says. `ccbot try --story` and the pictures play it.
const (
	StoryFix     = "The checkout test fails since this morning. Find out why and fix it."
	StoryNotes   = "Write two lines about it for the release notes."
	StoryCommand = "make test"
	StoryPurpose = "Run the tests with the new rounding"
	StoryFixed   = "All 42 tests pass. `cart.go` rounded each line before it added them up; now it rounds the sum once."
	StoryNoted   = "- The total of a cart with many small items is right again.\n- It was off by up to one cent for each line."
)

// story returns the steps of a prompt of the story; nil: it is none.
func story(prompt string) []Step {
	free := func(c Call) Step { c.Free = true; return Step{Tool: &c} }
	switch prompt {
	case StoryFix:
		return []Step{free(Call{Name: "Grep", Command: "total"}), free(Call{Name: "Read", Path: "cart.go"}),
			{Text: "The total is rounded for each line. I have moved that to the end, and would like to run the tests.",
				Tool: &Call{Name: "Bash", Command: StoryCommand, Purpose: StoryPurpose}}}
	case StoryNotes:
		return []Step{free(Call{Name: "Bash", Command: "git diff --stat; sleep 6"}), {Text: StoryNoted}}
	}
	return nil
}
