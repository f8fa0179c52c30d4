package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxLog is the size from which on a log is begun anew. The one before is kept.
const maxLog = 256 << 10

// note writes a line to the log of hooks. A hook prints nothing, because what it prints would disturb its agent. A log that
// can't be written is no reason to fail.
func note(path, text string) {
	if path == "" {
		return
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	const most = 1000
	_, _ = fmt.Fprintf(file, "%s %.*q\n", time.Now().UTC().Format(time.RFC3339), most, strings.ToValidUTF8(text, "\uFFFD"))
}
