package formtest

import "slices"

// Inputs returns texts of all kinds of spelling, in all alphabets, each once.
func Inputs() []string {
	return slices.Concat(scripts, cases, compatibility, marks, invisible, titles, names, addresses)
}

// scripts are words of one script each, and of several.
var scripts = []string{
	"Use PostgreSQL for the queue.", "naïve café Ærøskøbing Łódź", "Ελληνικά: Τι έγινε; ΣΟΦΟΣ σοφος", "Привет, МИР! ёлка Ёлка",
	"Հայերեն լեզու։", "ქართული ენა ᲥᲐᲠᲗᲣᲚᲘ", "עִבְרִית שלום?", "العربية: إعادة تشغيل الخادم؟", "می\u200cخواهم", "اردو، زبان۔", "ܣܘܪܝܝܐ", "ދިވެހި", "ߒߞߏ",
	"हिन्दी क्या है? कि की", "ক্ষমা বাংলা।", "ਪੰਜਾਬੀ", "ગુજરાતી", "ଓଡ଼ିଆ", "தமிழ்", "తెలుగు", "ಕನ್ನಡ", "മലയാളം", "සිංහල ක්\u200dෂ",
	"ภาษาไทย น้ำ ไม่ ไม ไม้", "ພາສາລາວ", "ភាសាខ្មែរ។", "မြန်မာဘာသာ။", "བོད་སྐད་ བོད།", "ꦗꦮ ꦕꦫꦏꦤ꧀", "ᬅᬓ᭄ᬱᬭ", "ᥖᥭᥰ ᥖᥬᥳ", "ᦟᦹᧉ ᦎᦷᦑ", "ᨣᩤᩴᨾᩮᩬᩥᨦ",
	"አማርኛ ዝግጅት።", "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ꮳꮃꭹ ꭶꮼꮒꭿꮝꮧ", "Ᏸᏸ", "ᐃᓄᒃᑎᑐᑦ", "ᠮᠣᠩᠭᠣᠯ ᠠ\u180bᠠ", "ⵜⴰⵎⴰⵣⵉⵖⵜ", "𞤀𞤣𞤤𞤢𞤥 𞤢𞤣𞤤𞤢𞤥", "𐐔𐐯𐑅 𐐼𐐯𐑅", "Ꭰꭰ Ꞑꞑ",
	"我们决定使用 Kafka。", "升级到 Go 1.26", "升级到Go 1.26", "「設定」を変更する", "サーバー A を更新", "ｻｰﾊﾞｰＡを更新", "データを保存", "人々 〇 〆切", "ㄅㄆㄇ ㄓㄨˋ", "ꆈꌠꉙ ꆏꉙ",
	"데이터베이스를 쓴다", "\u1112\u1161\u11ab\u1100\u1173\u11af", "한글 ㅎㅋ", "𠮷野家", "葛\U000e0100飾区",
	"使用Redis缓存 und Straße", "Ωmega Ohm Ω kelvin K ångström Å",
}

// cases are letters whose case is more than one letter for another.
var cases = []string{
	"Straße STRASSE strasse ẞ", "İstanbul ISTANBUL ıstanbul istanbul", "i\u0307 İ I\u0307", "ΐ ΐ ΐ", "ᾳ ᾼ ΑΙ αι", "ﬀ ﬁ ﬃ ﬅ ﬓ", "ŉ ǰ Ǆ ǅ ǆ",
	"Σίσυφος ΣΊΣΥΦΟΣ", "\u1e9a ẖ ẗ", "ͅ Ι ι", "ΑΎ\u0345 α\u0345\u0301 α\u0301\u0345", "ϐ ϑ ϕ ϖ ϰ ϱ ϵ",
}

// compatibility are characters that Unicode calls another spelling of others, and some that look so.
var compatibility = []string{
	"ＡＰＩ　ｋｅｙ　１２３", "H₂O H2O", "x² x2 x³", "½ 1/2 1⁄2 ⅔", "① ⑴ ⒈ 1 ㊷", "℃ ℡ № ™ ㎏ ㍻", "e\u0301 é", "\u0301 alone", "a\u0323\u0307 a\u0307\u0323", "¨ ´ ¸ ˜",
	"\u0344 \u0958 \u0f73 \u2adc", "ﷺ ﷽ ﻻ", "ⅷ Ⅷ viii", "𝐁𝐨𝐥𝐝 𝔉𝔯𝔞𝔨 𝒮𝒸𝓇", "Ａ̊ Å", "\uac00 \u1100\u1161", "ｶﾞ ガ が", "\u2126 \u212a \u212b",
}

