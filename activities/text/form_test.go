package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"axiommind/activities/text"
	"axiommind/activities/text/formtest"
)

// forms are the forms of this package. The form of quotes is in evidence/normal, because it maps back to the quoted text.
func forms() []text.Form {
	return []text.Form{
		{Name: "title", Version: 1, Of: text.Title},
		{Name: "title-words", Version: 1, Of: text.TitleWords},
		{Name: "title-terms", Version: 1, Of: func(title string) string { return strings.Join(text.TitleTerms(title), " ") }},
		{Name: "fact", Version: 1, Of: text.Fact},
		{Name: "caseless", Version: 1, Of: text.Caseless},
		{Name: "terms", Version: 1, Of: text.Terms},
		{Name: "url", Version: 1, Of: func(s string) string { address, _ := text.URL(s); return address }},
	}
}

func TestFormsArePinned(t *testing.T) {
	t.Parallel()
	for _, form := range forms() {
		t.Run(form.Name, func(t *testing.T) {
			t.Parallel()
			formtest.Pin(t, form)
		})
	}
}

// Two forms of one name would have one golden file.
func TestFormsHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, form := range forms() {
		require.False(t, seen[form.Name], "form %q", form.Name)
		require.Positive(t, form.Version, "form %q", form.Name)
		seen[form.Name] = true
	}
}

// anyText draws texts of single characters and of the pieces that forms look at.
func anyText() *rapid.Generator[string] {
	inputs := rapid.SampledFrom(formtest.Inputs())
	telling := rapid.StringOfN(rapid.SampledFrom([]rune("aAÅſßİıΐﬁΣσς.。…!-'\"()[]*_#C+²½① \u00a0\u3000\u0301\u0345\u1fb3\u200b\u200d\u00ad़िᎠꭰᏸᏰ修ー한👨")), 0, 20, -1)
	return rapid.OneOf(rapid.String(), inputs, telling, rapid.Custom(func(t *rapid.T) string {
		return inputs.Draw(t, "first") + telling.Draw(t, "between") + inputs.Draw(t, "last")
	}))
}

// The form of a form is itself, but for those that take a text apart: its words, side by side, are
// another text.
func TestFormsAreStable(t *testing.T) {
	t.Parallel()
	for _, form := range forms() {
		if form.Name == "title-words" || form.Name == "title-terms" || form.Name == "terms" {
			continue
		}
		t.Run(form.Name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				s := anyText().Draw(t, "text")
				once := form.Of(s)
				require.Equal(t, once, form.Of(once), "%+q becomes %+q", s, once)
			})
		})
	}
}

// Canonical equivalence is spelling to every form but that of addresses, whose bytes count.
func TestFormsSeeNoComposition(t *testing.T) {
	t.Parallel()
	for _, form := range forms() {
		if form.Name == "url" {
			continue
		}
		t.Run(form.Name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				s := anyText().Filter(utf8.ValidString).Draw(t, "text")
				require.Equal(t, form.Of(norm.NFC.String(s)), form.Of(norm.NFD.String(s)), "%+q", s)
				require.Equal(t, form.Of(norm.NFC.String(s)), form.Of(s), "%+q", s)
			})
		})
	}
}

// Case is spelling to every form but that of addresses, in whatever way letters have it.
func TestFormsSeeNoCase(t *testing.T) {
	t.Parallel()
	pairs := [][2]string{
		{"Straße", "STRASSE"}, {"ΣΊΣΥΦΟΣ", "Σίσυφος"}, {"Ꭰ", "ꭰ"}, {"Ᏸ", "ᏸ"}, {"Ა", "ა"}, {"ﬀ", "FF"}, {"Ǆ", "ǆ"}, {"Ａ", "ａ"}, {"𞤀", "𞤢"}, {"𐐔", "𐐼"}, {"Ⅷ", "ⅷ"}, {"\u1fb4", "α\u0345\u0301"},
	}
	for _, form := range forms() {
		for _, p := range pairs {
			if form.Name == "url" || form.Name == "fact" && p[0] == "ﬀ" {
				continue
			}
			require.Equal(t, form.Of(p[0]), form.Of(p[1]), "form %q of %q and %q", form.Name, p[0], p[1])
		}
	}
}

// Ignored characters are invisible. The other invisible characters are listed here by their kind.
func TestIgnoredIsHidden(t *testing.T) {
	t.Parallel()
	counts := func(r rune) bool {
		switch {
		case unicode.Is(unicode.Cc, r), unicode.In(r, unicode.Zl, unicode.Zp): // They part words.
		case 0x180b <= r && r <= 0x180f && r != 0x180e: // Variants of Mongolian letters.
		case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // Fillers, which take the place of a letter.
		case r == 0x17b4, r == 0x17b5: // Vowels.
		case 0xfff9 <= r && r <= 0xfffb, 0x1bca0 <= r && r <= 0x1bca3, 0x1d173 <= r && r <= 0x1d17a: // Notes between lines, shorthand, music.
		case r == 0xe0001, 0xe0020 <= r && r <= 0xe007f: // Tags, of which flags are made.
		case r == 0x2065, 0xfff0 <= r && r <= 0xfff8, 0xe0000 <= r && r <= 0xe0fff: // Not assigned.
		default:
			return false
		}
		return true
	}
	for c := range formtest.Characters() {
		r, _ := utf8.DecodeRuneInString(c)
		if text.Ignored(r) {
			require.True(t, text.Hidden(r), "%U", r)
		} else if text.Hidden(r) {
			require.True(t, counts(r), "%U", r)
		}
	}
}

func TestUnspaced(t *testing.T) {
	t.Parallel()
	for _, r := range "我々〇ひカーｻｰㄅꆈกລខမབꦗᬅᥖᦟᨣ\u0e33" {
		require.True(t, text.Unspaced(r), "%q", r)
	}
	for _, r := range "aéжαאعकক한ᄀአᏣ1.。 \u0301" {
		require.False(t, text.Unspaced(r), "%q", r)
	}
	pieces := strings.Map(func(r rune) rune {
		if text.InPieces(r) {
			return r
		}
		return -1
	}, "a我カー한ㄅก བ")
	require.Equal(t, "我カー한ㄅก", pieces, "Tibetan marks its syllables")
}
