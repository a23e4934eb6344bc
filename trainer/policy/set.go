package policy

import (
	"fmt"
	"path/filepath"
	"strconv"

	"troupe/model"
	"troupe/model/lora"
	"troupe/model/safetensors"
	"troupe/trainer/grpo"
	"troupe/trainer/optim"
)

// Set is a parameter set with its optimizer: either all parameters of a model
// of its own, or an adapter over a model that it shares with other sets.
type Set struct {
	Name    string
	Frozen  bool
	Model   *model.Model
	Adapter *lora.Adapter // nil: the model itself is trained
	Opt     *optim.State[float32]
	Damping grpo.Coherence[float32]
	Calls   int // updates so far, as a learning-rate schedule may count them
}

// NewFull makes a set that trains all parameters of a copy of base.
func NewFull(name string, base *model.Model) (*Set, error) {
	if !base.Trainable() {
		return nil, fmt.Errorf("parameter set %s: the model was loaded frozen", name)
	}
	s := &Set{Name: name, Model: base.Clone()}
	s.Opt = optim.NewState(s.Values())
	return s, nil
}

// NewAdapter makes a set that trains an adapter over base.
func NewAdapter(name string, base *model.Model, a *lora.Adapter) *Set {
	s := &Set{Name: name, Model: base, Adapter: a}
	s.Opt = optim.NewState(s.Values())
	return s
}

// Params lists what the set trains.
func (s *Set) Params() []lora.Param {
	if s.Adapter != nil {
		return s.Adapter.Params()
	}
	return s.Model.Params()
}

// Values are the tensors of Params.
func (s *Set) Values() [][]float32 {
	params := s.Params()
	v := make([][]float32, len(params))
	for i, p := range params {
		v[i] = p.Data
	}
	return v
}

// Refresh takes changed parameters into use.
func (s *Set) Refresh() {
	if s.Adapter != nil {
		s.Adapter.Refresh()
		return
	}
	s.Model.Refresh()
}

const optimizerFile = "optimizer.safetensors"

// Save writes the parameters in a standard layout (a checkpoint folder, or a
// PEFT adapter), and the optimizer beside them.
func (s *Set) Save(dir string) error {
	var err error
	if s.Adapter != nil {
		err = s.Adapter.Save(dir)
	} else {
		err = s.Model.Save(dir, "f32")
	}
	if err != nil {
		return fmt.Errorf("save parameter set %s: %w", s.Name, err)
	}
	var entries []safetensors.Entry
	for i, p := range s.Params() {
		entries = append(entries,
			safetensors.Entry{Name: "m." + p.Name, DType: safetensors.F32, Shape: p.Shape, Data: s.Opt.M[i]},
			safetensors.Entry{Name: "v." + p.Name, DType: safetensors.F32, Shape: p.Shape, Data: s.Opt.V[i]})
		if s.Damping.EMA != nil {
			entries = append(entries, safetensors.Entry{Name: "ema." + p.Name, DType: safetensors.F32, Shape: p.Shape, Data: s.Damping.EMA[i]})
		}
	}
	meta := map[string]string{"step": strconv.Itoa(s.Opt.Step), "calls": strconv.Itoa(s.Calls)}
	if err := safetensors.WriteFile(filepath.Join(dir, optimizerFile), meta, entries); err != nil {
		return fmt.Errorf("save optimizer of %s: %w", s.Name, err)
	}
	return nil
}

// Load reads what Save wrote into a set of the same shape.
func (s *Set) Load(dir string) error {
	weights := filepath.Join(dir, safetensors.WeightsFile)
	if s.Adapter != nil {
		weights = filepath.Join(dir, lora.WeightsFile)
	}
	if err := readInto(weights, func(f *safetensors.File) error {
		for _, p := range s.Params() {
			name := p.Name
			if err := f.ReadF32(name, p.Data); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("load parameter set %s: %w", s.Name, err)
	}
	s.Refresh()
	err := readInto(filepath.Join(dir, optimizerFile), func(f *safetensors.File) error {
		for i, p := range s.Params() {
			if err := f.ReadF32("m."+p.Name, s.Opt.M[i]); err != nil {
				return err
			}
			if err := f.ReadF32("v."+p.Name, s.Opt.V[i]); err != nil {
				return err
			}
		}
		if err := s.loadDamping(f); err != nil {
			return err
		}
		var err error
		if s.Opt.Step, err = strconv.Atoi(f.Metadata["step"]); err != nil {
			return err
		}
		s.Calls, err = strconv.Atoi(f.Metadata["calls"])
		return err
	})
	if err != nil {
		return fmt.Errorf("load optimizer of %s: %w", s.Name, err)
	}
	return nil
}

// loadDamping reads the gradient average where one was saved.
func (s *Set) loadDamping(f *safetensors.File) error {
	s.Damping.EMA = nil
	params := s.Params()
	if _, ok := f.Tensor("ema." + params[0].Name); !ok {
		return nil
	}
	ema := make([][]float32, len(params))
	for i, p := range params {
		ema[i] = make([]float32, len(p.Data))
		if err := f.ReadF32("ema."+p.Name, ema[i]); err != nil {
			return err
		}
	}
	s.Damping.EMA = ema
	return nil
}

func readInto(path string, read func(*safetensors.File) error) error {
	f, err := safetensors.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}
