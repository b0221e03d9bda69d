package skill_test

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/skill"
)

func ExampleApply() {
	seed := skill.New("# Sums\n- Add the numbers.\n")
	edits := []skill.Edit{
		{Op: skill.InsertAfter, Target: "Add the numbers", Content: "- Round to two decimals."},
		{Op: skill.Delete, Target: "- Guess."},
	}
	better, reports := skill.Apply(seed, edits, skill.ApplyOptions{Budget: 4})
	for _, r := range reports {
		fmt.Println(r.Index, r.Status)
	}
	fmt.Print(skill.Diff(seed, better, "v0", "v1"))
	// Output:
	// 1 applied_insert_after
	// 2 skipped_delete_target_not_found
	// --- v0/SKILL.md
	// +++ v1/SKILL.md
	// @@ -1,2 +1,4 @@
	//  # Sums
	//  - Add the numbers.
	// +
	// +- Round to two decimals.
}

func ExampleParse() {
	doc, err := skill.Parse("---\nname: sums\ndescription: Adds numbers up.\n---\n# Sums\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %s\n%q\n", doc.Name, doc.Description, doc.Body)
	// Output:
	// sums: Adds numbers up.
	// "# Sums\n"
}

func ExampleSkill_WithSlow() {
	s := skill.New("# Sums\n").WithSlow("Check the units first.")
	fmt.Print(s.Text())
	fmt.Println(skill.SlowText(s.Text()))
	// Output:
	// # Sums
	//
	// <!-- SLOW_UPDATE_START -->
	// Check the units first.
	// <!-- SLOW_UPDATE_END -->
	// Check the units first.
}
