// Package workspace makes the folder that a task is carried out in again: the files that a commit
// of a project has, and nothing else of the project; and it reports whether the files that a
// session worked on were those of the commit.
//
// What is read of a repository are objects, by git itself: `git ls-tree` and `git cat-file
// --batch`, which run no hooks, filters, monitors or text conversions. They get a short list of
// variables, none of the user's settings, no protocol by which anything could be fetched, and a
// deadline. What a repository's own settings say can therefore run nothing and fetch nothing;
// they can at most make git fail, which is told.
//
// A workspace has no links, no submodules, none of the files that steer agents ([Steers]) or look
// like secrets ([Secret]), and no names that are not safe everywhere. What is left out is counted.
//
// It knows repositories, folders and what transcripts report files; nothing about models, tasks,
// banks or nights.
package workspace
