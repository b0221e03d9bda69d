package rollout

import (
	"fmt"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/model"
)

// imageMark is where a text shows one of its pictures: {image#1} the first.
var imageMark = pattern.New(`\{image#(\d{1,4})\}`)

// insertImages puts pictures where a text marks them. The mark of a picture that is not there stays
// in words. Pictures without a mark come after the text, each named: nothing that a task shows is
// lost. A picture that is marked twice is shown twice.
func insertImages(text string, images []model.Image) []model.Part {
	var parts []model.Part
	write := func(text string) {
		switch last := len(parts) - 1; {
		case text == "":
		case last >= 0 && parts[last].Image == nil:
			parts[last].Text += text
		default:
			parts = append(parts, model.Part{Text: text})
		}
	}
	shown := make([]bool, len(images))
	at := 0
	for _, m := range imageMark.Regexp().FindAllStringSubmatchIndex(text, -1) {
		write(text[at:m[0]])
		at = m[1]
		number, err := strconv.Atoi(text[m[2]:m[3]])
		if err != nil || number < 1 || number > len(images) {
			write(fmt.Sprintf("[Image #%s]", text[m[2]:m[3]]))
			continue
		}
		shown[number-1] = true
		parts = append(parts, model.Part{Image: &images[number-1]})
	}
	write(text[at:])
	for i := range images {
		if !shown[i] {
			write(fmt.Sprintf("\n[Additional Image #%d]\n", i+1))
			parts = append(parts, model.Part{Image: &images[i]})
		}
	}
	return parts
}
