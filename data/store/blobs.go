package store

import (
	"encoding/binary"
	"fmt"
	"math"
)

func encodeIDs(ids []int32) []byte {
	b := make([]byte, 0, 4*len(ids))
	for _, id := range ids {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	return b
}

// encodeLogProbs gives nil (NULL) for what must not be saved.
func encodeLogProbs(v []float32) any {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		if finite(float64(x)) == nil {
			return nil
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// DecodeIDs reads the token ids of a blob of calls.
func DecodeIDs(b []byte) ([]int32, error) {
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("token ids: %d bytes are no whole number of int32", len(b))
	}
	ids := make([]int32, len(b)/4)
	for i := range ids {
		ids[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return ids, nil
}

// DecodeLogProbs reads the log-probabilities of a blob of calls.
func DecodeLogProbs(b []byte) ([]float32, error) {
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("log-probabilities: %d bytes are no whole number of float32", len(b))
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, nil
}
