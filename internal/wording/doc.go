// Package wording makes texts fit for people and prompts: counted things in words, characters that
// steer a terminal left out or shown, the name that was probably meant, and long texts without
// their middle.
//
// It knows nothing about what the texts say. Its functions are pure and safe for concurrent use.
package wording
