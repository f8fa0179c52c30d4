package evidence

import (
	_ "embed"
	"strings"
)

// wordsEN holds English words and terms of computing of three letters and more, one a line, in order:
// SCOWL up to level 60 by Kevin Atkinson and others, the software terms of Street Side Software, and
// some of our own. words_en.COPYRIGHT has their terms.
//
//go:embed words_en.txt
var wordsEN string

// english reports whether a word of small letters is one that people write in English.
func english(word string) bool {
	low, high := 0, len(wordsEN)
	for low < high {
		start := (low + high) / 2
		for start > low && wordsEN[start-1] != '\n' {
			start--
		}
		end := start + strings.IndexByte(wordsEN[start:], '\n')
		switch c := strings.Compare(word, wordsEN[start:end]); {
		case c == 0:
			return true
		case c < 0:
			high = start
		default:
			low = end + 1
		}
	}
	return false
}

// set makes a set of the words of a text.
func set(text string) map[string]bool {
	words := make(map[string]bool)
	for _, w := range strings.Fields(text) {
		words[w] = true
	}
	return words
}

// runeSet makes a set of the characters of a text, spaces aside.
func runeSet(text string) map[rune]bool {
	runes := make(map[rune]bool)
	for _, r := range text {
		if r != ' ' {
			runes[r] = true
		}
	}
	return runes
}

// denyingWords are words that deny, in the languages people write sessions in.
var denyingWords = set(`
	not no never none nothing nobody nowhere neither nor without hardly barely scarcely except unless lacks lacking
	nicht kein keine keinen keinem keiner keines nie niemals ohne weder noch nichts niemand nein
	ne pas jamais sans aucun aucune rien ni personne
	nunca sin nada ningún ninguna ninguno tampoco jamás nadie
	non mai senza nessuno nessuna niente nulla né
	não sem nem nenhum nenhuma
	niet geen nooit zonder niets niemand
	inte ej aldrig utan ingen inget inga ikke aldri uten
	не нет ни без никогда никто ничего нельзя
	nie bez nigdy nic nikt není bez nikdy
	değil yok hayır asla
	không chưa chẳng đừng tidak bukan jangan tanpa
	لا لم لن ليس ليست غير بدون לא אין בלי
	नहीं मत ना बिना`)

// contracted are contractions with not whose apostrophe was left out.
var contracted = set(`dont doesnt didnt cant couldnt wont wouldnt shouldnt isnt arent wasnt werent hasnt havent hadnt mustnt neednt aint`)

// auxiliary are verbs that a denial follows.
var auxiliary = set(`am is are was were be been do does did has have had will would shall should can could may might must need`)

// denying are characters that deny wherever they stand in Chinese, Japanese and Korean.
var denying = runeSet("不没沒未无無别別非勿莫毋否禁 안못않없 ぬず")

// denyingPhrases are other ways to deny in Korean and Japanese.
var denyingPhrases = []string{
	"아니", "아닌", "아님", "말고", "말아", "말자", "말라", "마세", "마라", "금지",
	"ない", "なく", "なか", "なし", "ませ", "まい",
}

// deniable are what a Chinese denial stands before and denies what follows.
var deniable = runeSet("有会會能要可得必用法是应應该該再许許")

// numerals are characters of spelled numbers in Chinese, Japanese and Korean.
var numerals = runeSet("一二三四五六七八九十百千万萬亿億兆零〇两兩일이삼사오육칠팔구십백천만억조")

// spelled are words that make numbers of several words.
//
//nolint:misspell // French
var spelled = set(`
	one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
	nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion
	uno una dos tres cuatro cinco seis siete ocho nueve diez veinte treinta cuarenta cincuenta sesenta setenta ochenta
	noventa cien ciento mil un deux trois quatre cinq sept huit neuf vingt trente quarante cinquante soixante cent
	mille um dois duas três sete oito nove vinte trinta quarenta cinquenta sessenta oitenta cem zwei drei vier fünf
	hundert tausend два три четыре пять шесть семь восемь девять десять двадцать тридцать сорок пятьдесят сто тысяча`)

// linking are words that link the words of a number, or the ends of a range.
var linking = set(`and or to y e et und bis à ou o oder tot до`)

// bounding are words that bound the number or quantity that follows.
var bounding = set(`
	minus negative almost nearly hardly barely scarcely not least most than under over within below above only half
	fast beinahe mindestens höchstens nur unter über presque environ moins plus casi menos más sólo quase apenas quasi
	почти около только менее более 거의 최소 최대 약`)

