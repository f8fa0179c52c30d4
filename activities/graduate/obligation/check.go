package obligation

// EntryPiece is the Piece of a [Failure] of the whole entry.
const EntryPiece = -1

// Failure is an obligation that does not hold.
type Failure struct {
	EntryID    string
	Obligation string
	// Piece is the index of the piece of evidence, or [EntryPiece].
	Piece  int
	Reason string
}

// Check is the Go verifier: it returns the obligations that do not hold, those of the entry first, then piece by piece.
func (f Facts) Check() []Failure {
	var out []Failure
	for i := EntryPiece; i < len(f.Pieces); i++ {
		record := f.Entry
		if i != EntryPiece {
			record = f.Pieces[i]
		}
		for _, o := range obligations {
			if o.PerPiece != (i != EntryPiece) {
				continue
			}
			if why := o.failure(record); why != "" {
				out = append(out, Failure{EntryID: f.EntryID, Obligation: o.Name, Piece: i, Reason: o.Says + ": " + why})
			}
		}
	}
	return out
}

var obligations = List()

// failure returns why the obligation does not hold of a record, or "".
func (o Obligation) failure(of Record) string {
	for _, r := range o.Holds {
		if why := r.failure(of); why != "" {
			return why
		}
	}
	return ""
}
