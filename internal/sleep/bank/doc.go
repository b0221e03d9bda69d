// Package bank is what is kept of sessions between nights: one SQLite file with one writer.
//
// It knows nothing about models, nor about the formats in which agents write sessions.
package bank
