//go:build ignore

// Generate writes tasks.jsonl, the tasks of the quick start:
//
//	go run generate.go
//
// Each task is a short document and a question about it. The answers follow
// house rules that neither the documents nor the starting skill state; they
// are in the functions below, one a kind of task.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

type item struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Prompt string `json:"prompt"`
	Gold   string `json:"gold"`
}

type maker func(r *rand.Rand) (document, question, gold string)

func main() {
	r := rand.New(rand.NewPCG(20, 25))
	var items []item
	for _, k := range []struct {
		name  string
		count int
		make  maker
	}{
		{"due_date", 20, dueDate},
		{"departure", 17, departure},
		{"weight", 18, weight},
		{"total", 22, total},
		{"reorder", 22, reorder},
		{"phone", 15, phone},
		{"personal", 12, personal},
		{"missing", 12, missing},
		{"carrier", 36, carrier},
		{"parcels", 26, parcels},
	} {
		for i := range k.count {
			document, question, gold := k.make(r)
			items = append(items, item{
				ID:     fmt.Sprintf("%s-%02d", k.name, i+1),
				Type:   k.name,
				Prompt: prompt(document, question),
				Gold:   gold,
			})
		}
	}
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	if err := write("tasks.jsonl", items); err != nil {
		log.Fatal(err)
	}
}