// marks are punctuation and symbols in many spellings.
var marks = []string{
	"", " ", "!", "?", "...", "…", "!!!", "???", "—", "-", "\"", "''", ".", "。", "*", "**", "( )", "🚀", "+", "#",
	"“Fix” ‘login’ „bug“ «now» ‹then›", "don’t don't don`t donʼt", "a - b", "a – b — c", "a--b --flag ---", "x = -1", "x = - 1", "x = − 1.5",
	"wait… .. .... ⋯ ‥", "«Oui.» ¿Qué? ¡Sí!", "؟ ، ؛ । ॥ ። ၊ ။ ៕", "a,b;c:d", "1,5 1.5 15 1:30", "5% #12 $5 a&b @me", "a/b a\\b a|b", "foo() (foo) [foo] {foo}",
	"C++ C# C .NET F#", "5! = 120", "n ≠ m ≤ k", "50 € £ ¥", "☎ ✓ ★ ♥ ♥\ufe0f", "👩\u200d🚀 👩 🚀", "👍🏽 👍🏿 👍", "👨\u200d👩\u200d👧 👨👩👧", "🇰🇷 🇩🇪", "1\ufe0f\u20e3 #\ufe0f\u20e3",
	"Ship it 🎉🎉", "x🎉y z", "~~old~~ *new* _both_ `code`",
}

// invisible are characters without a glyph, and white space of all kinds.
var invisible = []string{
	"log\u00adin b\u200bug", "\ufeffFix", "a\u2060b\u2061c\u2064d", "a\u200eb\u200fc\u061cd", "a\u202eb\u202cc\u2066d\u2069e", "a\u206ab\u206fc", "a\u034fb\u180ec",
	"ad\u200dmin ad\u200cmin", "\u200d \u200c", "\ufe00\ufe0f\U000e0100", "\u115fa\u3164b\uffa0c", "🏴\U000e0067\U000e0062\U000e007f", "a\U000e0001b", "\u2065 \ufff0 \ufff9a\ufffb",
	"a\u00a0b\u2003c\u202fd\u205fe\u3000f", "a\tb\nc\r\nd\ve\ff\u0085g\u2028h\u2029i", "  two  spaces  ", "NUL\x00 ESC\x1b DEL\x7f C1\u009b", "bytes \xff\xc3 of no text", "\ufffd",
	"\u200b", "\ufdd0 \U0010ffff \ue000",
}

// titles are titles as people and models write them.
var titles = []string{
	"Fix login bug", " fix login bug!", "**Fix login bug**", "- [ ] Fix login bug", "- [x] Fix login bug", "# Fix login bug", "(Fix login bug)", "[Fix] login (bug)", "【Fix login bug】",
	"FIX the LOGIN bug…", "Fix login-bug", "fix_login_bug", "Fix: login, bug", "Fix ‘login’ bug?!", "* [ ] - nested", "((a b))", "__init__", "*ptr", "do_not_merge", "-1", "1. First", "1 bug",
	"Sync a-b c", "Sync a b-c", "phase-1", "x-1 1-x", "2026-03-01", "us-east-1", "the", "the the", "The Thing", "f(x) y", "it's Its",
}

// names are texts that search has to find by their parts.
var names = []string{
	"activities/vector/client.go", "camelCase HTTPServer parseURL", "v1.2.3-rc1+build", "user@example.com", "deploys deploying deployed deploy", "snake_case kebab-case", "don't", "www.example.com:8080/a?b=c",
}

// addresses are URLs of web pages, and texts that look like them.
var addresses = []string{
	"https://example.com/a/b?x=1&y=2", "HTTP://EXAMPLE.com:80/a/b/?y=2&x=1&utm_source=z", "https://user@www.example.com:443/a/./c/../b#top", "https://example.com./#/route/", "https://例え.テスト/日本語?q=값",
	"https://münchen.de/Straße", "https://xn--mnchen-3ya.de/Stra%C3%9Fe", "http://[::1]:8080/", "http://[::1", "ftp://example.com", "https://", "https://a b/", "https://example.com/%61%2Fb?b=2&b=1&a", "https://www./x",
}
