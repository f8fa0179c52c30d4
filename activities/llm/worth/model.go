package worth

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
	"sync"
)

//go:embed weights.bin
var stored []byte

// heads are the outputs of the model.
const (
	// headTalk scores a sentence as worth remembering, and headWork a line where an agent works. Both are logits.
	headTalk = iota
	headWork
	// headTypes is the first of the logits of the types, in the order of kinds.
	headTypes
	heads = headTypes + 8
)

// weights are linear in a line's vector. Those of hashed features have 8 bits, of a scale of their own for each head.
type weights struct {
	hashed [heads][]int8
	scales [heads]float32
	forms  [heads][2 * forms]float32
	net    net
}

// weigh returns the logit of a head.
func (w *weights) weigh(head int, v []feature) float64 {
	var hashed, formed float64
	for _, f := range v {
		if f.at < buckets {
			hashed += float64(w.hashed[head][f.at]) * float64(f.value)
		} else {
			formed += float64(w.forms[head][f.at-buckets]) * float64(f.value)
		}
	}
	return hashed*float64(w.scales[head]) + formed
}

// model is the one of the repository.
var model = sync.OnceValue(func() *weights {
	w, err := decode(stored)
	if err != nil {
		panic("worth: weights.bin is damaged: " + err.Error())
	}
	return w
})

// decode reads the weights as [encode] writes them: for each head its scale, the weights of form, and those of hashed
// features, and then the net.
func decode(data []byte) (*weights, error) {
	const size = 4 + 4*2*forms + buckets
	w := &weights{}
	if len(data) != heads*size+binary.Size(w.net) {
		return nil, errors.New("it has another length than the features")
	}
	for head := range heads {
		part := data[head*size:][:size]
		w.scales[head] = math.Float32frombits(binary.LittleEndian.Uint32(part))
		if _, err := binary.Decode(part[4:], binary.LittleEndian, &w.forms[head]); err != nil {
			return nil, err
		}
		w.hashed[head] = make([]int8, buckets)
		if _, err := binary.Decode(part[4+4*2*forms:], binary.LittleEndian, w.hashed[head]); err != nil {
			return nil, err
		}
	}
	_, err := binary.Decode(data[heads*size:], binary.LittleEndian, &w.net)
	return w, err
}
