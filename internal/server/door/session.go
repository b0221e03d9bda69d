package door

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// sessionLength is how long a session lasts. One that is used is renewed when half of it is
// over.
const sessionLength = 14 * 24 * time.Hour

// NewSecret returns a token, or a key for sessions, of 256 bits.
func NewSecret() string { // crypto/rand ends the program where there is no randomness
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Authorize checks who asks: a program with the token, or a page with a session. The error is a
// *Refusal.
func (d *Door) Authorize(w http.ResponseWriter, r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return &Refusal{Status: http.StatusForbidden, Kind: Forbidden, Message: "a page of another site, or another port, may not ask this server"}
	}
	who, ok := "", false
	if given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		who, ok = "token", d.isToken(given)
	} else if c, err := r.Cookie(d.CookieName()); err == nil {
		var until time.Time
		if who, until, ok = d.session(c.Value); ok && until.Sub(d.now()) < sessionLength/2 {
			d.setCookie(w)
		}
	}
	switch {
	case !ok && !d.callers.lets(address(r), stranger):
		return tooOften()
	case !ok:
		return &Refusal{Status: http.StatusUnauthorized, Kind: Auth, Message: "this needs the token of the server, or a session", Help: "open the link that skillopt serve printed when it started; a program sends the token after # as Authorization: Bearer TOKEN"}
	case !d.callers.lets(who, known):
		return tooOften()
	}
	welcome(r)
	return nil
}

// Changes checks that a request which changes something, or begins a session, comes from a
// page of this server, or from a program. The error is a *Refusal.
func (d *Door) Changes(r *http.Request) error {
	foreign := &Refusal{Status: http.StatusForbidden, Kind: Forbidden, Message: "the request comes from a page of another server"}
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	if origin != "" && !strings.EqualFold(origin, d.scheme+"://"+r.Host) || site != "" && site != "same-origin" {
		return foreign
	}
	if origin == "" && site == "" && r.Header.Get("Authorization") == "" && len(r.Cookies()) > 0 {
		foreign.Message = "the request does not say which page it comes from"
		return foreign
	}
	return nil
}

// Enter answers a page that has the token with a session. The error is a *Refusal.
func (d *Door) Enter(w http.ResponseWriter, r *http.Request, token string) error {
	if !d.callers.lets(address(r), entering) {
		return tooOften()
	}
	if !d.isToken(token) {
		return &Refusal{Status: http.StatusUnauthorized, Kind: Auth, Message: "the token is not that of this server", Help: "each start has another one: open the link that skillopt serve printed last"}
	}
	d.setCookie(w)
	welcome(r)
	return nil
}

func (d *Door) isToken(given string) bool {
	sum := sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(sum[:], d.token[:]) == 1
}

func (d *Door) setCookie(w http.ResponseWriter) {
	until := d.now().Add(sessionLength)
	http.SetCookie(w, &http.Cookie{
		Name: d.CookieName(), Value: d.signValue(d.port + "." + strconv.FormatInt(until.Unix(), 10) + "." + NewSecret()[:22]), Path: "/", Expires: until,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: d.scheme == "https",
	})
}

// signValue returns a value with what only this server can have written after it.
func (d *Door) signValue(value string) string {
	mac := hmac.New(sha256.New, d.key)
	_, _ = mac.Write([]byte("skillopt session 1\n" + value)) // never fails
	return value + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// session reads a cookie that this server has written for this port, and that still holds.
func (d *Door) session(cookie string) (id string, until time.Time, ok bool) {
	parts := strings.Split(cookie, ".")
	if len(cookie) > 200 || len(parts) != 4 {
		return "", until, false
	}
	if !hmac.Equal([]byte(d.signValue(strings.Join(parts[:3], "."))), []byte(cookie)) || parts[0] != d.port {
		return "", until, false
	}
	unix, err := strconv.ParseInt(parts[1], 10, 64)
	until = time.Unix(unix, 0)
	return parts[2], until, err == nil && d.now().Before(until)
}
