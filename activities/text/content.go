package text

import (
	"slices"
	"strings"
)

// Content returns the terms of a text that carry its subject, in their order: those of [Terms] without function words and
// without the character pairs of endings and particles. If nothing else is left, it returns all terms.
func Content(text string) []string {
	all := strings.Fields(Terms(text))
	content := slices.DeleteFunc(slices.Clone(all), func(term string) bool { return emptyWords[term] })
	if len(content) == 0 {
		return all
	}
	return content
}

// emptyWords holds function words, which unrelated texts in one language have in common. It does not contain words
// that have a meaning of their own in another language, such as war, hat, son and comment.
var emptyWords = func() map[string]bool {
	m := map[string]bool{}
	for _, words := range []string{englishWords, germanWords, frenchWords, spanishWords, portugueseWords, italianWords, russianWords} {
		for word := range strings.FieldsSeq(words) {
			m[Stem(word)] = true
		}
	}
	for _, pairs := range []string{koreanPairs, chinesePairs, japanesePairs} {
		for pair := range strings.FieldsSeq(pairs) {
			m[pair] = true
		}
	}
	return m
}()

const (
	englishWords = `can could will would should shall may might must not no yes if then than so too very just also
		all any some more most other such there here now again still ever please
		don't don doesn't doesn didn't didn isn't isn aren't aren wasn't wasn won't won can't couldn't couldn
		wouldn't wouldn shouldn't shouldn haven't haven hasn't hasn hadn't hadn ll ve re m d i'm i'll i've i'd
		you're you'll you've we're we'll we've they're it's that's what's who's how's where's when's let's`
	germanWords = `der das den dem des ein eine einen einem einer eines und oder aber ist sind sein wird werden
		wurde nicht kein keine mit von zu zum zur auf aus bei nach für über unter im ich du er sie wir ihr es
		mich dich sich uns euch mein dein wie wo wann warum welche welcher welches wer noch auch nur schon
		dass wenn als haben habe kann muss soll`
	frenchWords = `le la les un une du des et ou mais est sont être a ont ne pas que qui quoi quand où dans sur
		avec sans par pour ce cette ces mon ma mes ton ta tes sa ses notre votre leur je tu il elle nous vous
		ils elles se y quel quelle quels quelles pourquoi plus très aussi qu'il qu'on c'est n'est j'ai l d qu`
	spanishWords = `el la los las un una unos unas y o pero es son ser está están fue no que qué quién cuál cuándo
		dónde cómo en de del al con sin por para se su sus mi mis tu tus yo él ella nosotros ellos lo les le
		este esta estos estas ese esa muy más también ya hay como cuando`
	portugueseWords = `o os a as um uma uns umas e ou mas é são ser está não que quem qual quando onde em de do da
		dos das no na nos nas ao à com sem por para se seu sua seus suas meu minha eu ele ela nós este
		esta isso muito mais também já há como`
	italianWords = `il lo la i gli le un uno una e o ma è sono essere non che chi quale quando dove come in di del
		della dei delle al alla ai alle da dal dalla con senza per su si suo sua mio mia io lui lei noi loro
		questo questa quello molto più anche già`
	russianWords = `и или но а не на в во с со к ко о об от до из за по под над у для при без что кто где когда как
		почему какой какая какие это этот эта эти тот та те он она оно они мы вы ты я мне нам вам его её их
		ему ей мой твой наш ваш быть есть был была было были уже ещё еще тоже также если чтобы так же ли бы`

	koreanPairs = `니다 습니 입니 합니 됩니 십니 봅니 립니 춥니 줍니 옵니 하는 하고 하다 했다 한다 하기 하지 해서
		해야 하면 하여 하게 했습 었습 았습 겠습 있습 없습 으로 에서 에게 까지 부터 이다 있다 있는 있고 없다 없는
		것이 것은 것을 것도 어요 아요 해요 나요 까요 세요 네요 지요 에요 예요 이에 지만 는데 은데 인데 우리 리는
		리가 저는 나는 제가 내가 그리 리고 그래 래서 그런 이런 저런 이것 그것 저것 무엇 엇을 엇이 어떤 어떻 떻게
		언제 어디 디에 누가 누구 얼마 인가 는가 인지 는지 든지 려고 라고 다고 이고 이나 거나 에는 에도 들이 들은
		들을 들의 이 그 저 것 수 등 및 더 안 못 왜 잘 는다 은다 이는 되는 되고 된다 됐다 되었 었다 았다 였다 않는
		않다 않는다 하지만 그리고 그래서 우리는 우리가 무엇을 무엇이 합니다 했습니다 입니다 있습니다 하나요 인가요`
	chinesePairs = `我们 你们 他们 她们 它们 咱们 们的 我的 你的 他的 她的 什么 么时 时候 怎么 么样 怎样 这个 那个
		这些 那些 这里 那里 哪里 哪个 哪些 为什 如何 可以 没有 一个 一些 一下 一样 是否 不是 就是 还是 但是 因为
		所以 如果 已经 应该 不要 不会 不能 也是 都是 的是 是的 是一 有一 了一 了吗 的吗 是什 在哪 以及 并且 或者
		的 了 吗 呢 吧 是 在 有 和 与 我 你 他 她 它 这 那 不 也 都 就`
	japanesePairs = `です ます でし した まし して てい いる ある ない なく なか かっ った いた って たい から まで より
		ので のに では には とは ても でも にも への との です。 ませ せん こと もの これ それ あれ この その あの どの
		どれ どう どこ いつ だれ なに なぜ ので する され れる られ れま さん たら なら けど だっ しょ ょう すか んで
		ため よう うに いま りま きま しま だい ださ さい くだ の は が を に で と も か`
)
