package rules

import (
	"slices"

	"axiommind/schema"
)

func chineseCues() []cue {
	contrast := []string{"不是", "而非", "不應該", "不应该", "不该", "不該"}
	return slices.Concat(
		group(cue{kind: decision},
			"我们决定", "我决定", "决定采用", "决定用", "决定使用", "决定改用", "最终决定", "最终选择", "确定使用", "确定采用",
			"那就用", "我们就用", "我们采用", "统一使用", "统一用", "就这么定", "敲定了", "达成一致", "决定：", "决定:",
			"我們決定", "我決定", "決定採用", "決定用", "決定使用", "決定改用", "最終決定", "最終選擇", "確定使用", "確定採用",
			"我們就用", "我們採用", "統一使用", "統一用", "就這麼定", "達成一致", "決定："),
		group(cue{kind: preference, who: schema.RoleUser},
			"我喜欢", "我更喜欢", "我偏好", "我不喜欢", "我希望你", "请始终", "请总是", "请务必", "请不要", "请勿", "以后都",
			"以后请", "今后请", "永远不要", "千万不要", "别再", "不要再", "记住：", "记住，", "请记住",
			"我喜歡", "我更喜歡", "我不喜歡", "請始終", "請總是", "請務必", "請不要", "請勿", "以後都", "以後請", "今後請",
			"永遠不要", "千萬不要", "別再", "記住：", "記住，", "請記住"),
		group(cue{kind: correction, who: schema.RoleUser}, "以这个为准", "以此为准", "以這個為準", "以此為準",
			"错了", "搞错", "弄错", "理解错", "说错", "更正：", "纠正一下", "錯了", "搞錯", "弄錯", "理解錯", "說錯", "糾正一下"),
		group(cue{kind: correction, who: schema.RoleUser, opens: true},
			"不对", "不是的", "不，", "不對", "其实应该", "其實應該", "不是这样", "不是這樣"),
		group(cue{kind: correction, who: schema.RoleUser, with: contrast}, "应该是", "應該是", "而是", "應為", "应为"),
		group(cue{kind: void}, "是不是", "错了吗", "錯了嗎", "不对吗", "对不对", "對不對", "不对称", "不對稱"),
		group(cue{kind: goal, who: schema.RoleUser},
			"我的目标", "我们的目标", "目标是", "我打算", "我计划", "我们计划", "我的目標", "我們的目標", "目標是", "我計劃", "我們計劃"),
		chineseTasks(),
		group(cue{kind: doubt},
			"如果", "要是", "假如", "要不要", "是否", "可以考虑", "可考虑", "建议", "或许", "也许", "可能", "比如", "例如",
			"要么", "还是说", "可以考慮", "建議", "或許", "也許", "要麼", "還是說", "能不能", "可不可以", "的话，", "的話，"),
		group(cue{kind: negation}, "没", "沒", "未", "尚未", "还没", "還沒", "不", "别", "別", "无法", "無法"),
		group(cue{kind: priority, rank: schema.PriorityHigh}, "紧急", "緊急", "尽快", "儘快", "盡快", "高优先级", "高優先級"),
		group(cue{kind: priority, rank: schema.PriorityLow}, "低优先级", "低優先級", "不着急", "不著急", "不急"),
		group(cue{kind: void}, "不紧急", "不緊急"),
	)
}

func chineseTasks() []cue {
	done := cue{kind: task, status: schema.TaskDone}
	return slices.Concat(
		group(cue{kind: task, status: schema.TaskPending, title: after}, "待办：", "待办:", "待辦：", "待辦:", "下一步：", "下一步:",
			"后续任务：", "未完成：", "未完成:"),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: after},
			"卡在", "阻塞于", "阻塞於", "正在等待", "正在等", "等待确认", "等待確認", "等待审批", "等待審批", "等待回复", "等待回覆", "等待用户", "等待用戶", "需要等"),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: before},
			"阻塞了", "完成后才能", "完成後才能", "之后才能", "之後才能"),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: none}, "被阻塞", "被卡住"),
		group(cue{kind: void}, "不需要等", "无需等待", "無需等待", "等待时间", "等待時間"),
		group(done, "已完成", "已经完成", "已經完成", "完成了", "搞定了", "已修复", "已修復", "已经修复", "已經修復", "已实现", "已實現", "已部署", "已上线",
			"已上線", "已合并", "已合併", "已解决", "已解決", "做完了"),
		group(cue{kind: task, status: schema.TaskDone, title: after, opens: true}, "完成：", "完成:", "已完成：", "已完成:"),
		group(cue{kind: task, status: schema.TaskInProgress}, "进行中", "進行中", "正在进行", "正在進行", "正在处理", "正在處理"),
		group(cue{kind: task, status: schema.TaskCancelled}, "已取消", "取消了", "不做了", "已作废", "已作廢", "放弃了", "放棄了", "不再需要"),
		group(cue{kind: void}, "已完成的", "完成了吗", "完成了嗎"),
	)
}

