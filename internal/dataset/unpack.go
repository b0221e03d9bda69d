package dataset

import (
	"context"
	"os"
)

// ArchiveBounds are what an archive may hold. What is 0 has a default.
type ArchiveBounds struct {
	Members     int   // 200,000
	MemberBytes int64 // of one file, unpacked; 4 GiB
	TotalBytes  int64 // of all, unpacked; 64 GiB
	Ratio       int64 // of the bytes unpacked so far to those of the archive read for them, above 1 MiB; 200
}

func (b ArchiveBounds) filled() ArchiveBounds {
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

// Unpacked is what came out of an archive.
type Unpacked struct {
	Files int
	Bytes int64
}

// Unpack unpacks the archive name below root, a .zip, .tar, .tar.gz or .tgz file, into a new
// folder dir below into. All of it is there, or none: it is unpacked into a folder
// beside and renamed. dir must not be there (ErrThere).
//
// Members are regular files and folders, by relative paths without .. and NUL; links, devices,
// two members of one name, names that differ in case alone, and what passes a bound are
// refused (ErrMember, ErrBound), and so is what is not whole or whose checksum is wrong
// (ErrBroken). Modes and times of members are not kept.
func Unpack(ctx context.Context, root *os.Root, name string, into *os.Root, dir string, b ArchiveBounds) (Unpacked, error) {
	return Unpacked{}, &Error{File: name, Err: ErrUnsupported, Msg: "archives are not unpacked yet"}
}
