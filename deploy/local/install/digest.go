package install

import (
	"fmt"
	"runtime"
)

// SourceDigest names the contents of directories of this module, without their tests, and the version of Go, in 12
// hexadecimal digits. The module is found from the working directory upwards.
func SourceDigest(paths ...string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", fmt.Errorf("read sources: %w", err)
	}
	source, err := readSources(root, paths...)
	if err != nil {
		return "", fmt.Errorf("read sources: %w", err)
	}
	return digest(append(source, []byte(runtime.Version()))...), nil
}
