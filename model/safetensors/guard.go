package safetensors

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// guard makes an error of whatever happens to the file while a tensor is read:
// the function it gives is to be deferred. Where a mapped file has become
// shorter, the pages behind its new end can't be read, which would end the
// process, and the rest of its last page reads as zeros, which nobody would
// notice.
func (f *File) guard(tensor string, err *error) func() {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		if r := recover(); r != nil {
			fault, ok := r.(interface {
				runtime.Error
				Addr() uintptr
			})
			if !ok {
				panic(r)
			}
			*err = &Error{File: f.Path, Tensor: tensor, Offset: -1, Fault: fmt.Sprintf("the file can't be read any more: %v", fault)}
		}
		if st, e := f.f.Stat(); e == nil && st.Size() != f.size {
			*err = &Error{File: f.Path, Tensor: tensor, Offset: min(st.Size(), f.size),
				Fault: fmt.Sprintf("the file had %d bytes when it was opened and has %d now", f.size, st.Size())}
		}
	}
}