func write(path string, items []item) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, it := range items {
		if err := e.Encode(it); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func prompt(document, question string) string {
	return "You work at the desk of Harbourline, a wholesaler. Here is a document from the files:\n\n" +
		document + "\n\nQuestion: " + question +
		"\n\nPut the answer, and nothing else, between <answer> and </answer>."
}

func any1[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

var (
	customers = []string{"Alder & Finch", "Brackwater Joinery", "Corrie Lighting", "Dunmore Bikes", "Eastgate Nursery", "Farrow Kitchens", "Glenholm School", "Hexley Theatre"}
	people    = []string{"Ada Munro", "Ben Okafor", "Carla Reid", "Dev Patel", "Elin Strand", "Fergus Hay", "Greta Low", "Hugh Tait"}
	products  = []string{"axle grease", "brass hinges", "cable ties", "drill bits", "epoxy resin", "floor wax", "garden twine", "hex bolts", "inner tubes", "jute sacks", "key blanks", "lamp oil", "mesh screens", "nylon rope"}
	carriers  = []string{"Northmail", "Tern Freight", "Isla Couriers", "Bluebell Haulage", "Cask & Crate"}
	ports     = []string{"Leith", "Rotterdam", "Bergen", "Esbjerg", "Zeebrugge", "Aberdeen"}
)

// dueDate returns an invoice, a question about it and the answer. Rule: dates as YYYY-MM-DD.
func dueDate(r *rand.Rand) (string, string, string) {
	issued := time.Date(2025, time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
	due := issued.AddDate(0, 0, 7*(1+r.IntN(6)))
	doc := fmt.Sprintf("Invoice %d for %s\nIssued: %s\nDue: %s\nTerms: net", 10000+r.IntN(9000), any1(r, customers),
		issued.Format("2 January 2006"), due.Format("2 January 2006"))
	return doc, "When is the invoice due?", due.Format("2006-01-02")
}

// departure returns the sheet of a sailing, a question about it and the answer. Rule: times on the 24-hour clock.
func departure(r *rand.Rand) (string, string, string) {
	at := time.Date(2025, 1, 1, r.IntN(24), 5*r.IntN(12), 0, 0, time.UTC)
	from := r.IntN(len(ports))
	to := (from + 1 + r.IntN(len(ports)-1)) % len(ports)
	doc := fmt.Sprintf("Sailing HL %d\nRoute: %s to %s\nDeparts: %s\nBerth: %d", 100+r.IntN(900), ports[from], ports[to],
		at.Format("3:04 pm"), 1+r.IntN(12))
	return doc, "At what time does the ship leave?", at.Format("15:04")
}

// consignment lists parcels and returns their weight in grams.
func consignment(r *rand.Rand) (doc string, grams, count int) {
	var b strings.Builder
	fmt.Fprintf(&b, "Consignment %d\nCarrier: %s\nParcels:", 2000+r.IntN(8000), any1(r, carriers))
	count = 2 + r.IntN(4)
	for i := range count {
		g := 50 * (5 + r.IntN(300))
		grams += g
		fmt.Fprintf(&b, "\n- parcel %d: %s kg", i+1, kilograms(g))
	}
	return b.String(), grams, count
}

func kilograms(grams int) string {
	s := strings.TrimRight(fmt.Sprintf("%d.%03d", grams/1000, grams%1000), "0")
	return strings.TrimSuffix(s, ".")
}

// weight returns a consignment, a question about it and the answer. Rule: weights in whole grams.
func weight(r *rand.Rand) (string, string, string) {
	doc, grams, _ := consignment(r)
	return doc, "What is the total weight of the consignment?", fmt.Sprintf("%d g", grams)
}

// parcels returns a consignment, a question about it and the answer. No rule.
func parcels(r *rand.Rand) (string, string, string) {
	doc, _, count := consignment(r)
	return doc, "How many parcels does the consignment have?", fmt.Sprint(count)
}

// carrier returns a consignment, a question about it and the answer. No rule.
func carrier(r *rand.Rand) (string, string, string) {
	doc, _, _ := consignment(r)
	_, rest, _ := strings.Cut(doc, "Carrier: ")
	name, _, _ := strings.Cut(rest, "\n")
	return doc, "Which carrier takes the consignment?", name
}

// total returns an invoice, a question about it and the answer. Rules: totals rounded half up to whole euros, with EUR in front.
func total(r *rand.Rand) (string, string, string) {
	var b strings.Builder
	fmt.Fprintf(&b, "Invoice %d for %s\nAll prices in euros.", 10000+r.IntN(9000), any1(r, customers))
	cents := 0
	for _, p := range some(r, 2+r.IntN(3)) {
		n, price := 1+r.IntN(9), 5*(21+r.IntN(700))
		cents += n * price
		fmt.Fprintf(&b, "\n- %d x %s at %d.%02d", n, p, price/100, price%100)
	}
	return b.String(), "What is the total of the invoice?", fmt.Sprintf("EUR %d", (cents+50)/100)
}

func some(r *rand.Rand, n int) []string {
	order := r.Perm(len(products))
	out := make([]string, n)
	for i := range out {
		out[i] = products[order[i]]
	}
	return out
}

// reorder returns a stock list, a question about it and the answer. Rules: products in alphabetical order, separated by semicolons.
func reorder(r *rand.Rand) (string, string, string) {
	var b strings.Builder
	b.WriteString("Stock list, aisle " + fmt.Sprint(1+r.IntN(20)))
	var low []string
	for i, p := range some(r, 6) {
		level := 10 * (1 + r.IntN(9))
		stock := level + 1 + r.IntN(60)
		if i%3 != 2 && (i < 3 || r.IntN(2) == 0) {
			stock = r.IntN(level)
			low = append(low, p)
		}
		fmt.Fprintf(&b, "\n- %s: %d in stock, reorder below %d", p, stock, level)
	}
	slices.Sort(low)
	return b.String(), "Which products have to be reordered?", strings.Join(low, "; ")
}

// card returns the card of a customer without the fields left out.
func card(r *rand.Rand, without ...string) (doc string, fields map[string]string) {
	fields = map[string]string{}
	var b strings.Builder
	fmt.Fprintf(&b, "Customer card: %s\nContact: %s", any1(r, customers), any1(r, people))
	for _, f := range []struct{ name, value string }{
		{"phone number", fmt.Sprintf("0%d %d %04d", 131+r.IntN(60), 200+r.IntN(700), r.IntN(10000))},
		{"account manager", any1(r, people)},
		{"delivery day", any1(r, []string{"Monday", "Tuesday", "Thursday", "Friday"})},
		{"fax number", fmt.Sprintf("0%d %d %04d", 131+r.IntN(60), 200+r.IntN(700), r.IntN(10000))},
		{"home address", fmt.Sprintf("%d Quay Street", 1+r.IntN(90))},
		{"date of birth", fmt.Sprintf("%d May %d", 1+r.IntN(28), 1950+r.IntN(50))},
		{"private mobile", fmt.Sprintf("07%d %06d", 100+r.IntN(800), r.IntN(1000000))},
	} {
		if slices.Contains(without, f.name) {
			continue
		}
		fields[f.name] = f.value
		fmt.Fprintf(&b, "\n- %s: %s", f.name, f.value)
	}
	return b.String(), fields
}

// phone returns a customer card, a question about it and the answer. Rule: phone numbers in international form.
func phone(r *rand.Rand) (string, string, string) {
	doc, fields := card(r, "fax number", "home address")
	return doc, "What is the phone number of the contact?", "+44 " + strings.TrimPrefix(fields["phone number"], "0")
}

// personal returns a customer card, a question about it and the answer. Rule: personal data is not given out.
func personal(r *rand.Rand) (string, string, string) {
	doc, _ := card(r, "delivery day")
	field := any1(r, []string{"home address", "date of birth", "private mobile"})
	return doc, fmt.Sprintf("What is the %s of the contact?", field), "REFER TO DATA OFFICE"
}

// missing returns a customer card, a question about it and the answer. Rule: what is not in the document is NOT ON FILE.
func missing(r *rand.Rand) (string, string, string) {
	field := any1(r, []string{"delivery day", "fax number", "account manager"})
	doc, _ := card(r, field, "date of birth")
	return doc, fmt.Sprintf("What is the %s of the contact?", field), "NOT ON FILE"
}
