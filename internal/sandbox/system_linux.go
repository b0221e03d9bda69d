package sandbox

import "slices"

// SystemFolders lists the folders that every confined program can read and run:
// those in which a distribution and its administrator install programs. They are
// named one by one, since people keep projects below /opt, /usr/src and the like.
// What is not there is left out.
func SystemFolders() []string { return programFolders() }

func programFolders() []string {
	return slices.Concat([]string{
		"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
		"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libx32", "/usr/libexec",
		"/usr/share", "/usr/include", "/usr/games",
		"/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/lib32", "/usr/local/lib64", "/usr/local/libexec",
		"/usr/local/share", "/usr/local/include", "/usr/local/games",
	}, toolchains(), []string{
		"/nix/store", "/nix/var/nix/profiles", "/gnu/store",
		"/snap/bin", "/snap/core", "/snap/core18", "/snap/core20", "/snap/core22", "/snap/core24",
	})
}

// toolchains lists where the official archives and container images of languages
// put them.
func toolchains() []string {
	return []string{"/usr/local/go", "/usr/local/cargo/bin", "/usr/local/rustup", "/usr/local/julia"}
}

// readable lists the configuration of a system that programs read, and that is
// no secret.
func readable() []string {
	return []string{
		"/etc/alternatives", "/etc/ca-certificates", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem",
		"/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust", "/etc/crypto-policies", "/var/lib/ca-certificates",
		"/etc/hosts", "/etc/host.conf", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/hostname",
		"/etc/services", "/etc/protocols", "/etc/networks", "/etc/passwd", "/etc/group",
		"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload",
		"/etc/localtime", "/etc/timezone", "/etc/locale.alias", "/etc/default/locale", "/etc/os-release", "/etc/lsb-release",
		"/etc/debian_version", "/etc/mime.types", "/etc/magic", "/etc/terminfo", "/etc/fonts", "/etc/gitconfig",
		"/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/inputrc",
	}
}
