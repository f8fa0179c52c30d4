package evidence

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// statement is a sentence with the replacements that make it say something else.
type statement struct {
	text  string
	swaps [][2]string
}

var statements = []statement{
	{"We decided to enable the nightly backup before the migration starts, and Maria Keller will review the 14 failing checks by Friday.", [][2]string{
		{"enable", "disable"}, {"before", "after"}, {"Maria", "Mario"}, {"Keller", "Kessler"}, {"Friday", "Monday"}, {"will review", "will not review"}, {"decided", "never decided"}, {"nightly", "weekly"}, {"starts", "ends"}, {"Maria Keller", "Tom Keller"}}},
	{"The retry timeout must not exceed 30 seconds, otherwise the gateway in Frankfurt closes the connection without a warning.", [][2]string{
		{"must not", "must"}, {"30 seconds", "30 minutes"}, {"without a", "with a"}, {"Frankfurt", "Frankfort"}, {"closes", "opens"}, {"seconds", "hours"}, {"gateway", "database"}, {"must not", "may not"}}},
	{"The service isn't allowed to write to the orders table, because only Postgres 16.2 holds the authoritative copy of the invoices.", [][2]string{
		{"isn't", "is"}, {"write to", "read"}, {"16.2", "16.3"}, {"16.2", "162"}, {"Postgres", "MySQL"}, {"only", "not only"}, {"orders", "users"}, {"allowed", "disallowed"}, {"isn't allowed", "is allowed"}}},
	{"Average latency decreased from 450 ms to 120 ms after Jonas moved the cache to the eu-west-1 region on 2025-03-14.", [][2]string{
		{"decreased", "increased"}, {"450 ms", "450 s"}, {"120 ms", "120 us"}, {"Jonas", "Jonah"}, {"west", "east"}, {"after", "before"}, {"2025-03-14", "2025-04-14"}, {"03-14", "03-15"}, {"Average", "Maximum"}, {"region", "zone"}}},
	{"Set MAX_RETRIES=5 and verify_tls=true in config.yaml, then call setOwner(account) on https://api.example.com/v2/users once.", [][2]string{
		{"=true", "=false"}, {"=5", "=50"}, {"setOwner", "getOwner"}, {"v2", "v3"}, {"MAX_", "MIN_"}, {"config.yaml", "secret.yaml"}, {"api.example", "app.example"}, {"once", "twice"}, {"=5", ">=5"}, {"users", "user"}}},
	{"Revenue grew by 12.5 % to $1,250,000 in the third quarter, which is the highest value that Acme has reported since 2019.", [][2]string{
		{"12.5", "125"}, {"12.5 %", "12.5"}, {"$1,250,000", "€1,250,000"}, {"third", "fourth"}, {"highest", "lowest"}, {"Acme", "Apex"}, {"grew", "fell"}, {"1,250,000", "1,350,000"}, {"has reported", "has not reported"}, {"quarter", "month"}}},
	{"The report says the temperature fell to -5 degrees and that nobody noticed the alarm until Sergeant Lee arrived at 23:40.", [][2]string{
		{"-5", "5"}, {"nobody", "somebody"}, {"Lee", "Leo"}, {"23:40", "23:10"}, {"fell", "rose"}, {"until", "when"}, {"degrees", "meters"}, {"alarm", "alarms and the sirens"}}},
	{"우리는 다음 배포 전에 데이터베이스 마이그레이션을 완료해야 하며, 김민수 팀장이 3월 15일까지 승인하지 않으면 일정을 연기한다.", [][2]string{
		{"전에", "후에"}, {"김민수", "김민서"}, {"김민수", "이민수"}, {"3월", "4월"}, {"15일", "25일"}, {"않으면", "하면"}, {"승인하지 않으면", "승인하면"}, {"완료해야", "취소해야"}, {"마이그레이션", "백업"}, {"팀장", "사장"}, {"연기한다", "연기하지 않는다"}}},
	{"결제 서버는 초당 1200건의 요청을 처리할 수 있지만, 캐시를 비활성화하면 응답 시간이 30초를 넘어서 사용할 수 없다.", [][2]string{
		{"1200건", "1300건"}, {"1200건", "12000건"}, {"30초", "30분"}, {"비활성화", "활성화"}, {"없다", "있다"}, {"결제", "인증"}, {"있지만", "없지만"}, {"30초", "80초"}, {"초당", "분당"}}},
	{"이번 장애의 원인은 네트워크가 아니라 설정 오류였고, 박지훈 님은 재시도 횟수를 5회로 제한하자고 제안했다.", [][2]string{
		{"아니라", "이고"}, {"박지훈", "박지은"}, {"5회", "6회"}, {"5회", "5배"}, {"제안했다", "반대했다"}, {"설정", "하드웨어"}, {"제안했다", "제안 안 했다"}, {"네트워크", "디스크"}}},
	{"我们决定在上线之前完成数据库迁移，由王小明负责审核，预算不超过三万元，测试环境必须在五月十日前关闭。", [][2]string{
		{"之前", "之后"}, {"王小明", "李小明"}, {"王小明", "王小亮"}, {"不超过", "超过"}, {"三万", "五万"}, {"关闭", "开启"}, {"五月", "六月"}, {"十日", "廿日"}, {"测试", "生产"}, {"必须", "不必"}, {"万元", "亿元"}, {"上线", "下线"}}},
	{"缓存服务没有启用压缩功能，因此每天产生的日志从 450 兆增加到 1200 兆，磁盘在第 3 周就会写满。", [][2]string{
		{"没有启用", "已经启用"}, {"450", "460"}, {"1200", "2200"}, {"增加", "减少"}, {"第 3 周", "第 3 月"}, {"每天", "每年"}, {"没有", "有"}, {"会写", "不会写"}, {"缓存", "支付"}}},
	{"このサーバーは夜間のバックアップを有効にしていないため、田中さんが毎週月曜日に手動で3回実行する必要がある。", [][2]string{
		{"していない", "している"}, {"田中", "山中"}, {"月曜日", "火曜日"}, {"3回", "4回"}, {"有効", "無効"}, {"必要がある", "必要がない"}, {"毎週", "毎月"}, {"夜間", "昼間"}, {"手動", "自動"}}},
	{"Wir haben entschieden, die Schnittstelle nicht vor dem 12. Mai abzuschalten, weil Frau Schneider keine Freigabe für Version 4.7 erteilt hat.", [][2]string{
		{"nicht vor", "vor"}, {"12. Mai", "13. Mai"}, {"keine Freigabe", "eine Freigabe"}, {"Schneider", "Schnelder-Braun"}, {"4.7", "4.1"}, {"Mai", "Juni"}, {"vor dem", "nach dem"}}},
	{"Nous ne pouvons pas migrer les 240 clients avant le 8 juin, car Élodie n'a jamais validé la nouvelle procédure de facturation.", [][2]string{
		{"ne pouvons pas", "pouvons"}, {"240", "420"}, {"avant", "après"}, {"8 juin", "9 juin"}, {"jamais", "déjà"}, {"Élodie", "Mélodie"}, {"juin", "août"}}},
	{"El equipo decidió que no se puede desplegar sin la aprobación de Carlos, y fijó el límite en 75 usuarios por servidor.", [][2]string{
		{"no se puede", "se puede"}, {"sin la", "con la"}, {"Carlos", "Carla"}, {"75", "76"}, {"límite", "mínimo"}, {"usuarios", "gigabytes"}}},
	{"Команда решила не отключать резервное копирование до 15 апреля, потому что Ольга ещё не проверила журнал ошибок.", [][2]string{
		{"не отключать", "отключать"}, {"15", "16"}, {"апреля", "августа"}, {"Ольга", "Елена"}, {"ещё не", "уже"}, {"до 15", "с 15"}}},
	{"if (retries < 3 && !cancelled) { return fetchInvoice(accountId, timeoutMs: 2500) } else { throw new PaymentError(code) }", [][2]string{
		{"< 3", "> 3"}, {"!cancelled", "cancelled"}, {"&&", "||"}, {"2500", "25000"}, {"fetchInvoice", "deleteInvoice"}, {"< 3", "<= 3"}, {"accountId", "customerId"}, {"timeoutMs", "timeoutSec"}}},
	{"| region | requests | errors |\n| eu-central | 18204 | 37 |\n| us-east | 9115 | 4 |\nThe owner of the table is Priya Raman.", [][2]string{
		{"18204", "18240"}, {"37", "73"}, {"us-east", "us-west"}, {"9115", "9116"}, {"Priya", "Prita"}, {"errors", "retries"}, {"Raman", "Roman"}}},
	{"Status of the nightly run: unit tests ✅ integration tests ✅ load tests ❌ and the report went to Priya.", [][2]string{
		{"tests ❌", "tests ✅"}, {"unit tests ✅", "unit tests ❌"}, {"nightly", "weekly"}, {"Priya", "Piotr"}, {"went to", "came from"}}},
	{"Deployments to production are safe on weekdays, unless the error budget of 0.1 percent is exhausted or Dr. Chen objects.", [][2]string{
		{"safe", "unsafe"}, {"weekdays", "weekends"}, {"unless", "if"}, {"0.1", "0.01"}, {"Chen", "Chan"}, {"percent", "promille"}, {"exhausted or", "exhausted and"}, {"are safe", "are not safe"}, {"production", "development"}}},
}

