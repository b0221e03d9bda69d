package fetch

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Validate says what is wrong with a source as it is written, if anything. Its error is an
// *Error that wraps ErrSource.
func (s Source) Validate() error {
	kinds := 0
	for _, name := range []string{s.HF, s.GitHub, s.URL} {
		if name != "" {
			kinds++
		}
	}
	if kinds != 1 {
		return s.bad("one of hf, github and url is needed, and no two")
	}
	if s.To != "" && (!fs.ValidPath(s.To) || !filepath.IsLocal(filepath.FromSlash(s.To)) || strings.Contains(s.To, `\`)) {
		return s.bad("to: %q is no folder below that of the data", s.To)
	}
	switch {
	case s.HF != "":
		return s.validHF()
	case s.GitHub != "":
		return s.validGitHub()
	}
	return s.validURL()
}

// named is how owners, data sets and repositories are called.
var named = pattern.New(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9._-]+$`)

func (s Source) validHF() error {
	pattern := s.pattern()
	switch err := disk.ValidPattern(pattern); {
	case s.Tag != "" || s.Asset != "" || s.SHA256 != "":
		return s.bad("hf has revision, files and to, and none of tag, asset and sha256")
	case !named.MatchString(s.HF) || strings.Contains(s.HF, ".."):
		return s.bad("hf: owner/name of a data set is needed")
	case !isHex(s.Revision, 40):
		return s.bad("revision: the 40 hex digits of a commit are needed, so that the data stay what they are; https://huggingface.co/datasets/%s/commits/main lists them", s.HF)
	case err != nil:
		return s.bad("files: %q: %v", pattern, err)
	}
	return nil
}

func (s Source) pattern() string {
	if s.Files == "" {
		return "**"
	}
	return s.Files
}

func (s Source) validGitHub() error {
	switch err := disk.ValidPattern(s.Asset); {
	case s.Revision != "" || s.Files != "":
		return s.bad("github has tag, asset, sha256 and to, and neither revision nor files")
	case !named.MatchString(s.GitHub) || strings.Contains(s.GitHub, ".."):
		return s.bad("github: owner/name of a repository is needed")
	case s.Tag == "" || s.Asset == "":
		return s.bad("tag and asset say which file of which release: both are needed")
	case err != nil || strings.Contains(s.Asset, "/"):
		return s.bad("asset: %q is no name of a file, and no pattern of such names", s.Asset)
	case s.SHA256 != "" && (!isHex(s.SHA256, 64) || strings.ContainsAny(s.Asset, "*?[")):
		return s.bad("sha256: 64 hex digits, of one asset that is named")
	}
	return nil
}

func (s Source) validURL() error {
	u, err := url.Parse(s.URL)
	switch {
	case s.Tag != "" || s.Asset != "" || s.Revision != "" || s.Files != "":
		return s.bad("url has sha256 and to, and none of tag, asset, revision and files")
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil:
		return s.bad("url: an address https://host/path without a user is needed")
	case s.SHA256 != "" && !isHex(s.SHA256, 64):
		return s.bad("sha256: 64 hex digits are needed")
	}
	if name := path.Base(u.Path); name == "/" || name == "." {
		return s.bad("url: its path ends in no name of a file")
	}
	return nil
}

func (s Source) bad(format string, args ...any) error {
	return &Error{Origin: s.String(), Msg: fmt.Sprintf(format, args...), Err: ErrSource}
}

// String names the source as errors do.
func (s Source) String() string {
	switch {
	case s.HF != "":
		return "hf:" + s.HF + "@" + s.Revision
	case s.GitHub != "":
		return "github:" + s.GitHub + "@" + s.Tag
	}
	return plainURL(s.URL)
}

// plainURL returns an address without what may be secret in it.
func plainURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "an address that is none"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, "0123456789abcdef") == ""
}

// partSuffix ends the name of a file that is not whole yet.
const partSuffix = ".part"

// place returns where a file of a source goes, whose name comes from a server.
func (s Source) place(name string) (string, error) {
	at := path.Join(s.To, name)
	bad := func(why string) (string, error) {
		return "", &Error{Origin: s.String(), Msg: fmt.Sprintf("a file named %q: %s", name, why), Err: ErrAnswer}
	}
	switch {
	case !fs.ValidPath(name) || name == "." || !filepath.IsLocal(filepath.FromSlash(at)) || strings.ContainsAny(name, "\\\x00:"):
		return bad("its name leads elsewhere, or is none on some systems")
	case strings.HasSuffix(at, partSuffix) || strings.HasSuffix(at, tagSuffix) || at == LockName || at == inUse:
		return bad("the name is kept for what the fetch itself writes; give another folder with to")
	}
	return at, nil
}
