package policy

import (
	"path/filepath"

	"troupe/model/lora"
	"troupe/model/safetensors"
)

// adapterFile is the weights' file of a PEFT adapter.
const adapterFile = "adapter_model.safetensors"

// saveAdapter writes an adapter's weights.
func saveAdapter(a *lora.Adapter, dir string) error {
	var entries []safetensors.Entry
	for _, p := range a.Params() {
		entries = append(entries, safetensors.Entry{Name: p.Name, DType: safetensors.F32, Shape: p.Shape, Data: p.Data})
	}
	return safetensors.WriteFile(filepath.Join(dir, adapterFile), nil, entries)
}
