package erase

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"unicode"

	"axiommind/activities/text"
)

// Texts are found again by fingerprints: hashes of runs of letters and digits, encrypted under a key. Other characters
// are ignored. Of neighbouring runs only the one with the smallest hash counts (winnowing: Schleimer, Wilkerson and
// Aiken 2003), so that two texts that share a passage of runLetters+window-1 letters share a fingerprint. With the key,
// a reader of fingerprints could guess a text letter by letter. Therefore no event contains the key, and it is
// destroyed once a check has found nothing: see secrets.go.
const (
	// runLetters is the number of letters and digits in a run, and window the number of neighbouring runs of which one
	// counts.
	runLetters = 24
	window     = 8
	// maxFingerprints bounds the fingerprints of an erasure. Of more, the smallest are kept, which are the same for the same
	// text.
	maxFingerprints = 100_000
)

// fingerprints is a set of fingerprints under a key.
type fingerprints struct {
	// block encrypts the hash of a run, and seed orders the runs of a window.
	block   cipher.Block
	seed    uint64
	all     map[uint64]bool
	sampled bool
}

func newFingerprints(key string) *fingerprints {
	sum := sha256.Sum256([]byte(key))
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		panic(err) // A key of 32 bytes is one of AES.
	}
	p := &fingerprints{block: block, all: map[uint64]bool{}}
	p.seed = p.encrypt(0)
	return p
}

// add adds the fingerprints of a text.
func (p *fingerprints) add(s string) {
	p.each(s, false, func(print uint64) bool {
		p.all[print] = true
		return true
	})
	if len(p.all) > 2*maxFingerprints {
		p.sample()
	}
}

func (p *fingerprints) sample() {
	all := p.sorted()
	p.sampled = true
	for _, print := range all[maxFingerprints:] {
		delete(p.all, print)
	}
}

func (p *fingerprints) sorted() []uint64 {
	all := make([]uint64, 0, len(p.all))
	for print := range p.all {
		all = append(all, print)
	}
	slices.Sort(all)
	return all
}

// bytes returns the set in the form in which it is stored.
func (p *fingerprints) bytes() []byte {
	if len(p.all) > maxFingerprints {
		p.sample()
	}
	var out []byte
	for _, print := range p.sorted() {
		out = binary.BigEndian.AppendUint64(out, print)
	}
	return out
}

func (p *fingerprints) read(data []byte) {
	for ; len(data) >= 8; data = data[8:] {
		p.all[binary.BigEndian.Uint64(data)] = true
	}
}

// in returns the fingerprints of the text that are in the set.
func (p *fingerprints) in(s string) []uint64 { return p.found(s, false) }

// anywhereIn returns the fingerprints of all runs of the text that are in the set, including runs that cross the ends
// of lines: a summary joins lines. Unlike in, it does not depend on the neighbours of a run: the same line may have other fingerprints
// as part of a longer line.
func (p *fingerprints) anywhereIn(s string) []uint64 {
	return p.found(lineEnds.Replace(s), true)
}

// lineEnds joins the lines of a text, which may be JSON.
var lineEnds = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ", `\n`, " ", `\r`, " ", `\t`, " ")

func (p *fingerprints) found(s string, every bool) []uint64 {
	var found []uint64
	p.each(s, every, func(print uint64) bool {
		if p.all[print] {
			found = append(found, print)
		}
		return true
	})
	return found
}

// each calls f with the fingerprints of a text, or with those of every run, until f returns false. A run never crosses
// a line break or a quotation mark, because neighbours in one text or row may be apart in another.
func (p *fingerprints) each(s string, every bool, f func(uint64) bool) {
	for _, letters := range linesOf(s) {
		if len(letters) >= runLetters && !p.eachOf(letters, every, f) {
			return
		}
	}
}

func (p *fingerprints) eachOf(letters []rune, every bool, f func(uint64) bool) bool {
	const base = 1_099_511_628_211 // The prime of FNV.
	top := uint64(1)
	for range runLetters - 1 {
		top *= base
	}
	hash := uint64(0)
	var hashes, runs [window]uint64
	last, lastAt := uint64(0), -1
	for i, letter := range letters {
		if i >= runLetters {
			hash -= uint64(letters[i-runLetters]) * top
		}
		hash = hash*base + uint64(letter)
		n := i - runLetters + 1
		if n < 0 {
			continue
		}
		if every {
			if !f(p.encrypt(hash)) {
				return false
			}
			continue
		}
		hashes[n%window], runs[n%window] = hash, p.order(hash)
		if n < window-1 && i < len(letters)-1 {
			continue
		}
		least, at := runs[n%window], n
		for k := max(0, n-window+1); k <= n; k++ {
			if runs[k%window] < least {
				least, at = runs[k%window], k
			}
		}
		if at != lastAt || least != last {
			last, lastAt = least, at
			if !f(p.encrypt(hashes[at%window])) {
				return false
			}
		}
	}
	return true
}

// order returns the sort key of a run: a permutation of its hash that no stored fingerprint reveals.
func (p *fingerprints) order(x uint64) uint64 {
	x ^= p.seed
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// encrypt returns the fingerprint of a run with the hash.
func (p *fingerprints) encrypt(hash uint64) uint64 {
	var block [aes.BlockSize]byte
	binary.BigEndian.PutUint64(block[:], hash)
	p.block.Encrypt(block[:], block[:])
	return binary.BigEndian.Uint64(block[:])
}

// linesOf returns the letters and digits of each line of a text, without case. JSON escapes are decoded, so that the
// text is also found in JSON that is stored as a text.
func linesOf(s string) [][]rune {
	var lines [][]rune
	var line []rune
	end := func() {
		if len(line) > 0 {
			lines, line = append(lines, line), nil
		}
	}
	for strings.Contains(s, `\\`) { // JSON within JSON.
		s = strings.ReplaceAll(s, `\\`, `\`)
	}
	runes := []rune(text.Caseless(s))
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		if r == '\\' && i+1 < len(runes) {
			i++
			switch r = runes[i]; r {
			case 'n', 'r', 't', '"':
				r = '\n'
			case 'u':
				if i+4 < len(runes) {
					if code, ok := hexOf(runes[i+1 : i+5]); ok {
						r, i = code, i+4
					}
				}
			}
		}
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '"':
			end()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			line = append(line, r)
		}
	}
	end()
	return lines
}

func hexOf(digits []rune) (rune, bool) {
	var code rune
	for _, d := range digits {
		switch {
		case d >= '0' && d <= '9':
			code = code<<4 | (d - '0')
		case d >= 'a' && d <= 'f':
			code = code<<4 | (d - 'a' + 10)
		default:
			return 0, false
		}
	}
	return code, true
}

// containsLetters reports whether the text, which may be JSON within JSON, contains the one to erase. Only letters and
// digits are compared.
func (g *gone) containsLetters(s string) bool {
	query := lettersOf(g.scope.Query)
	return query != "" && strings.Contains(lettersOf(s), query)
}

func lettersOf(s string) string {
	var b strings.Builder
	for _, line := range linesOf(s) {
		b.WriteString(string(line))
	}
	return b.String()
}
