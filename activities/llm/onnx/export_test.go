package onnx

// CountReleased counts the sessions that are released until stop is called. Tests that call it must not run in parallel.
func CountReleased() (count *int, stop func()) {
	l := loaded.library
	release := l.releaseSession
	count = new(int)
	l.releaseSession = func(session pointer) { *count++; release(session) }
	return count, func() { l.releaseSession = release }
}

// DigestOf returns the digest that a version of this package gives the files in dir.
func DigestOf(m *Model, dir string, version int) (string, error) {
	of := *m
	err := of.digest(dir, version)
	return of.Digest, err
}

// FindLibraryIn is findLibrary.
var FindLibraryIn = findLibrary
