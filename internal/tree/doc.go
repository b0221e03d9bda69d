// Package tree writes the files that a commit or a tree of a repository has into a folder, and nothing else of the project.
//
// What is read of a repository are objects, by git itself: `git ls-tree` and `git cat-file
// --batch`, which run no hooks, filters, monitors or text conversions. They get a short list of
// variables, none of the user's settings, no protocol by which anything could be fetched, and a
// deadline. What a repository's own settings say can therefore run nothing and fetch nothing;
// they can at most make git fail, which is reported.
//
// A folder that it has written has no submodules, none of the files that steer agents ([Steers]) or look
// like secrets ([Secret]), and no names that are not safe everywhere. Of [Open] it has no links, of [OpenTree] those that lead to a
// place inside. What is left out is counted.
//
// A [Store] is a repository of its own with the trees that are needed later, and without any commit.
//
// It knows repositories and folders; nothing about sessions, models, tasks or nights.
package tree
