package text

// EstimateTokens estimates how many tokens a model counts in the text: one for two Chinese characters, kana or Hangul
// syllables, and one for four other characters, each rounded down.
func EstimateTokens(text string) int {
	cjk, others := 0, 0
	for _, r := range text {
		switch {
		case r >= 0x4E00 && r <= 0x9FFF, r >= 0x3040 && r <= 0x30FF, r >= 0xAC00 && r <= 0xD7A3:
			cjk++
		default:
			others++
		}
	}
	return others/4 + cjk/2
}
