// Package deps holds no code, only tests of the tree itself: which package may
// import which (the layers), that third parties stay behind one door each, that
// every package and exported name is documented, and that nothing in the tree
// speaks of one machine.
package deps
