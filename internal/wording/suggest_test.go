package wording

import "testing"

func TestSuggest(t *testing.T) {
	t.Parallel()
	known := []string{"epochs", "batch_size", "seed", "gate"}
	for got, want := range map[string]string{
		"epoch": "epochs", "Epochs": "epochs", "batchsize": "batch_size", "sede": "seed", "gâte": "gate", "learning_rate": "", "": "",
	} {
		name, ok := Suggest(got, known)
		if name != want || ok != (want != "") {
			t.Errorf("Suggest(%q) = %q, %v; want %q", got, name, ok, want)
		}
	}
}

func TestSuggestPrefersTheFirst(t *testing.T) {
	t.Parallel()
	if name, _ := Suggest("ac", []string{"ab", "ad"}); name != "ab" {
		t.Errorf("got %q", name)
	}
	if name, ok := Suggest("x", nil); ok {
		t.Errorf("got %q out of nothing", name)
	}
}
