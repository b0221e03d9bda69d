// Package harvest reads the sessions of coding agents into the bank: which stores there are, which
// of them have news, which sessions the user allowed, what is left out and why. A session that is
// kept it reads again from its store with what is not kept: digests of what files held.
//
// It knows nothing about the formats of stores, about models, or about what is learned from
// sessions.
package harvest
