// Package acceptance holds the tests of what the product promises as a whole: what is
// guaranteed (guarantee_*), and that each setting does what it says (effect_*).
//
// They know the public API, and servers and agents of their own. They know nothing of how
// the promises are kept.
package acceptance
