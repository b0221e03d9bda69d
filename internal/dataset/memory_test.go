package dataset_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
)

// childFile has the test read a file in a process of its own.
const childFile = "SKILLOPT_DATASET_TEST_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		os.Exit(readOnce(path))
	}
	os.Exit(m.Run())
}

// mostResident bounds the memory of reading 200 MB, in KiB. It is near 70 MiB with pages of a
// megabyte; the library holds a page, the one before, and what it was unpacked from, so that
// pages of 64 MB take 260 MiB on an idle machine, and more where the collector comes late.
const mostResident = 400 << 10

// readOnce reads a file and prints what it took.
func readOnce(path string) int {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer root.Close()
	rows, bytes, start := 0, 0, time.Now()
	for row, err := range dataset.Rows(context.Background(), root, filepath.Base(path), dataset.Bounds{}) {
		if err != nil {
			fmt.Println(err)
			return 1
		}
		rows++
		image, _ := row.Fields["image"].(map[string]any)
		data, _ := image["bytes"].([]byte)
		bytes += len(data)
	}
	fmt.Printf("%d rows, %d MiB of images, peak %d MiB resident, %s\n", rows, bytes>>20, peak()>>10, time.Since(start).Round(10*time.Millisecond))
	if peak() > mostResident {
		return 1
	}
	return 0
}

// peak is the most memory that was resident, in KiB, as Linux tells it; 0 elsewhere.
func peak() int {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			n, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return n
		}
	}
	return 0
}

// TestLargeFile reads 200 MB of pictures in a process of its own, whose peak is printed: of
// pages of a megabyte, as most writers make them, and of a hundred, as some do.
func TestLargeFile(t *testing.T) {
	if os.Getenv("SKILLOPT_LONG") != "1" {
		t.Skip("200 MB are written and read with SKILLOPT_LONG=1")
	}
	for name, options := range map[string][]parquet.WriterOption{
		"pages of 1 MB":          {parquet.PageBufferSize(1 << 20), parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(100)},
		"pages of 64 MB, snappy": {parquet.PageBufferSize(64 << 20), parquet.Compression(&parquet.Snappy)},
		"pages of 64 MB, zstd":   {parquet.PageBufferSize(64 << 20), parquet.Compression(&parquet.Zstd)},
	} {
		path := filepath.Join(t.TempDir(), "large.parquet")
		writeLarge(t, path, options)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childFile+"="+path)
		out, err := cmd.CombinedOutput()
		t.Logf("%s: %s", name, out)
		if err != nil {
			t.Error(err)
		}
	}
}

func writeLarge(t *testing.T, path string, options []parquet.WriterOption) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := parquet.NewGenericWriter[same](f, options...)
	noise := make([]byte, 256<<10)
	state := uint64(1)
	for i := range 800 {
		for j := range noise {
			state = state*6364136223846793005 + 1442695040888963407
			noise[j] = byte(state >> 56)
		}
		r := theRows()[i%40]
		r.Image.Bytes = noise
		if _, err := w.Write([]same{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
