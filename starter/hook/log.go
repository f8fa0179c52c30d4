package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxLog is the size in bytes above which the log is rotated. One old log is kept.
const maxLog = 256 << 10

// note appends a line to the log of hooks. A hook prints no errors, because its output would disturb the agent. It also
// ignores a log that can't be written.
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