var number = regexp.MustCompile(`\d+`)

// numberSwaps changes each number of a text: another last digit, another first one, one digit more
// and one less.
func numberSwaps(text string) []string {
	var changed []string
	for _, at := range number.FindAllStringIndex(text, -1) {
		n := text[at[0]:at[1]]
		last, _ := strconv.Atoi(n[len(n)-1:])
		first, _ := strconv.Atoi(n[:1])
		variants := []string{
			n[:len(n)-1] + strconv.Itoa((last+1)%10), strconv.Itoa(first%9+1) + n[1:], n + "0",
		}
		if len(n) > 1 {
			variants = append(variants, n[1:], n[:len(n)-1])
		}
		for _, v := range variants {
			changed = append(changed, text[:at[0]]+v+text[at[1]:])
		}
	}
	return changed
}

// nearMisses are quotes that are close to their source and say something else.
func nearMisses(t *testing.T) (misses []schema.Quote, messages []schema.Message) {
	t.Helper()
	for i, s := range statements {
		messages = append(messages, schema.Message{Index: i, Text: "Notes of the session.\n\n" + s.text + "\n\nEnd of notes."})
		add := func(text string) { misses = append(misses, schema.Quote{MessageIndex: i, Quote: text}) }
		for _, swap := range s.swaps {
			require.Contains(t, s.text, swap[0])
			changed := strings.Replace(s.text, swap[0], swap[1], 1)
			add(changed)
			add(strings.ReplaceAll(changed, " ", "\u00a0"))
			add(around(s.text, swap[0], swap[1], 45))
		}
		for _, changed := range numberSwaps(s.text) {
			add(changed)
		}
	}
	return misses, messages
}

