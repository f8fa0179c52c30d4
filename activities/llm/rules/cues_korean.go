package rules

import (
	"slices"

	"axiommind/schema"
)

func koreanCues() []cue {
	polite := []string{"줘", "주세요", "하세요", "해라", "써", "합시다", "바랍니다", "부탁"}
	return slices.Concat(
		group(cue{kind: decision},
			"기로 했", "기로 결정", "기로 하자", "기로 합의", "결정했", "결정하였", "결정됐", "결정되었", "로 정했", "확정했",
			"채택했", "채택하기로", "로 가자", "로 갑시다", "사용하자", "사용합시다", "를 쓰자", "을 쓰자", "를 씁시다",
			"을 씁시다", "로 바꾸자", "로 하자", "로 합시다", "로 진행하자", "결정:", "결정 사항:", "결정사항:"),
		group(cue{kind: preference, who: user},
			"선호해", "선호합니다", "선호하는", "를 좋아해", "을 좋아해", "를 좋아합니다", "을 좋아합니다", "싫어해", "싫어합니다",
			"싫습니다", "하지 마", "하지 말아", "쓰지 마", "쓰지 말", "앞으로는"),
		group(cue{kind: preference, who: user, with: polite}, "항상", "절대", "언제나", "매번", "앞으로"),
		group(cue{kind: correction, who: user},
			"그게 아니라", "틀렸", "잘못됐", "잘못되었", "이 아니라", "가 아니라", "잘못 이해", "정정:", "정정합니다"),
		group(cue{kind: correction, who: user, place: atStart}, "아니,", "아니요", "아니야", "아니에요", "아뇨"),
		group(cue{kind: goal, who: user},
			"목표는", "목표:", "만들려고", "개발하려고"),
		group(cue{kind: task, status: schema.TaskPending, title: after}, "할 일:", "할일:", "다음 단계:", "남은 작업:"),
		group(cue{kind: task, status: schema.TaskPending, hands: true},
			"해야 합니다", "해야 해", "해야 한다", "해야 돼", "해야 됩니다", "해야 함", "해야 할", "할 필요가 있"),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: before},
			"때문에 막", "를 기다리", "을 기다리", "대기 중", "대기중", "에 막혀", "에 막혔"),
		group(cue{kind: task, status: schema.TaskBlocked, blocker: none}, "막혀 있", "막혔", "차단되", "차단됐"),
		group(cue{kind: task, status: schema.TaskDone, title: after, place: atStart}, "완료:"),
		group(cue{kind: task, status: schema.TaskDone},
			"완료했", "완료됐", "완료되었", "완료하였", "완료함", "끝냈", "끝났", "마쳤", "마무리했", "해결했", "수정했",
			"추가했", "구현했", "배포했", "고쳤"),
		group(cue{kind: task, status: schema.TaskInProgress},
			"진행 중", "진행중", "작업 중", "작업중", "작업을 시작했", "개발을 시작했"),
		group(cue{kind: task, status: schema.TaskCancelled}, "취소했", "취소됐", "취소되었", "취소합니다", "중단했"),
		group(cue{kind: request, who: user, place: atEnd, hands: true, status: schema.TaskPending},
			"해줘", "해 줘", "해주세요", "해 주세요", "만들어줘", "만들어 줘", "만들어주세요", "만들어 주세요", "고쳐줘",
			"고쳐 줘", "고쳐주세요", "고쳐 주세요", "바꿔줘", "바꿔 줘", "바꿔주세요", "지워줘", "부탁해", "부탁해요",
			"부탁드립니다"),
		group(cue{kind: void}, "설명해줘", "설명해 줘", "설명해주세요", "설명해 주세요", "말해줘", "말해 줘", "얘기해줘",
			"이해해 주세요", "확인했", "그만해줘"),
		group(cue{kind: doubt}, "만약", "혹시", "할까", "까요", "어떨까", "아마", "예를 들", "고려해", "라면", "것 같",
			"을지", "할지"),
		group(cue{kind: negation}, "지 않", "지 못", "안 했", "못 했", "아직 안"),
		group(cue{kind: priority, rank: schema.PriorityHigh}, "긴급", "급해", "급합니다", "최우선", "가능한 한 빨리"),
		group(cue{kind: priority, rank: schema.PriorityLow}, "급하지 않", "우선순위 낮", "우선순위는 낮"),
	)
}
