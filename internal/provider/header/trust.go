package header

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// trustAdvice says what helps against a certificate that is not trusted.
const trustAdvice = "if an authority of your own has signed it, or a proxy that opens connections (HTTPS_PROXY), " +
	"name the authority's file in SSL_CERT_FILE or its folder in SSL_CERT_DIR (on macOS and Windows add it to the system's store instead); " +
	"otherwise check base_url and this machine's clock"

// isUntrusted reports whether a connection failed since the server's certificate
// could not be verified: an unknown authority, another name, a date gone by.
// Nothing of that is fixed by waiting.
func isUntrusted(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		roots     x509.SystemRootsError
	)
	return errors.As(err, &verify) || errors.As(err, &authority) || errors.As(err, &name) || errors.As(err, &invalid) || errors.As(err, &roots)
}
