package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
)

// file is one in an archive.
type file struct {
	name    string
	data    []byte
	program bool // it may be executed
}

func (f file) mode() int64 {
	if f.program {
		return 0o755
	}
	return 0o644
}

// epoch is when everything in an archive was changed: the earliest that zip can say.
func epoch() time.Time { return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) }

// pack returns the archive with files below the target's folder. What is in it depends
// on the arguments alone: no user, no clock, no name of this machine.
func (t target) pack(files []file) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var out bytes.Buffer
	write := tarball
	if t.os == "windows" {
		write = zipped
	}
	err := write(&out, t.folder(), files)
	return out.Bytes(), err
}

func tarball(w io.Writer, folder string, files []file) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	a := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.data)), Mode: f.mode(), ModTime: epoch(), Format: tar.FormatUSTAR}
		if err := a.WriteHeader(h); err != nil {
			return err
		}
		if _, err := a.Write(f.data); err != nil {
			return err
		}
	}
	return errors.Join(a.Close(), z.Close())
}

func zipped(w io.Writer, folder string, files []file) error {
	a := zip.NewWriter(w)
	a.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: epoch()}
		e, err := a.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := e.Write(f.data); err != nil {
			return err
		}
	}
	return a.Close()
}

// sum is what checksums.txt says of an archive, and how large it is.
type sum struct {
	archive, sha256  string
	packed, unpacked int // bytes
}

func newSum(archive string, packed []byte, unpacked int) sum {
	d := sha256.Sum256(packed)
	return sum{archive: archive, sha256: hex.EncodeToString(d[:]), packed: len(packed), unpacked: unpacked}
}

// checksums is a file that sha256sum --check reads.
func checksums(sums []sum) []byte {
	var b strings.Builder
	for _, s := range sums {
		b.WriteString(s.sha256 + "  " + s.archive + "\n")
	}
	return []byte(b.String())
}
