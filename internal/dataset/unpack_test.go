package dataset_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/dataset"
)

// member is an entry of an archive; kind is that of tar.
type member struct {
	name, text string
	kind       byte
}

func zipped(t testing.TB, members ...member) string {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		h.SetMode(0o600)
		switch m.kind {
		case tar.TypeSymlink:
			h.SetMode(0o777 | fs.ModeSymlink)
		case tar.TypeFifo:
			h.SetMode(0o600 | fs.ModeNamedPipe)
		}
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(m.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func tarred(t testing.TB, members ...member) string {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, m := range members {
		h := &tar.Header{Name: m.name, Mode: 0o600, Size: int64(len(m.text)), Typeflag: m.kind}
		if m.kind == tar.TypeSymlink || m.kind == tar.TypeLink {
			h.Linkname, h.Size, m.text = m.text, 0, ""
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = w.Write([]byte(m.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func gzipped(t testing.TB, text string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// read returns the files below a folder.
func read(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	members := []member{{name: "images/"}, {name: "images/a.png", text: "A"}, {name: "./b/c/d.txt", text: strings.Repeat("x", 3<<20)}, {name: "b/", kind: tar.TypeDir}, {name: "__MACOSX/._a", text: "m"}, {name: "empty", text: ""}, {name: "b/.DS_Store", text: "m"}}
	tarMembers := append([]member{{name: "pax_global_header", kind: tar.TypeXGlobalHeader}}, members...)
	tarMembers[1].kind = tar.TypeDir
	plain := tarred(t, tarMembers[1:]...)
	want := map[string]string{"images/a.png": "A", "b/c/d.txt": strings.Repeat("x", 3<<20), "empty": ""}
	for name, data := range map[string]string{"x.zip": zipped(t, members...), "x.tar": plain, "x.tar.gz": gzipped(t, plain), "x.TGZ": gzipped(t, plain)} {
		root := folder(t, map[string]string{name: data, "to/.out.unpacking/left": "by a killed process"})
		into, err := root.OpenRoot("to")
		if err != nil {
			t.Fatal(err)
		}
		got, err := dataset.Unpack(t.Context(), root, name, into, "out", dataset.ArchiveBounds{Ratio: 2000})
		if err != nil || got.Files != 3 || got.Bytes != 3<<20+1 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if diff := cmp.Diff(want, read(t, filepath.Join(into.Name(), "out"))); diff != "" || len(read(t, into.Name())) != len(want) {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if _, err := dataset.Unpack(t.Context(), root, name, into, "out", dataset.ArchiveBounds{}); !errors.Is(err, dataset.ErrThere) || !strings.Contains(err.Error(), "remove it to unpack again") {
			t.Errorf("%s: unpacked twice: %v", name, err)
		}
		if err := into.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestArchivesThatAreNotUnpacked(t *testing.T) {
	t.Parallel()
	a := member{name: "a", text: "A"}
	both := func(kind error, want string, members ...member) map[string]refusal {
		return map[string]refusal{"x.zip": {zipped(t, members...), kind, want}, "x.tar": {tarred(t, members...), kind, want}}
	}
	zeros := strings.Repeat("\x00", 4<<20)
	good, packed := zipped(t, a, member{name: "b", text: strings.Repeat("random", 1000)}), gzipped(t, tarred(t, a, member{name: "b", text: "B"}))
	for what, cases := range map[string]map[string]refusal{
		"parent":         both(dataset.ErrMember, `member "../b": its name leads out of the archive`, a, member{name: "../b"}),
		"hidden parent":  both(dataset.ErrMember, `member "c/../../b": its name leads out`, a, member{name: "c/../../b"}),
		"absolute":       both(dataset.ErrMember, `member "/etc/passwd": its name leads out`, a, member{name: "/etc/passwd"}),
		"backslash":      both(dataset.ErrMember, `member "c/..\\..\\b": its name has a backslash`, a, member{name: `c/..\..\b`}),
		"link":           both(dataset.ErrMember, `member "l": it is a link`, a, member{name: "l", text: "/etc", kind: tar.TypeSymlink}),
		"pipe":           both(dataset.ErrMember, `member "p": it is a device`, a, member{name: "p", kind: tar.TypeFifo}),
		"twice":          both(dataset.ErrMember, `member "a": two members have the name "a"`, a, a),
		"file in a file": both(dataset.ErrMember, `member "a/b": two members have the name "a"`, a, member{name: "a/b"}),
		"folder a file":  both(dataset.ErrMember, `member "c": two members have the name "c"`, member{name: "c/b"}, member{name: "c"}),
		"case":           both(dataset.ErrMember, `member "d/É": its name differs from "d/é" in case alone`, member{name: "d/é"}, member{name: "d/É"}),
		"case of folder": both(dataset.ErrMember, `member "D/b": its name differs from "d" in case alone`, member{name: "d/a"}, member{name: "D/b"}),
		"two spellings":  both(dataset.ErrMember, "differs from", member{name: "e\u0301"}, member{name: "\u00e9"}),
		"members":        both(dataset.ErrBound, " members", a, member{name: "1"}, member{name: "2"}, member{name: "3"}, member{name: "4"}),
		"large":          both(dataset.ErrBound, `member "z": it has 4194304 bytes, at most 3145728 are unpacked of one`, a, member{name: "z", text: zeros}),
		"long":           both(dataset.ErrMember, "its path is too long", a, member{name: strings.Repeat("d/", 300) + "x"}),
		"NUL":            {"x.zip": {zipped(t, a, member{name: "n\x00.png"}), dataset.ErrMember, `member "n\x00.png": its name has a NUL`}},
		"hard link":      {"x.tar": {tarred(t, a, member{name: "h", text: "a", kind: tar.TypeLink}), dataset.ErrMember, `member "h": it is a link`}},
		"device":         {"x.tar": {tarred(t, a, member{name: "dev", kind: tar.TypeChar}), dataset.ErrMember, `member "dev": it is a device`}},
		"bomb":           {"x.zip": {zipped(t, member{name: "1", text: zeros[:2<<20]}, member{name: "2", text: zeros[:2<<20]}), dataset.ErrBound, `the archive unpacks to more than 100 times its size: is it a bomb?`}},
		"total":          {"x.tar": {tarred(t, member{name: "1", text: zeros[:3<<20]}, member{name: "2", text: zeros[:3<<20]}), dataset.ErrBound, `member "2": the archive holds more than 5242880 bytes`}},
		"size lies":      {"x.zip": {strings.ReplaceAll(good, "\x70\x17\x00\x00", "\x01\x00\x00\x00"), dataset.ErrBroken, "the archive is broken"}},
		"cut":            {"x.zip": {good[:len(good)-30], dataset.ErrBroken, "x.zip: the archive is broken (zip: not a valid zip file): fetch it again"}, "x.tgz": {packed[:len(packed)-20], dataset.ErrBroken, "the archive is broken (unexpected EOF)"}, "x.tar": {tarred(t, a, member{name: "b", text: zeros[:9000]})[:3000], dataset.ErrBroken, "broken"}},
		"checksum":       {"x.tgz": {packed[:len(packed)-8] + "12345678", dataset.ErrBroken, "x.tgz: the archive is broken (gzip: invalid checksum)"}, "x.zip": {strings.Replace(good, good[39:41], "\xff\xff", 1), dataset.ErrBroken, "broken"}},
		"no archive":     {"x.zip": {"<html>", dataset.ErrBroken, "broken"}, "x.tgz": {"<html>........", dataset.ErrBroken, "broken"}, "x.tar": {strings.Repeat("<html>", 200), dataset.ErrBroken, "broken"}, "x.rar": {"", dataset.ErrFormat, ".zip, .tar, .tar.gz and .tgz are"}},
		"nothing":        {"x.tar": {"", dataset.ErrBroken, "nothing is in it"}},
		"missing":        {"y.zip": {"", fs.ErrNotExist, "z.zip: no such file"}},
	} {
		for name, c := range cases {
			root := folder(t, map[string]string{name: c.data, "to/keep": ""})
			into, err := root.OpenRoot("to")
			if err != nil {
				t.Fatal(err)
			}
			_, err = dataset.Unpack(t.Context(), root, strings.Replace(name, "y", "z", 1), into, "out", dataset.ArchiveBounds{Members: 4, MemberBytes: 3 << 20, TotalBytes: 5 << 20, Ratio: 100})
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: got %v\nwant %v: %s", what, name, err, c.kind, c.want)
			}
			if diff := cmp.Diff(map[string]string{"keep": ""}, read(t, into.Name())); diff != "" {
				t.Errorf("%s, %s: something is left (-want +got):\n%s", what, name, diff)
			}
			if err := into.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

type refusal struct {
	data string
	kind error
	want string
}