// quantities are words for all, some or none of something.
var quantities = set(`
	all every each both everyone everybody everything anyone any none no half most many several
	alle alles jeder jede jedes beide tous toutes tout chaque todos todas todo cada tutti tutte все каждый 모든 모두 전부`)

// turning are words with which another clause begins.
var turning = set(`
	but because so and then while although though if when which who where since whereas however unless until
	aber weil denn und wenn als sondern mais parce donc et quand pero porque y si cuando mas e se quando но и а потому если когда`)

// refusing are words that say of what follows that it is not so, or not done.
var refusing = set(`
	deny denies denied refuse refuses refused reject rejects rejected decline declines declined fail fails failed forbid
	forbids forbidden prevent prevents prevented avoid avoids avoided stop stops stopped doubt doubts doubted false wrong
	untrue unlikely impossible allegedly`)

// excepting are words that take something out of what stands before them.
var excepting = set(`except unless excluding außer sauf salvo excepto кроме`)

// function are words that a number may stand before without counting what they name.
var function = set(`
	the and for from with but you she they was were has have had will would can could should that which who when where
	while than then because after before until since during per via not this these those our your his her its their
	does did been are out off over under into onto through about around also only just now here there again yet`)

// latelyDenying are denials that end the clause they deny.
var latelyDenying = set(`nicht niet değil`)

// koreanTens are Korean words for tens, which others follow without a space.
var koreanTens = set(`열 스물 서른 마흔 쉰 예순 일흔 여든 아흔`)

// halving are Chinese characters that make half or almost of what follows.
var halving = runeSet("半副准")

// units are what a number may count. Another unit is another amount.
var units = set(`
	s ms us ns m min mins h hr hrs d w y sec secs second seconds minute minutes hour hours day days week weeks month
	months year years quarter quarters b kb mb gb tb pb kib mib gib tib k bn mn byte bytes bit bits kbps mbps gbps px em rem pt
	g kg mg t lb lbs oz mm cm km ft in mi ml l v mv w kw mwh kwh hz khz mhz ghz c f x pct percent usd eur krw jpy cny gbp
	metre metres meter meters gram grams gramm kilo kilos kilogram kilograms litre litres liter liters tonne tonnes ton tons mile miles foot feet inch inches percent degree degrees
	dollar dollars cent cents euro euros won yen yuan pound pounds million billion trillion thousand hundred
	킬로 그램 킬로그램 미터 센티 리터 톤 평 도 층 쪽 킬로미터 평방
	초 분 시 시간 일 주 월 년 개월 주일 개 명 번 회 원 달러 배 건 대 퍼센트 만 억 조 천 백 만원 억원
	公斤 克 米 公里 里 升 度 平方米 キロ グラム メートル リットル
	秒 分 分钟 时 小时 天 日 周 月 年 个 次 元 块 万 亿 倍 人 台 件 時間 分間 日間 週間 ヶ月 年間 円 回 個 名 万円 億円`)

// known are words that are near to others in letters and far in meaning. A quote that has one of
// them where its source has another word is no slip.
var known = set(`
	a an and any all are as at be but by can could did do does done down each either end every few fewer first for from
	had has have he her here his how i if in into is it its last late later least left less many may might mine more
	most much must my near new next now of off old on once one only open or our out over own past post pre right same
	shall she short should since so some soon start still stop such than that their them then there these they this
	those though through till to too true under until up upon us use used was we well were what when where which while
	who whom whose why will win with won would yes yet you your
	two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty ninety
	hundred thousand million billion trillion half third fourth fifth sixth seventh eighth ninth tenth second single
	double triple twice zero dozen
	weekday weekdays weekend weekends monday tuesday wednesday thursday friday saturday sunday january february march april june july august september
	october november december jan feb mar apr jun jul aug sep oct nov dec morning evening today tomorrow yesterday
	before after above below high higher low lower large larger small smaller big bigger fast faster slow slower early
	earlier better best worse worst max min maximum minimum greater equal
	enable enabled disable disabled allow allowed deny denied accept accepted reject rejected except grant granted
	revoke public private false add added remove removed create created delete deleted insert push pull read write
	send receive import export include exclude increase decrease increment decrement upgrade downgrade attach detach
	lock unlock locked unlocked open close opened closed success failure pass passed fail failed hit miss buy sell
	lend borrow win lose hot cold cat car dog day night east west north south inner outer input output internal
	external ingress egress encrypt decrypt encode decode compile decompile connect disconnect mount unmount
	load unload subscribe unsubscribe safe unsafe online offline local global staging production development stable
	unstable valid invalid adopt adapt affect effect assure ensure insure complement compliment desert dessert
	formally formerly lose loose moral morale principal principle quiet quite then than weather whether ascending
	до после от из с к в на под над перед через два три пять шесть десять больше меньше
	vor nach mit ein eine zwei drei vier sechs zehn mehr weniger avec avant après plus moins deux trois dix con más menos dos tres
	descending synchronous asynchronous horizontal vertical hourly daily weekly monthly yearly annual primary secondary`)

