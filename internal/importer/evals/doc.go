// Package evals makes tasks of what other programs keep to evaluate models with: the
// configurations of promptfoo, the data sets and logs of inspect_ai, the evals of OpenAI,
// rows of Hugging Face, and evals of agent skills.
//
// Import reads below one folder and nothing outside of it, runs none of what it finds, and
// returns an ordinary folder of tasks as data, with a report that names what was taken
// over, what is judged otherwise and what is lost. It writes nothing, and knows nothing about
// runs, models and what the folder is used for.
package evals
