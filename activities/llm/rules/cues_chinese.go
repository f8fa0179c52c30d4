package rules

import (
	"slices"

	"axiommind/schema"
)

func chineseCues() []cue {
	contrast := []string{"不是", "而非", "不應該", "不应该", "不该", "不該"}
	pending := cue{kind: task, status: schema.TaskPending, hands: true}
	marked := cue{kind: task, status: schema.TaskPending}
	marked.title = after
	return slices.Concat(
		group(cue{kind: decision},
			"我们决定", "我决定", "决定采用", "决定用", "决定使用", "决定改用", "最终决定", "最终选择", "最终选定",
			"最终确定", "确定使用", "确定采用", "那就用", "我们就用", "咱们就用", "我们采用", "统一使用", "统一用",
			"就这么定", "已敲定", "敲定了", "达成一致", "决定：", "决定:",
			"我們決定", "我決定", "決定採用", "決定用", "決定使用", "決定改用", "最終決定", "最終選擇", "最終選定",
			"確定使用", "確定採用", "我們就用", "我們採用", "統一使用", "統一用", "就這麼定", "達成一致", "決定："),
		group(cue{kind: decision, place: atStart}, "就用", "改用", "就采用", "就採用"),
		group(cue{kind: preference, who: user},
			"我喜欢", "我更喜欢", "我偏好", "我不喜欢", "我讨厌", "我习惯", "我希望你", "请始终", "请总是", "请务必", "请不要",
			"请勿", "以后都", "以后请", "今后请", "永远不要", "千万不要", "别再", "不要再", "记住：", "记住，", "请记住",
			"我喜歡", "我更喜歡", "我不喜歡", "我討厭", "我習慣", "請始終", "請總是", "請務必", "請不要", "請勿", "以後都",
			"以後請", "今後請", "永遠不要", "千萬不要", "別再", "記住：", "記住，", "請記住"),
		group(cue{kind: preference, who: user, with: []string{"就可以", "就行", "即可"}}, "只要"),
		group(cue{kind: correction, who: user}, "以这个为准", "以此为准", "以這個為準", "以此為準",
			"错了", "搞错", "弄错", "理解错", "说错", "更正：", "纠正一下", "錯了", "搞錯", "弄錯", "理解錯", "說錯",
			"糾正一下"),
		group(cue{kind: correction, who: user, place: atStart},
			"不对", "不是的", "不，", "不對", "其实应该", "其實應該", "不是这样", "不是這樣"),
		group(cue{kind: correction, who: user, with: contrast}, "应该是", "應該是", "而是", "應為", "应为"),
		group(cue{kind: void}, "是不是", "错了吗", "錯了嗎", "不对吗", "对不对", "對不對", "不对称", "不對稱"),
		group(cue{kind: goal, who: user},
			"我的目标", "我们的目标", "目标是", "我打算", "我计划", "我们计划",
			"我们打算", "我现在需要", "我正在做", "我的目標", "我們的目標", "目標是", "我打算", "我計劃", "我們計劃",
			"我現在需要", "我正在開發", "我正在开发"),
		group(marked, "待办：", "待办:", "待辦：", "待辦:", "下一步：", "下一步:", "后续任务：", "未完成：", "未完成:"),
		group(pending, "还需要", "還需要", "仍需", "接下来需要", "接下来要", "接下來要", "后续需要", "後續需要", "必须先",
			"必須先", "我们需要", "我們需要", "待完成", "待处理", "待處理", "还没完成", "還沒完成", "尚未完成", "没有完成",
			"沒有完成", "未完成"),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: after},
			"卡在", "阻塞于", "阻塞於", "正在等待", "正在等", "等待确认", "等待確認", "等待审批", "等待審批", "等待回复",
			"等待回覆", "在等待", "等待用户", "等待用戶", "依赖于先", "需要等", "需要先等"),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: before},
			"阻塞了", "完成后才能", "完成後才能", "之后才能", "之後才能"),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: none}, "被阻塞", "被卡住"),
		group(cue{kind: void}, "不需要等", "无需等待", "無需等待", "等待时间", "等待時間"),
		chineseReports(),
		chineseRequests(),
		group(cue{kind: doubt},
			"如果", "要是", "假如", "要不要", "是否", "可以考虑", "可考虑", "建议", "或许", "也许", "可能", "比如", "例如",
			"要么", "还是说", "可以考慮", "建議", "或許", "也許", "要麼", "還是說", "能不能", "可不可以", "的话，", "的話，"),
		group(cue{kind: negation}, "没", "沒", "未", "尚未", "还没", "還沒", "不", "别", "別", "无法", "無法"),
		group(cue{kind: priority, rank: schema.PriorityHigh}, "紧急", "緊急", "尽快", "儘快", "盡快", "高优先级", "高優先級",
			"优先处理", "優先處理"),
		group(cue{kind: priority, rank: schema.PriorityLow}, "低优先级", "低優先級", "不着急", "不著急", "不急"),
		group(cue{kind: void}, "不紧急", "不緊急"),
	)
}

