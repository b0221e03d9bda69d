package server

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the document of the API anew")

// The document that is kept, of which the types of the page are made, is that of the routes.
func TestDocument(t *testing.T) {
	t.Parallel()
	got, err := Document()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("..", "..", "docs", "openapi.json")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/openapi.json is not what the routes say (%v): go test ./internal/server -run TestDocument -update", err)
	}
}
