package dataset

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/seed-f4525e22/skillopt/internal/disk"
)

// ArchiveBounds are what an archive may hold. What is 0 has a default.
type ArchiveBounds struct {
	FileBytes   int64 // of the archive; 64 GiB
	Members     int   // 200,000
	MemberBytes int64 // of one file, unpacked; 4 GiB
	TotalBytes  int64 // of all, unpacked; 64 GiB
	Ratio       int64 // of what is unpacked to the bytes of the archive, above the first MiB; 200
}

func (b ArchiveBounds) withDefaults() ArchiveBounds {
	if b.FileBytes == 0 {
		b.FileBytes = 64 << 30
	}
	if b.Members == 0 {
		b.Members = 200_000
	}
	if b.MemberBytes == 0 {
		b.MemberBytes = 4 << 30
	}
	if b.TotalBytes == 0 {
		b.TotalBytes = 64 << 30
	}
	if b.Ratio == 0 {
		b.Ratio = 200
	}
	return b
}

// Unpacked is what was unpacked from an archive.
type Unpacked struct {
	Files int
	Bytes int64
}

// Unpack unpacks the archive name below root, a .zip, .tar, .tar.gz or .tgz file, into a new
// folder dir below into. All of it is there, or none: it is unpacked into a folder next to dir, which
// is renamed in the end and removed on any error. What a process that was killed has left of
// such a folder is removed by the next that unpacks there; two at a time are the caller's to
// prevent. dir must not be there (ErrThere).
//
// Members are regular files and folders, by relative paths without .. and NUL. Links, devices,
// two members of one name, names that differ in case alone, and what passes a bound are
// refused (ErrMember, ErrBound), and so is what is not whole or whose checksum is wrong
// (ErrBroken). The errors name the archive and the member. Modes and times of members are not
// kept, and entries of a packer's own (extended headers, __MACOSX) are passed over.
func Unpack(ctx context.Context, root *os.Root, name string, into *os.Root, dir string, b ArchiveBounds) (done Unpacked, err error) {
	u := &unpacker{ctx: ctx, name: name, bounds: b.withDefaults(), seen: map[string]string{}, folders: map[string]bool{}, fold: cases.Fold()}
	defer func() { err = u.fault(err) }()
	open, err := opener(name)
	if err != nil {
		return Unpacked{}, err
	}
	if _, err := into.Lstat(dir); err == nil {
		return Unpacked{}, &Error{Msg: fmt.Sprintf("%s is there already: remove it to unpack again", filepath.Join(into.Name(), dir)), Err: errors.Join(ErrThere, fs.ErrExist)}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return Unpacked{}, err
	}
	f, err := disk.OpenIn(ctx, root, name, u.bounds.FileBytes)
	if err != nil {
		return Unpacked{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	u.size = f.Size()
	part := path.Join(path.Dir(dir), "."+path.Base(dir)+".unpacking")
	full := filepath.Join(into.Name(), filepath.FromSlash(part))
	if err := errors.Join(disk.RemoveAll(full), into.MkdirAll(part, 0o755)); err != nil {
		return Unpacked{}, err
	}
	if err := u.unpack(into, part, f, open); err != nil {
		return Unpacked{}, errors.Join(err, disk.RemoveAll(full))
	}
	if err := into.Rename(part, dir); err != nil {
		return Unpacked{}, errors.Join(err, disk.RemoveAll(full))
	}
	return Unpacked{Files: u.files, Bytes: u.total}, nil
}

// opener returns what goes over the members of an archive.
func opener(name string) (func(*unpacker, *disk.File) error, error) {
	switch lower := strings.ToLower(name); {
	case strings.HasSuffix(lower, ".zip"):
		return (*unpacker).zip, nil
	case strings.HasSuffix(lower, ".tar"):
		return func(u *unpacker, f *disk.File) error { return u.tar(f) }, nil
	case strings.HasSuffix(lower, ".tar.gz"), strings.HasSuffix(lower, ".tgz"):
		return (*unpacker).tgz, nil
	}
	return nil, &Error{Msg: "not an archive that is unpacked: .zip, .tar, .tar.gz and .tgz are", Err: ErrFormat}
}

// unpacker is one unpacking.
type unpacker struct {
	ctx    context.Context // of the unpacking, which the caller has begun
	name   string
	bounds ArchiveBounds
	size   int64 // of the archive
	to     *os.Root

	member  string // which is looked at
	members int
	files   int
	total   int64
	seen    map[string]string // names as systems see them that do not distinguish cases
	folders map[string]bool
	fold    cases.Caser
}

func (u *unpacker) unpack(into *os.Root, part string, f *disk.File, open func(*unpacker, *disk.File) error) (err error) {
	if u.to, err = into.OpenRoot(part); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, u.to.Close()) }()
	return open(u, f)
}

