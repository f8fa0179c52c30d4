package text

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestURL(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"https://example.com/a/b?x=1&y=2": {
			"https://example.com/a/b?x=1&y=2", "HTTP://EXAMPLE.com:80/a/b/?y=2&x=1", "https://example.com./a/./c/../b?x=1&y=2#top",
			"https://user@www.example.com:443/a/b?x=1&y=2&utm_source=z",
		},
		"https://xn--mnchen-3ya.de/Stra%C3%9Fe": {"https://münchen.de/Straße", "https://MÜNCHEN.de/Stra%c3%9fe"},
		"https://x.org#/route/1":                {"https://x.org/#/route/1"},
		"https://x.org#/route/2":                {"https://x.org/#/route/2/"},
	} {
		for _, s := range spellings {
			got, ok := URL(s)
			require.True(t, ok, "%q", s)
			require.Equal(t, want, got, "%q", s)
		}
	}
	for _, s := range []string{"", "example.com", "ftp://example.com", "https://", "http://[::1"} {
		got, ok := URL(s)
		require.False(t, ok, "%q", s)
		require.Empty(t, got)
	}
}

func FuzzURL(f *testing.F) {
	for _, s := range []string{"http://A.com:80/x/../y?b=1&a=2#f", "https://münchen.de/ä", "https://[::1]:8443/", "https://x.org/#!/a/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, ok := URL(s)
		if !ok {
			return
		}
		twice, ok := URL(once)
		require.True(t, ok, "%q", once)
		require.Equal(t, once, twice)
	})
}
