package study

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"troupe/internal/prng"
	"troupe/model"
)

// Shape is a size of model with the learning rates that suit it.
type Shape struct {
	Name                    string
	Hidden, Layers, Heads   int
	KVHeads, HeadDim, Inner int
	WarmRate, Rate          float64 // learning rates of the warm start and of GRPO
	WarmCap                 int     // most steps of the warm start
}

// Shapes are the three scales, smallest first.
func Shapes() []Shape {
	return []Shape{
		{Name: "tiny-s", Hidden: 48, Layers: 2, Heads: 3, KVHeads: 1, HeadDim: 16, Inner: 96, WarmRate: 4e-3, Rate: 7e-4, WarmCap: 4500},
		{Name: "tiny-m", Hidden: 64, Layers: 3, Heads: 2, KVHeads: 1, HeadDim: 32, Inner: 128, WarmRate: 3e-3, Rate: 5e-4, WarmCap: 4500},
		{Name: "tiny-l", Hidden: 128, Layers: 4, Heads: 4, KVHeads: 2, HeadDim: 32, Inner: 256, WarmRate: 1.5e-3, Rate: 2.5e-4, WarmCap: 4500},
	}
}

// config is the shape as a Qwen3 configuration.
func (s Shape) config() model.Config {
	return model.Config{Type: "qwen3", Hidden: s.Hidden, Inner: s.Inner, Layers: s.Layers, Heads: s.Heads,
		KVHeads: s.KVHeads, HeadDim: s.HeadDim, Vocab: len(vocabulary()), MaxPositions: maxPositions,
		Eps: 1e-6, RopeTheta: 1e3, Tied: true, BOS: -1, EOS: []int32{endOfTurnID}}
}

// fresh draws initial weights: embeddings N(0, .05), projections N(0, 1/in),
// those that write into the residual stream smaller by √(2 layers), norms 1.
func (s Shape) fresh(seed uint64) (*model.Model, error) {
	return model.New(s.config(), func(name string, shape []int, w []float32) {
		rng := prng.Stream(seed, "init", name)
		switch {
		case len(shape) == 1:
			for i := range w {
				w[i] = 1
			}
		case strings.Contains(name, "embed"):
			normal(rng, w, 0.05)
		case strings.Contains(name, "o_proj"), strings.Contains(name, "down_proj"):
			normal(rng, w, 1/math.Sqrt(float64(shape[1]*2*s.Layers)))
		default:
			normal(rng, w, 1/math.Sqrt(float64(shape[1])))
		}
	})
}

func normal(rng *rand.Rand, w []float32, std float64) {
	for i := range w {
		w[i] = float32(rng.NormFloat64() * std)
	}
}

// ShapeNamed finds a scale; an empty name is the smallest.
func ShapeNamed(name string) (Shape, error) {
	var names []string
	for i, s := range Shapes() {
		if s.Name == name || name == "" && i == 0 {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Shape{}, fmt.Errorf("scale %q is none of %s", name, strings.Join(names, ", "))
}
