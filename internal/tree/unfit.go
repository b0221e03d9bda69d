package tree

import "github.com/seed-f4525e22/skillopt/internal/git"

// Unfit says why a project's commit cannot be made a workspace: it is no failure of this program.
type Unfit = git.Unfit

// ErrNoGit says that git is not installed.
var ErrNoGit = git.ErrNoGit

// Env reads a variable of the environment; "" where it is not set.
type Env = git.Env
