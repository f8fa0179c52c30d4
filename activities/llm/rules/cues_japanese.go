package rules

import (
	"slices"

	"axiommind/schema"
)

func japaneseCues() []cue {
	please := []string{"ください", "下さい", "お願い"}
	return slices.Concat(
		group(cue{kind: decision},
			"ことにした", "ことにしました", "ことに決め", "に決めた", "に決めました", "に決定し", "決定："),
		group(cue{kind: decision, hands: true}, "を使おう", "を使いましょう", "で行こう", "でいきましょう", "を採用しま",
			"を採用する"),
		group(cue{kind: preference, who: user}, "が好きです", "の方が好き", "のほうが好き", "を好みます", "は嫌いです",
			"しないでください", "使わないでください"),
		group(cue{kind: preference, who: user, with: please}, "必ず", "常に", "今後は", "これからは", "絶対に"),
		group(cue{kind: correction, who: user}, "間違っています", "間違いです", "それは違い"),
		group(cue{kind: correction, who: user, place: atStart}, "違います", "いや、", "いいえ、"),
		group(cue{kind: goal, who: user}, "目標は", "を作りたい", "を実現したい"),
		group(cue{kind: task, status: schema.TaskPending, hands: true}, "する必要があります", "する必要がある", "しなければな", "が残っています"),
		group(cue{kind: task, status: schema.TaskPending, title: after}, "やること：", "やること:", "次のステップ："),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: before}, "待ちです", "を待ってい", "でブロックされ",
			"にブロックされ"),
		group(cue{kind: task, status: schema.TaskDone}, "完了しました", "終わりました", "修正しました", "追加しました",
			"実装しました", "更新しました", "作成しました", "解決しました"),
		group(cue{kind: task, status: schema.TaskDone, title: after, place: atStart}, "完了：", "完了:"),
		group(cue{kind: task, status: schema.TaskInProgress}, "作業中です", "対応中です", "進行中です"),
		group(cue{kind: task, status: schema.TaskCancelled}, "キャンセルしました", "キャンセルされ", "中止しました"),
		group(cue{kind: request, who: user, place: atEnd, hands: true, status: schema.TaskPending}, "修正してください",
			"追加してください", "実装してください", "作成してください", "更新してください", "削除してください",
			"調査してください", "確認してください"),
		group(cue{kind: doubt}, "もし", "かもしれ", "たとえば", "例えば", "検討", "でしょうか", "どうです", "ましょうか"),
		group(cue{kind: negation}, "まだ", "ていません", "ていない"),
		group(cue{kind: priority, rank: schema.PriorityHigh}, "至急", "緊急", "最優先"),
	)
}
