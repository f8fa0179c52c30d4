package service

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	const revision = "0123456789abcdef0123456789abcdef01234567"
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.1", Main: debug.Module{Version: version}, Settings: settings}
	}
	at := debug.BuildSetting{Key: "vcs.revision", Value: revision}
	dirty := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3 (go1.26.1)":                                             built("v1.2.3"),
		"v1.2.3 revision 0123456789ab (go1.26.1)":                       built("v1.2.3", at),
		"revision 0123456789ab (go1.26.1)":                              built("(devel)", at),
		"revision 0123456789ab, modified (go1.26.1)":                    built("(devel)", at, dirty),
		"v0.0.0-20260301090000-0123456789ab+dirty, modified (go1.26.1)": built("v0.0.0-20260301090000-0123456789ab+dirty", at, dirty),
		"unknown version (go1.26.1)":                                    built(""),
	} {
		require.Equal(t, want, version(info, ""))
	}
	require.Equal(t, "v1.2.3 (go1.26.1)", version(built("(devel)"), "v1.2.3"))
	require.Equal(t, "v1.2.3 revision 0123456789ab (go1.26.1)", version(built("(devel)", at), "v1.2.3"))
	require.Regexp(t, `^.+ \(go1\..+\)$`, Version())
}
