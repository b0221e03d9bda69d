package answers

// Of a question, where the index keeps it, for tests that write an index.
var HashOf = hashRequest