func japaneseCues() []cue {
	please := []string{"ください", "下さい", "お願い"}
	return slices.Concat(
		group(cue{kind: decision},
			"ことにした", "ことにしました", "ことに決め", "に決めた", "に決めました", "に決定し", "決定："),
		group(cue{kind: preference, who: schema.RoleUser}, "が好きです", "の方が好き", "のほうが好き", "を好みます", "は嫌いです",
			"しないでください", "使わないでください"),
		group(cue{kind: preference, who: schema.RoleUser, with: please}, "必ず", "常に", "今後は", "これからは", "絶対に"),
		group(cue{kind: correction, who: schema.RoleUser}, "間違っています", "間違いです", "それは違い"),
		group(cue{kind: correction, who: schema.RoleUser, opens: true}, "違います", "いや、", "いいえ、"),
		group(cue{kind: goal, who: schema.RoleUser}, "目標は"),
		group(cue{kind: task, status: schema.TaskPending, title: after}, "やること：", "やること:", "次のステップ："),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: before}, "待ちです", "を待ってい", "でブロックされ",
			"にブロックされ"),
		group(cue{kind: task, status: schema.TaskDone}, "完了しました", "終わりました", "解決しました"),
		group(cue{kind: task, status: schema.TaskDone, title: after, opens: true}, "完了：", "完了:"),
		group(cue{kind: task, status: schema.TaskInProgress}, "作業中です", "対応中です", "進行中です"),
		group(cue{kind: task, status: schema.TaskCancelled}, "キャンセルしました", "キャンセルされ", "中止しました"),
		group(cue{kind: doubt}, "もし", "かもしれ", "たとえば", "例えば", "検討", "でしょうか", "どうです", "ましょうか"),
		group(cue{kind: negation}, "まだ", "ていません", "ていない"),
		group(cue{kind: priority, rank: schema.PriorityHigh}, "至急", "緊急", "最優先"),
	)
}

func koreanCues() []cue {
	polite := []string{"줘", "주세요", "하세요", "해라", "써", "합시다", "바랍니다", "부탁"}
	return slices.Concat(
		group(cue{kind: decision},
			"기로 했", "기로 결정", "기로 하자", "로 하자", "기로 합의", "결정했", "결정하였", "결정됐", "결정되었", "로 정했", "확정했",
			"채택했", "채택하기로", "결정:", "결정 사항:", "결정사항:"),
		group(cue{kind: preference, who: schema.RoleUser},
			"선호해", "선호합니다", "선호하는", "를 좋아해", "을 좋아해", "를 좋아합니다", "을 좋아합니다", "싫어해", "싫어합니다",
			"하지 마", "하지 말아", "쓰지 마", "쓰지 말", "앞으로는"),
		group(cue{kind: preference, who: schema.RoleUser, with: polite}, "항상", "절대", "언제나", "매번", "앞으로"),
		group(cue{kind: correction, who: schema.RoleUser},
			"그게 아니라", "틀렸", "잘못됐", "잘못되었", "이 아니라", "가 아니라", "잘못 이해", "정정:", "정정합니다"),
		group(cue{kind: correction, who: schema.RoleUser, opens: true}, "아니,", "아니요", "아니야", "아니에요", "아뇨"),
		group(cue{kind: goal, who: schema.RoleUser}, "목표는", "목표:"),
		group(cue{kind: task, status: schema.TaskPending, title: after}, "할 일:", "할일:", "다음 단계:", "남은 작업:"),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: before},
			"때문에 막", "를 기다리", "을 기다리", "대기 중", "대기중", "에 막혀", "에 막혔"),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: none}, "막혀 있", "막혔", "차단되", "차단됐"),
		group(cue{kind: task, status: schema.TaskDone, title: after, opens: true}, "완료:"),
		group(cue{kind: task, status: schema.TaskDone}, "완료했", "완료됐", "완료되었", "완료하였", "끝냈", "끝났", "마쳤", "마무리했", "해결했", "배포했"),
		group(cue{kind: task, status: schema.TaskInProgress}, "진행 중", "진행중", "작업 중", "작업중"),
		group(cue{kind: task, status: schema.TaskCancelled}, "취소했", "취소됐", "취소되었", "취소합니다", "중단했"),
		group(cue{kind: doubt}, "만약", "혹시", "할까", "까요", "어떨까", "아마", "예를 들", "고려해", "라면", "것 같", "을지", "할지"),
		group(cue{kind: negation}, "지 않", "지 못", "안 했", "못 했", "아직 안"),
		group(cue{kind: priority, rank: schema.PriorityHigh}, "긴급", "급해", "급합니다", "최우선", "가능한 한 빨리"),
		group(cue{kind: priority, rank: schema.PriorityLow}, "급하지 않", "우선순위 낮", "우선순위는 낮"),
	)
}
