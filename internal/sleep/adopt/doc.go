// Package adopt writes texts into documents that agents read, and takes them back.
//
// It is the only place from which a project is written to, and it is built like the commit of a database: what is
// to be written is noted first (the intent) with a copy of what there is (the backup), then the documents are
// exchanged one by one, then it is noted that it is done (the receipt). Whatever ends it in between, [Store.Recover]
// finishes or undoes all of it. What somebody else writes into a document meanwhile is never overwritten.
//
// The caller says where a document lies, and finds it again each time ([Finder]); no path is taken from what a
// night, an intent or a receipt says. Intents and receipts are under an HMAC with a key of the user's.
//
// It knows documents, learned regions, transactions and receipts. It knows nothing about models, tasks, nights or
// how a text came about.
package adopt
