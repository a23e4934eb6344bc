// Package lora holds low-rank adapters: W·x becomes W·x + s·B·(A·x), with A
// and B small and the base weight W frozen. Adapters are read and written as
// PEFT does.
package lora

// Param is a named float32 tensor that training changes. Models and adapters
// give lists of them, so that an optimizer need not know which it has.
type Param struct {
	Name  string
	Shape []int
	Data  []float32
}