func (u *unpacker) fault(err error) error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		out := *own
		out.File, out.Member = u.name, u.member
		return &out
	}
	if u.ctx.Err() != nil {
		return fmt.Errorf("unpack %s: %w", u.name, context.Cause(u.ctx))
	}
	out := &Error{File: u.name, Member: u.member, Msg: disk.Reason(err), Err: err}
	switch {
	case errors.Is(err, disk.ErrTooLarge):
		out.Err = ErrBound
	case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.Is(err, tar.ErrHeader), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), isCorrupt(err):
		out.Msg, out.Err = fmt.Sprintf("the archive is broken (%v): fetch it again", err), errors.Join(ErrBroken, err)
	case errors.Is(err, zip.ErrAlgorithm):
		out.Msg, out.Err = "compressed in a way that is not read: pack it again with deflate", errors.Join(ErrUnsupported, err)
	}
	return out
}

func isCorrupt(err error) bool {
	var corrupt flate.CorruptInputError
	var internal flate.InternalError
	return errors.As(err, &corrupt) || errors.As(err, &internal)
}

func (u *unpacker) bad(kind error, format string, args ...any) error {
	return &Error{Msg: fmt.Sprintf(format, args...), Err: kind}
}

func (u *unpacker) zip(f *disk.File) error {
	archive, err := zip.NewReader(f, f.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are looked at below
		return err
	}
	if len(archive.File) > u.bounds.Members {
		return u.bad(ErrBound, "%d members, at most %d are unpacked", len(archive.File), u.bounds.Members)
	}
	for _, m := range archive.File {
		u.member = m.Name
		if passedOver(m.Name) {
			continue
		}
		if m.Flags&1 != 0 {
			return u.bad(ErrUnsupported, "it is encrypted, which is not read")
		}
		name := m.Name
		if !strings.Contains(name, "/") { // some packers of Windows write these
			name = strings.ReplaceAll(name, `\`, "/")
		}
		if err := u.take(name, m.Mode(), int64(min(m.UncompressedSize64, 1<<62)), func() (io.ReadCloser, error) { return m.Open() }); err != nil {
			return err
		}
	}
	u.member = ""
	return nil
}

func (u *unpacker) tgz(f *disk.File) error {
	in, err := gzip.NewReader(bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		return err
	}
	if err := u.tar(in); err != nil {
		return err
	}
	_, err = io.CopyN(io.Discard, in, 1<<20) // the checksum is at the end
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		return u.bad(ErrBroken, "more than a MiB comes after the end of the archive")
	}
	return err
}

func (u *unpacker) tar(in io.Reader) error {
	r := tar.NewReader(in)
	for {
		u.member = ""
		if u.ctx.Err() != nil {
			return context.Cause(u.ctx)
		}
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			if u.members == 0 {
				return u.bad(ErrBroken, "nothing is in it")
			}
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return err
		}
		u.member = m.Name
		if m.Typeflag == tar.TypeXGlobalHeader || passedOver(m.Name) {
			continue
		}
		mode := m.FileInfo().Mode()
		switch m.Typeflag {
		case tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeGNUSparse:
		case tar.TypeLink:
			mode |= fs.ModeSymlink
		default:
			mode |= fs.ModeIrregular
		}
		if err := u.take(m.Name, mode, m.Size, func() (io.ReadCloser, error) { return io.NopCloser(r), nil }); err != nil {
			return err
		}
	}
}

// passedOver reports whether a member is the packer's own.
func passedOver(name string) bool {
	return strings.HasPrefix(name, "__MACOSX/") || path.Base(name) == ".DS_Store"
}

// take writes one member.
func (u *unpacker) take(name string, mode fs.FileMode, size int64, open func() (io.ReadCloser, error)) (err error) {
	if u.members++; u.members > u.bounds.Members {
		return u.bad(ErrBound, "more than %d members", u.bounds.Members)
	}
	clean, err := u.cleanPath(name, mode)
	if err != nil {
		return err
	}
	if mode.IsDir() {
		return u.mkdir(clean)
	}
	if size > u.bounds.MemberBytes {
		return u.bad(ErrBound, "it has %d bytes, at most %d are unpacked of one", size, u.bounds.MemberBytes)
	}
	if err := u.mkdir(path.Dir(clean)); err != nil {
		return err
	}
	in, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := u.to.OpenFile(clean, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(&bounded{u: u, out: out}, &interruptible{ctx: u.ctx, in: in})
	u.files++
	return errors.Join(err, out.Close())
}

// cleanPath returns the path of a member, if it may have it.
func (u *unpacker) cleanPath(name string, mode fs.FileMode) (string, error) {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "", u.bad(ErrMember, "it is a link; only files and folders are unpacked")
	case !mode.IsDir() && !mode.IsRegular():
		return "", u.bad(ErrMember, "it is a device or another special file; only files and folders are unpacked")
	case strings.ContainsRune(name, 0):
		return "", u.bad(ErrMember, "its name has a NUL in it")
	case strings.Contains(name, `\`):
		return "", u.bad(ErrMember, "its name has a backslash in it, which is a folder's end on some systems")
	}
	clean := path.Clean(name)
	for strings.HasPrefix(name, "./") {
		name = name[2:]
	}
	name = strings.TrimSuffix(name, "/")
	switch {
	case clean == "." && mode.IsDir():
		return clean, nil
	case !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)):
		return "", u.bad(ErrMember, "its name leads out of the archive, or is none: absolute paths, .. and empty names are not unpacked")
	case len(name) > 1000 || strings.Count(name, "/") >= disk.MaxDepth:
		return "", u.bad(ErrMember, "its path is too long")
	}
	return name, u.unique(name, mode.IsDir())
}

// unique refuses what is there already, also on systems that do not distinguish cases.
func (u *unpacker) unique(name string, folder bool) error {
	for at := name; at != "."; at = path.Dir(at) {
		low := u.fold.String(norm.NFC.String(at))
		first, there := u.seen[low]
		isFolder := folder || at != name
		switch {
		case !there:
			u.seen[low] = at
			u.folders[at] = isFolder
		case first != at:
			return u.bad(ErrMember, "its name differs from %q in case alone: on some systems one would replace the other", first)
		case !isFolder || !u.folders[at]:
			return u.bad(ErrMember, "two members have the name %q", at)
		default:
			return nil // those above have been seen
		}
	}
	return nil
}

func (u *unpacker) mkdir(dir string) error {
	if dir == "." {
		return nil
	}
	return u.to.MkdirAll(dir, 0o755)
}

// bounded writes a member as far as bounds allow.
type bounded struct {
	u    *unpacker
	out  io.Writer
	size int64
}

// free is how much may be unpacked from an archive whatever its size.
const free = 1 << 20

func (b *bounded) Write(p []byte) (int, error) {
	b.size += int64(len(p))
	b.u.total += int64(len(p))
	switch u := b.u; {
	case b.size > u.bounds.MemberBytes:
		return 0, u.bad(ErrBound, "it holds more than %d bytes, which is the most that is unpacked of one", u.bounds.MemberBytes)
	case u.total > u.bounds.TotalBytes:
		return 0, u.bad(ErrBound, "the archive holds more than %d bytes", u.bounds.TotalBytes)
	case u.total > free && (u.total-free)/u.bounds.Ratio > u.size:
		return 0, u.bad(ErrBound, "the archive unpacks to more than %d times its size: is it a bomb?", u.bounds.Ratio)
	}
	return b.out.Write(p)
}

// interruptible ends with the context.
type interruptible struct {
	ctx context.Context
	in  io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	return i.in.Read(p)
}
