// Generate writes the fixtures of the benchmarks: rows of our own in the form in which each benchmark
// is published, and for each a simulated world that answers them. From the folder benchmarks:
//
//	go generate
//
// The same program writes the same bytes. Nothing in the rows is of any benchmark.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	for _, f := range []struct {
		name string
		make func(dir folder) error
	}{
		{"searchqa", searchqa},
		{"docvqa", docvqa},
		{"livemathematicianbench", livemath},
		{"babyvision", babyvision},
		{"mathverse", mathverse},
		{"mmrb", mmrb},
		{"sealqa", sealqa},
		{"officeqa", officeqa},
		{"spreadsheetbench", spreadsheetbench},
		{"alfworld", alfworld},
	} {
		dir := folder(filepath.Join(f.name, "fixture"))
		if err := os.RemoveAll(string(dir)); err != nil {
			log.Fatal(err)
		}
		if err := f.make(dir); err != nil {
			log.Fatalf("%s: %v", f.name, err)
		}
	}
}

// folder is where the files of a fixture are written.
type folder string

func (f folder) write(name string, data []byte) error {
	path := filepath.Join(string(f), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// json writes a value, or with jsonl each entry of a list as a line.
func (f folder) json(name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return f.write(name, b.Bytes())
}

func (f folder) jsonl(name string, rows []map[string]any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, row := range rows {
		if err := e.Encode(row); err != nil {
			return err
		}
	}
	return f.write(name, b.Bytes())
}

// ids writes the lists of ids of a fixture whose benchmark has published splits.
func (f folder) ids(ids []string) error {
	cut := map[string][2]int{"train": {0, 18}, "selection": {18, 30}, "test": {30, len(ids)}}
	for name, at := range cut {
		if err := f.write("ids/"+name+".txt", []byte(strings.Join(ids[at[0]:at[1]], "\n")+"\n")); err != nil {
			return err
		}
	}
	return nil
}

// picture draws a small picture that no other number has.
func picture(n int) []byte {
	img := image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{color.White, color.Black})
	for bit := range 16 {
		if n>>bit&1 == 1 {
			for y := range 3 {
				img.SetColorIndex(bit%4*4+1, bit/4*4+y, 1)
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// worldHead is what each world says of itself.
const worldHead = `# A SIMULATED WORLD. No model runs here, and what a picture shows stands in the tables below: it lets the
# whole way of a benchmark be watched without a key. docs/environments.md describes the keys.
`

// table writes a table of a world.
func table(name string, rows [][2]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %s:\n", name)
	for _, row := range rows {
		fmt.Fprintf(&b, "    %q: %q\n", row[0], row[1])
	}
	return b.String()
}

// pick returns one of some words, by a number.
func pick(n int, words ...string) string { return words[n%len(words)] }

// word returns a number up to twelve as a word.
func word(n int) string {
	return []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}[n]
}

func names() []string {
	return strings.Fields("Meridian Calder Osprey Tamar Juniper Solent Kestrel Marlow Petrel Avalon Corvus Linnet Thalia Wexford Zephyr Harrow Iris Lorne Morwen Nimrod Orrin Pallas Quill Rowan Selkie Tressa Ulva Verity Wren Yarrow Alder Briar Cedar Damson Elder Fescue Gorse Hazel Ivy Larch Maple Nettle Oak Poplar")
}
