package python

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"troupe/internal/atomicfile"
	"troupe/sandbox/wasi"
	"troupe/sandbox/wasm"
)

//go:embed boot.py
var bootSource string

//go:embed shims.py
var shimsSource string

// image is a frozen guest: what its memory held when it stood still, and where
// in it the host finds the functions to call.
type image struct {
	SP      uint64 // C stack pointer of runs
	Hot     uint64 // bytes that are not zero
	Total   uint64 // with the relocated stack
	Slot    uint32 // table index of the functions' vectorcall
	Prepare uint32 // addresses of function objects
	Run     uint32
	Harness uint32
	Zero    uint32           // address of the integer 0
	Stride  uint32           // distance to the integer 1
	Open    map[int32]string // the channels' descriptors
	Sums    map[string]string
	memory  []byte
}

// The files of a prepared guest. The first line of the image file is the sha256
// of the rest.
const (
	moduleFile  = "module.wasm"
	libraryFile = "library.tar"
	memoryFile  = "memory"
	imageFile   = "image"
)

// Key names the prepared form of a guest, given the sha256 of its files.
func Key(wasmSum, libSum string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%s\n%d\n%s\n%s", format, wasmSum, libSum, stackPages, bootSource, shimsSource)
	return hex.EncodeToString(h.Sum(nil))[:24]
}

// Prepare rewrites and compiles a guest, starts it, lets it load the usual
// modules, freezes it, and puts what Load needs into dir.
func Prepare(ctx context.Context, wasmPath, libPath, dir, compileCache string) error {
	b, err := os.ReadFile(wasmPath)
	if err != nil {
		return fmt.Errorf("python guest: %w", err)
	}
	rewritten, err := wasm.Rewrite(b, wasm.Options{LiftData: true, ExportStack: true, Fuel: true})
	if err != nil {
		return fmt.Errorf("python guest %s: %w", wasmPath, err)
	}
	library, err := packLibrary(libPath)
	if err != nil {
		return err
	}
	e, err := newEngine(ctx, rewritten.Module, library, compileCache)
	if err != nil {
		return err
	}
	defer e.rt.Close(ctx)
	img, err := e.freeze(ctx, rewritten.Segments)
	if err != nil {
		return err
	}
	return img.write(dir, rewritten.Module, library)
}

// freeze starts the interpreter and takes its picture.
func (e *engine) freeze(ctx context.Context, segments []wasm.Segment) (*image, error) {
	mem, err := newMemory(0)
	if err != nil {
		return nil, err
	}
	for _, s := range segments {
		if uint64(s.Offset)+uint64(len(s.Data)) > uint64(len(mem.space)) {
			return nil, errors.New("python guest: a data segment is out of bounds")
		}
		copy(mem.space[s.Offset:], s.Data)
	}
	m, err := e.instantiate(ctx, mem)
	if err != nil {
		return nil, err
	}
	boot := "_SHIMS = " + strconv.QuoteToASCII(shimsSource) + "\n" + bootSource
	e.sys.Reset(wasi.Config{Args: []string{"python", "-I", "-S", "-B", "-X", "utf8", "-c", boot}, MaxOutput: 1 << 20, Freeze: true})
	m.fuel.Set(1 << 62)
	start := m.mod.ExportedFunction("_start")
	if start == nil {
		return nil, errors.New("python guest: it has no _start")
	}
	if _, err := start.Call(ctx); !errors.Is(err, wasi.ErrFrozen) {
		return nil, fmt.Errorf("python guest: it ended instead of standing still: %w\n%s", err, e.sys.Stderr())
	}
	return m.picture(e.sys.Report())
}

// picture copies a machine that stands still. The C stack moves above what the
// guest has, where it gets room.
func (m *machine) picture(report []byte) (*image, error) {
	img := &image{Sums: map[string]string{}}
	var one uint32
	if _, err := fmt.Sscan(string(report), &img.Prepare, &img.Run, &img.Harness, &img.Zero, &one); err != nil {
		return nil, fmt.Errorf("python guest: its report %q: %w", report, err)
	}
	img.Stride = one - img.Zero
	var err error
	if img.Open, err = m.sys.Descriptors(); err != nil {
		return nil, fmt.Errorf("python guest: %w", err)
	}
	mem := m.mod.Memory()
	// A function object is called by the slot that its type says (CPython 3.11,
	// 32 bits: ob_type at 4, tp_vectorcall_offset at 28 of the type).
	typ, _ := mem.ReadUint32Le(img.Run + 4)
	offset, _ := mem.ReadUint32Le(typ + 28)
	slot, ok := mem.ReadUint32Le(img.Run + offset)
	if !ok || slot == 0 {
		return nil, errors.New("python guest: no vectorcall slot where CPython 3.11 has it")
	}
	img.Slot = slot
	img.Hot = m.mem.size
	img.Total = img.Hot + stackPages*page
	img.SP = img.Total - 64
	img.memory = bytes.Clone(m.mem.space[:img.Hot])
	return img, nil
}

func (img *image) write(dir string, module, library []byte) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("python guest: %w", err)
	}
	return atomicfile.WriteDir(dir, func(tmp string) error {
		for name, b := range map[string][]byte{moduleFile: module, libraryFile: library, memoryFile: img.memory} {
			img.Sums[name] = sum(b)
			if err := os.WriteFile(filepath.Join(tmp, name), b, 0o644); err != nil {
				return err
			}
		}
		b, err := json.MarshalIndent(img, "", "\t")
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(tmp, imageFile), append([]byte(sum(b)+"\n"), b...), 0o644)
	})
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// readImage reads a prepared guest back and checks every byte of it.
func readImage(dir string) (img *image, module, library []byte, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("prepared python guest %s: %w", dir, err)
		}
	}()
	b, err := os.ReadFile(filepath.Join(dir, imageFile))
	if err != nil {
		return nil, nil, nil, err
	}
	head, b, _ := bytes.Cut(b, []byte("\n"))
	if string(head) != sum(b) {
		return nil, nil, nil, fmt.Errorf("%s is damaged", imageFile)
	}
	img = &image{}
	if err := json.Unmarshal(b, img); err != nil {
		return nil, nil, nil, err
	}
	for name, into := range map[string]*[]byte{moduleFile: &module, libraryFile: &library, memoryFile: &img.memory} {
		if *into, err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, nil, nil, err
		}
		if sum(*into) != img.Sums[name] {
			return nil, nil, nil, fmt.Errorf("%s is damaged", name)
		}
	}
	if uint64(len(img.memory)) != img.Hot || img.Total != img.Hot+stackPages*page {
		return nil, nil, nil, errors.New("sizes do not fit")
	}
	return img, module, library, nil
}
