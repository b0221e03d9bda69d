// Package exchange is the form in which the record keeps what was said in the calls inside
// an episode: requests with their messages, definitions of tools and settings, and replies.
//
// An agent sends its whole conversation again with each call. So the messages of a try of
// an episode are numbered in the order in which they are first written, and a call says
// which numbers it was sent (Span). Long texts are returned separately (Form.Texts),
// cut at lines that the text itself chooses. A store that keeps equal texts once then keeps
// what two messages share once. Secrets are taken out first, and what is large is kept
// shortened, with its length and its hash.
//
// It knows requests and replies of models. It knows nothing of where forms are stored, of
// agents, tasks or scores.
package exchange
