package text_test

import (
	"fmt"

	"axiommind/activities/text"
)

// Characters that could command a terminal or hide on it are escaped.
func ExampleVisible() {
	fmt.Println(text.Visible("a\x1b[2J\u202eb 프로젝트"))
	// Output: a<U+001B>[2J<U+202E>b 프로젝트
}
