//go:build ignore

// Generate writes the sessions of the example, three days of eight:
//
//	go run generate.go
//
// In each the user asks about a document, the agent answers in a form that the house does not
// want, the user says so, and the second answer is taken. The forms are in the functions
// below, one a kind of question; the documents and CLAUDE.md do not state them.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// asked is what a session is about.
type asked struct {
	request, wrong, correction, right string
}

func main() {
	r := rand.New(rand.NewPCG(20, 26))
	makers := []func(*rand.Rand) asked{dueDate, departure, weight, reorder, phone}
	for day := range 3 {
		for i := range 8 {
			n := day*8 + i
			at := time.Date(2026, 11, 16+day, 9, 0, 0, 0, time.UTC).Add(time.Duration(i) * 40 * time.Minute)
			name := filepath.Join(fmt.Sprintf("day-%d", day+1), fmt.Sprintf("session-%02d.jsonl", n+1))
			if err := write(name, n+1, at, makers[(n+n/len(makers))%len(makers)](r)); err != nil {
				log.Fatal(err)
			}
		}
	}
}

func write(name string, n int, at time.Time, a asked) error {
	id := fmt.Sprintf("desk-%02d", n)
	stamp := func(minutes int) string { return at.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339) }
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, line := range []map[string]any{
		{"type": "session", "id": id, "project": "../project", "version": "1"},
		{"type": "user", "id": id + "-a", "time": stamp(0), "text": a.request},
		{"type": "agent", "time": stamp(1), "text": a.wrong},
		{"type": "user", "id": id + "-b", "time": stamp(3), "text": a.correction},
		{"type": "agent", "time": stamp(4), "text": a.right},
		{"type": "user", "id": id + "-c", "time": stamp(5), "text": "Thanks, that is it."},
		{"type": "agent", "time": stamp(6), "text": "You are welcome."},
	} {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, buf.Bytes(), 0o644)
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

func dueDate(r *rand.Rand) asked {
	d := time.Date(2027, time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC)
	return asked{
		fmt.Sprintf("Invoice %d of %s\nDue: %s\nQuestion: When is the invoice due?", 4000+r.IntN(900), pick(r, "Fenwick", "Osprey", "Larch"), d.Format("2 January 2006")),
		d.Format("2 January 2006"), "No, that date is not how we write dates of an invoice, see the ledger.", d.Format("2006-01-02"),
	}
}

func departure(r *rand.Rand) asked {
	t := time.Date(2027, 1, 1, 13+r.IntN(10), 5*r.IntN(12), 0, 0, time.UTC)
	return asked{
		fmt.Sprintf("Sailing %d to %s\nDeparts: %s\nQuestion: At what time does it leave?", 100+r.IntN(800), pick(r, "Rotterdam", "Bergen", "Cork"), t.Format("3:04 pm")),
		t.Format("3:04 pm"), "No, the time is not how the harbour writes the time it leaves.", t.Format("15:04"),
	}
}

func weight(r *rand.Rand) asked {
	kg := 2 + r.IntN(60)
	return asked{
		fmt.Sprintf("Consignment %d\n- gross weight: %d kg\nQuestion: What is the weight of the consignment?", 9000+r.IntN(900), kg),
		fmt.Sprintf("%d kg", kg), "No, wrong unit: that is not how the customs form has the weight of a consignment.", fmt.Sprintf("%d g", kg*1000),
	}
}

func reorder(r *rand.Rand) asked {
	goods := []string{"axle grease", "brass hinges", "cable ties", "floor wax", "garden twine", "hex bolts", "inner tubes", "jute sacks"}
	r.Shuffle(len(goods), func(i, j int) { goods[i], goods[j] = goods[j], goods[i] })
	text := fmt.Sprintf("Stock list, aisle %d", 1+r.IntN(30))
	var low []string
	for i, g := range goods[:4] {
		stock := 10 + r.IntN(30)
		if i < 2 {
			low = append(low, g)
			text += fmt.Sprintf("\n- %s: %d in stock, reorder below 50", g, stock)
		} else {
			text += fmt.Sprintf("\n- %s: %d in stock, reorder below 5", g, stock)
		}
	}
	return asked{
		text + "\nQuestion: Which products have to be reordered?",
		low[0] + ", " + low[1], "No, the order system does not take the list of products like that, with commas.", low[0] + "; " + low[1],
	}
}

func phone(r *rand.Rand) asked {
	n := fmt.Sprintf("%d %d", 20+r.IntN(70), 100000+r.IntN(900000))
	return asked{
		fmt.Sprintf("Customer card\n- name: %s\n- phone: 0%s\nQuestion: What is the phone number of the contact?", pick(r, "Ada Marsh", "Tom Reed", "Ines Holt"), n),
		"0" + n, "No, that phone number is not how we dial a contact from abroad.", "+44 " + n,
	}
}
