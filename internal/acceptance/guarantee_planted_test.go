package acceptance_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/model"
)

// shapesOfKeys are keys as vendors and people write them; none is anyone's.
var shapesOfKeys = []string{
	"sk-proj-Zx8Kq2Lm9Np4Rt6Vw1Yb", "sk-ant-api03-Zx8Kq2Lm9Np4Rt6Vw1Yb-Aa", "sk_live_4eC39HqLyjWDarjtT1zd", "rk_test_4eC39HqLyjWDarjtT1zd",
	"whsec_Zx8Kq2Lm9Np4Rt6Vw1Yb3Dd5", "ghp_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8", "ghs_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r9",
	"github_pat_11ABCDEFG0a1b2c3d4e5f6_g7h8i9j0k1l2m3n4o5p6", "glpat-aB3dE5gH7jK9mN1pQ3sT", "npm_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1p",
	"hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ", "AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "AIzaSyA1234567890abcdefghijklmnopqrstu",
	"ya29.a0AfH6SMBx1234567890abcdef", "GOCSPX-aB3dE5gH7jK9mN1pQ3sT", "xoxb-1234567890-abcdefghijkl", "xapp-1-A0123456789-1234567890-abcdef",
	"MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK", "123456789:AAEhBP0av28frXqL6LZ8dF3vKj1mN5pQ7sT",
	"SG.aB3dE5gH7jK9mN1pQ3sTaB.aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sTaB3", "pypi-AgEIcHlwaS5vcmcCJDFhMmIzYzRk", "dckr_pat_aB3dE5gH7jK9mN1pQ3sTaB3dE5g",
	"shpat_0123456789abcdef0123456789abcdef", "dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"lin_api_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sT", "figd_aB3dE5gH7jK9mN1pQ3sT-aB3dE5gH7jK9mN1pQ3s", "ntn_123456789012aB3dE5gH7jK9mN1pQ3sTaB3dE5g",
	"patAbCdEf12345678.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "EAACEdEose0cBA1234567890abcdefghijklmnop",
	"sq0atp-aB3dE5gH7jK9mN1pQ3sTaB", "AGE-SECRET-KEY-1QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3J", "key-0123456789abcdef0123456789abcdef",
	"gsk_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sT", "xai-aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1p", "r8_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1p",
	"dapi0123456789abcdef0123456789abcdef", "aBcDeFgHiJkLmN.atlasv1.aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9mN1pQ3sT",
	"SK0123456789abcdef0123456789abcdef", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
}

// shapesIn returns which of them are in a text, as they are or in an echo.
func shapesIn(text []byte) (found []string) {
	for _, key := range shapesOfKeys {
		for _, form := range []string{key, hex.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte(key))} {
			if bytes.Contains(text, []byte(form)) && !slices.Contains(found, key) {
				found = append(found, key)
			}
		}
	}
	return found
}

// saying stands before a model server and says something in every answer and error.
func saying(inner http.Handler, words func(r *http.Request) string) http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := words(r)
		r.URL.Scheme, r.URL.Host = "", "" // as a proxy gets it
		rec := httptest.NewRecorder()
		if n.Add(1)%7 == 3 {
			w.Header().Set("Retry-After-Ms", "1")
			http.Error(w, `{"error": {"message": "`+said+`"}}`, http.StatusInternalServerError)
			return
		}
		inner.ServeHTTP(rec, r)
		var doc map[string]any
		if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if choices, _ := doc["choices"].([]any); len(choices) > 0 && r.Header.Get(wiretest.StageHeader) == model.StageRollout {
			message := choices[0].(map[string]any)["message"].(map[string]any)
			message["content"] = fmt.Sprint("I was told ", said, "\n", message["content"])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(rec.Code)
		_ = json.NewEncoder(w).Encode(doc)
	})
}

// Keys of forty shapes that a run was handed are in nothing that it leaves or tells.
// Those that models make up are part of their replies: they are recorded, and not
// given away with a cassette.
func TestKeysOfAllShapesStayInside(t *testing.T) {
	t.Parallel()
	if len(shapesOfKeys) < 40 {
		t.Fatalf("%d shapes", len(shapesOfKeys))
	}
	for name, handed := range map[string]bool{"handed": true, "made up": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := wiretest.Start(wiretest.Options{Client: sim.New(simulated(t))})
			t.Cleanup(inner.Close)
			var whole atomic.Int64 // how often all were said
			front := httptest.NewServer(saying(inner, func(r *http.Request) string {
				if !handed {
					return strings.Join(shapesOfKeys, " | ")
				}
				var said []string
				if r.Header.Get("X-Planted-0") == shapesOfKeys[0] {
					whole.Add(1)
				}
				for i := range shapesOfKeys {
					key := r.Header.Get(fmt.Sprintf("X-Planted-%d", i))
					said = append(said, key, hex.EncodeToString([]byte(key)), base64.StdEncoding.EncodeToString([]byte(key)))
				}
				return strings.Join(said, " | ")
			}))
			t.Cleanup(front.Close)
			l := secretConfig(t, front.URL, "limits: {concurrency: 1}\n")
			if handed {
				for i, key := range shapesOfKeys {
					l.Config.Models.Target.Headers[fmt.Sprintf("X-Planted-%d", i)] = key
					l.Config.Models.Optimizer.Headers[fmt.Sprintf("X-Planted-%d", i)] = key
				}
			}
			dir := filepath.Join(t.TempDir(), "run")
			var told bytes.Buffer
			sum, err := skillopt.Train(t.Context(), l.Config, skillopt.WithLoaded(l), skillopt.WithRunDir(dir), toldTo(&told))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&told, "%+v", sum)
			tape := filepath.Join(t.TempDir(), "run.cassette")
			if _, err := skillopt.ExportCassette(t.Context(), dir, tape, l.Secrets()...); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(tape); err != nil || len(shapesIn(text)) > 0 {
				t.Errorf("the cassette holds %v, %v", shapesIn(text), err)
			}
			if found := shapesIn(told.Bytes()); len(found) > 0 {
				t.Errorf("what was told holds %v", found)
			}
			searched := 0
			err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() || !handed && filepath.Base(path) != "config.yaml" {
					return err
				}
				searched++
				text, err := os.ReadFile(path)
				if found := shapesIn(text); len(found) > 0 {
					t.Errorf("%s holds %v", path, found)
				}
				return err
			})
			if recorded, err := grep(dir, shapesOfKeys[0]); err != nil || handed && whole.Load() == 0 || !handed && len(recorded) == 0 {
				t.Errorf("no key was said, so that nothing is proven: %v", err)
			}
			if err != nil || searched == 0 {
				t.Errorf("%d files, %v", searched, err)
			}
			t.Logf("%d shapes, %d files, the events and the cassette: 0 found", len(shapesOfKeys), searched)
		})
	}
}
