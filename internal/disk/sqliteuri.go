package disk

import (
	"net/url"
	"path/filepath"
	"strings"
)

// This file names SQLite files as the driver wants them named.

// SQLiteURI returns the URI of the file at path, which may hold any characters and, on Windows,
// begin with a drive. query is what follows it, such as "?mode=ro"; it is not escaped.
func SQLiteURI(path, query string) string {
	p := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(p, "/") {
		p = "/" + p // file:///C:/run.db
	}
	return "file:" + (&url.URL{Path: p}).EscapedPath() + query
}