// meaningfulPrefix are prefixes that turn or shift what a word says.
var meaningfulPrefix = set(`un in im il ir non dis de mis anti counter re pre post over under out up down sub super semi multi inter intra ex co bi tri auto micro macro mega giga kilo milli nano hyper hypo des dé mal miss ent не без небез`)

// meaningfulSuffix are endings that shift what a word says.
var meaningfulSuffix = set(`er est ed ing less ful ly able ible est like proof free ness`)

// opposites are pairs of prefixes that turn a stem round.
var opposites = [][2]string{
	{"in", "de"}, {"in", "ex"}, {"im", "ex"}, {"en", "dis"}, {"en", "de"}, {"as", "des"}, {"as", "dis"}, {"up", "down"}, {"over", "under"},
	{"pre", "post"}, {"hyper", "hypo"}, {"inter", "intra"}, {"in", "out"}, {"in", "e"}, {"im", "e"}, {"ac", "de"}, {"pro", "de"}, {"at", "de"},
	{"max", "min"}, {"maxi", "mini"}, {"micro", "macro"}, {"mega", "giga"}, {"kilo", "mega"}, {"milli", "micro"}, {"milli", "nano"},
	{"sub", "super"}, {"multi", "mono"}, {"con", "dis"},
}

// critical are characters that make another statement when they change: numbers, times, directions,
// opposites, persons.
var critical = runeSet(`
	一二三四五六七八九十百千万萬亿億兆零〇两兩半双雙首末第 年月日时時分秒天周週号號元角円钱
	上下左右前后後内內外里裡东東南西北中大小多少高低长長短新旧舊老快慢早晚先增减減加乘除开開关關启啟停起止
	真假对對错錯好坏壞男女父母买買卖賣进進出入借还還输輸赢升降读讀写寫收发發存取已将將曾正负負必应應可能会會要需
	有是全部最更较較只仅僅都也再又我你您他她它们們这這那此彼甲乙丙丁美英法德韩韓中俄红紅绿綠蓝藍黑白黄公私主从從
	冷热熱强強弱软軟硬轻輕重明暗生死胜勝败敗赞反顺逆松紧紧宽窄深浅厚薄粗细手自同异異静靜动動昼夜日
	한두세네십백천만억조첫더덜만`)

// surnames are common family names in Chinese. A character next to one may be part of a name.
var surnames = runeSet(`王李张張刘劉陈陳杨楊赵趙黄周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎余潘杜戴夏钟鐘汪田任姜范方石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万萬段雷钱錢汤湯尹黎易常武乔喬贺賀赖賴龚龔文`)

// negatingPrefix are Korean syllables that deny or turn the word they begin.
var negatingPrefix = runeSet("미비불무반부역안못노")

// koreanPrefix are Korean syllables that shift the word they begin.
var koreanPrefix = runeSet("재최신구탈초총준과다단선후전")

// koreanStems are beginnings of Korean words that are one syllable away from others.
var koreanStems = set(`
	전에 후에 이전 이후 이번 저번 다음 오전 오후 상위 하위 상승 하락 하강 최대 최소 최고 최저 최신 최초 최후 매일 매주 매월 매년 매시 입력 출력 수신
	송신 발신 입금 출금 내부 외부 국내 국외 주간 야간 월간 연간 일간 전체 일부 유효 무효 유료 무료 공개 동기 초당 분당 시간 분간 오늘 내일 어제
	남자 여자 있다 없다 했다 한다 하다 증가 감소 추가 허용 금지 승인 거부 거절 찬성 반대 시작 종료 중지 성공 실패 가능 먼저 나중 위에 아래 왼쪽 오른
	크다 작다 많다 적다 높다 낮다 사용 미사 선택 필수 읽기 쓰기 참조 삭제 수동 자동 정적 동적 직접 간접 장기 단기 단일 다중 신규 기존 개발 운영`)

// titles follow a name in Korean.
var titles = []string{"님", "씨", "팀장", "과장", "대리", "부장", "차장", "사원", "이사", "대표", "교수", "선생", "박사", "사장", "매니저", "책임", "수석"}

// attachedTitles are joined to a name in Korean and Japanese.
var attachedTitles = []string{"님", "씨", "さん", "様", "氏", "くん", "君", "ちゃん"}

// particles may follow a unit in Korean.
var particles = runeSet("을를이가은는의에도만로과와씩간당내후전까부")