func chineseReports() []cue {
	done := cue{kind: task, status: schema.TaskDone}
	marked, first := done, done
	marked.title, marked.place = after, atStart
	first.who, first.place = assistant, atStart
	return slices.Concat(
		group(done, "已完成", "已经完成", "已經完成", "完成了", "搞定了", "已修复", "已修復", "已经修复", "已經修復", "已实现",
			"已實現", "已添加", "已新增", "已更新", "已经更新", "已經更新", "已部署", "已上线", "已上線", "已合并", "已合併",
			"已创建", "已創建", "已建立", "已解决", "已解決", "做完了", "已提交", "已推送", "已写入", "已寫入"),
		group(marked, "完成：", "完成:", "已完成：", "已完成:"),
		group(first, "修复了", "修復了", "更新了", "实现了", "實現了", "添加了", "创建了", "創建了", "解决了",
			"解決了", "部署了", "删除了", "刪除了", "重构了", "重構了", "优化了", "優化了"),
		group(cue{kind: task, status: schema.TaskInProgress},
			"进行中", "進行中", "正在进行", "正在進行", "正在处理", "正在處理", "正在开发", "正在開發", "正在实现", "正在實現",
			"正在修复", "正在修復", "已经开始", "已經開始"),
		group(cue{kind: task, status: schema.TaskCancelled}, "已取消", "取消了", "不做了", "已作废", "已作廢", "放弃了",
			"放棄了", "不再需要"),
		group(cue{kind: void}, "已完成的", "完成了吗", "完成了嗎", "我正在开发", "我正在開發"),
	)
}

func chineseRequests() []cue {
	ask := cue{kind: request, who: user, place: atStart, hands: true, status: schema.TaskPending}
	verbs := []string{
		"修复", "实现", "添加", "新增", "编写", "写一个", "写个", "创建", "删除", "重构", "优化", "部署", "采集", "审查", "设计",
		"调查", "更新", "迁移", "整理", "分析", "生成", "检查", "定位", "翻译", "汉化", "先查", "先做", "测试一下", "配置", "安装",
		"修復", "實現", "編寫", "寫一個", "寫個", "創建", "建立", "刪除", "重構", "優化", "採集", "審查", "設計", "調查", "遷移",
		"檢查", "安裝",
	}
	cues := group(ask, verbs...)
	for _, lead := range []string{"帮我", "请帮我", "请你", "请", "麻烦你", "麻烦", "幫我", "請幫我", "請你", "請", "麻煩你", "麻煩"} {
		cues = append(cues, group(ask, prefixed(lead, verbs)...)...)
	}
	anywhereAsk := ask
	anywhereAsk.place = anywhere
	for _, lead := range []string{"帮我", "幫我"} {
		cues = append(cues, group(anywhereAsk, prefixed(lead, verbs)...)...)
	}
	return cues
}

func prefixed(prefix string, words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = prefix + w
	}
	return out
}