// around makes a quote of the surroundings of a replacement, cut at words.
func around(text, from, to string, runes int) string {
	before, after, _ := strings.Cut(text, from)
	return lastWords(before, runes) + to + firstWords(after, runes)
}

func lastWords(s string, n int) string {
	r := []rune(s)
	r = r[max(0, len(r)-n):]
	for i := 0; i < len(r)-1 && len(r) == n; i++ {
		if unicode.IsSpace(r[i]) {
			return string(r[i+1:])
		}
	}
	return string(r)
}

func firstWords(s string, n int) string {
	r := []rune(s)
	r = r[:min(len(r), n)]
	for i := len(r) - 1; i > 0 && len(r) == n; i-- {
		if unicode.IsSpace(r[i]) {
			return string(r[:i])
		}
	}
	return string(r)
}

func TestNearMissesThatChangeMeaningAreNotAligned(t *testing.T) {
	t.Parallel()
	misses, messages := nearMisses(t)
	require.GreaterOrEqual(t, len(misses), 500)
	a := NewAligner(messages, nil)
	near := 0
	for _, q := range misses {
		e := a.Align(q)
		if e.Aligned {
			t.Errorf("accepted by method %q:\n  quote  %s\n  source %s", e.Method, q.Quote, e.Text)
		}
		if e.Reason == schema.ReasonBelowThreshold {
			near++
		}
	}
	t.Logf("%d near-misses, %d of them similar enough but for their meaning or nearly so: none accepted", len(misses), near)
}
