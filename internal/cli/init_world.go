package cli

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/internal/worlds"
)

const worldUsage = "a simulated world made from a few numbers, as in rules=30,depth=3,noise=0.1; a number that is not named has its default (docs/environments.md)"

// defaultWorld is the value of --world that changes no number.
const defaultWorld = "default"

// runWorld carries out init --world: it makes a world.
func (o *initOptions) runWorld(a *app, folder newFolder, c *cobra.Command) error {
	for name := range strings.FieldsSeq("env skill generate triggers target optimizer tasks config seed") {
		if c.Flags().Changed(name) {
			return usagef("--world makes an example, and goes with no --%s", name)
		}
	}
	p, err := worldParams(o.world)
	if err != nil {
		return usagef("--world %s: %v", o.world, err)
	}
	w, err := worlds.New(p)
	if err != nil {
		return err
	}
	files, err := w.Files()
	if err != nil {
		return err
	}
	return folder.writeToTrain(a, files, map[string]any{"simulated": true, "world": p})
}

// worldParams returns the numbers of a world, changed by NAME=VALUE,...
func worldParams(text string) (worlds.Params, error) {
	p := worlds.Default()
	if text == defaultWorld {
		return p, nil
	}
	given := map[string]json.RawMessage{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return p, errors.New("want NAME=VALUE, with commas between")
		}
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			value = strconv.Quote(value)
		}
		given[name] = json.RawMessage(value)
	}
	data, err := json.Marshal(given)
	if err != nil {
		return p, err
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return p, p.Validate()
}
