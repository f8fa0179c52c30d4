package rules

// The words by which an English clause in the first person is read.
var (
	speakers = set("i i'm i've i'll we we're we've we'll my our")
	owners   = set("my our myself")
	subjects = set("i i'm i've i'll i'd we we're we've we'll it it's he she they you that's there")
	// orders open what the assistant is told to do.
	orders = set("please can could would will imagine let's give tell make write add create generate use reply respond")
	// joins stand before the subject of a clause that is stated.
	joins = set("and but so since because as though although after that which who by the way also actually anyway oh " +
		"hi hey hello well yes no yeah ok okay plus lately recently currently today yesterday speaking however " +
		"honestly now btw then first remember")
	// linking words join clauses of one rank.
	linking      = set("and but so since because")
	coordinating = set("and that which who")
	// supposing words open clauses that are supposed or asked.
	supposing = set("assume assuming if unless whether until once suppose imagine say where how what why would " +
		"could should had")
	// conditions open what is supposed, and with it what follows in the sentence.
	conditions = set("assume assuming if unless suppose supposing imagine")

	adverbs = set("just recently actually also really still currently finally already usually always never often " +
		"sometimes even definitely now only mostly typically generally regularly both all ever since mainly lately " +
		"once personally then originally previously initially so pretty quite very occasionally normally rarely " +
		"basically probably literally absolutely simply")
	habits = set("always usually normally typically generally never often sometimes")

	days = set("tomorrow tonight weekend monday tuesday wednesday thursday friday saturday sunday mondays tuesdays " +
		"wednesdays thursdays fridays saturdays sundays")
	times = set("tomorrow tonight weekend monday tuesday wednesday thursday friday saturday sunday mondays tuesdays " +
		"wednesdays thursdays fridays saturdays sundays january february march april june july august september " +
		"october november december ago yesterday weekly daily monthly yearly week month year years months weeks " +
		"morning evening summer winter spring autumn since recently lately")
	numbers = set("two three four five six seven eight nine ten twice")
	// holding words stand before a number of what the speaker is or has, measures after one of life, and
	// living verbs in a clause whose numbers tell of life.
	holding  = set("i'm we're am are was were turned have had own owned got")
	measures = set("miles mile km kilometers kilometres pounds lbs kg dollars euros steps calories people guests kids " +
		"children cats dogs bedrooms bedroom acres")
	living = set("live lived living move moved moving born buy buying bought owned work worked working study studied " +
		"studying teach taught teaching earn earned earning pay paid paying save saved saving spend spent spending owe " +
		"weigh weighed lose lost gain gained adopt adopted married graduated retired rent rented renting drive drove driving " +
		"travel traveled travelled traveling visit visited visiting attend attended attending volunteer volunteered donated " +
		"raise raised wear wearing eat ate eating drink drinking sleep sleeping wake walk walked walking hike hiked hiking " +
		"cook cooked baked watched grow growing planted ride rode flew swim")
	// ofScreen are things of the speaker's that lie in the talk or on a screen.
	ofScreen = set("code dataset function script file table paragraph answer input text essay prompt program query " +
		"terminal console build test tests")
	// life are relations and conditions that last.
	life = set("wife husband daughter son sister brother mom mother dad father parents kids children grandma " +
		"grandmother grandfather grandpa cousin uncle aunt niece nephew girlfriend boyfriend partner fiance fiancé " +
		"dog cat puppy kitten roommate boss doctor vegetarian vegan allergic diabetic married pregnant")
	// states follow "I am" and "I was" where they say who or where the speaker is.
	states = set("from in at based located allergic vegetarian vegan married single pregnant diabetic born retired " +
		"responsible engaged divorced gluten-free lactose into used")

	// ofMind are verbs of the talk, of thought and of mood: what they tell is over with the talk.
	ofMind = set("think thinking thought know knowing knew guess mean meant say said saying see saw seen understand " +
		"understood wonder wondering wondered hope hoping hoped wish believe believed feel feeling felt agree agreed " +
		"appreciate appreciated ask asking asked hear heard notice noticed realize realized looking look consider " +
		"considering considered curious imagine suppose doubt remember forgot forget assume expect expected find found " +
		"tell told talk talking mention mentioned suggest trust care suspect worry worried refer referring speak recall " +
		"get gets came come seem sound end ended struggle struggling researching hearing want wants need needed let thank " +
		"promise provide provided give gave given giving create created write wrote written copy copied paste pasted " +
		"type typed click clicked send sent receive received interested excited trying craving willing read")
	modals = set("can could would might may should shall can't cannot couldn't wouldn't won't shouldn't didn't do did " +
		"haven't hadn't")
	notVerbs  = set("a an the and or but in on at of for with to from not no it is as if")
	likes     = set("love like prefer hate dislike enjoy loved liked preferred enjoyed adore")
	irregular = set("bought built made done had kept left lost met paid put quit run sold set spent taught won worn " +
		"begun grown flown become gone caught cut led got wanted been")
	pasts        = set("took wore ate drank drove flew went rode chose")
	prepositions = set("to into a an in on at with")
	// staying verbs tell how the speaker lives.
	staying = set("live work teach study drive commute own attend volunteer")

	// pointers stand for what was said before, leaning words for what the sentence before may name.
	pointers  = set("it this that these those them how your you what following him her")
	leaning   = set("it them there her him his one ones budget")
	addressee = set("you your")
	// ofTalk are nouns of the talk itself.
	ofTalk = set("idea ideas suggestion suggestions conversation discussion question questions topic recommendation " +
		"recommendations options tips advice response answer answers prompt sound point research thoughts way")
	// unowned are what people have in the talk, and not at home.
	unowned = set("question questions idea trouble doubt concern concerns problem problems issue issues hard difficult " +
		"feeling no request favor thought thoughts any enough much some many never heard more one following seen " +
		"always given text string list table data dataset")
	// unowning nouns follow "my" in talk of the talk.
	unowning = set("old new question questions point understanding guess mistake bad apologies concern concerns thought " +
		"thoughts opinion problem request prompt next first input text essay story character mind list way code data " +
		"dataset function script file table paragraph answer")
	faint = set("bit little lot newbie beginner question idea few couple")

	// chores are verbs of what the assistant is to help with, common ones verbs that need a time to say
	// anything, undertakings take more than a day.
	chores = set("know understand see ask make ensure be have find hear discuss focus explore clarify share look check " +
		"use mention compare say create write include keep note think incorporate consider generate able confirm " +
		"double-check avoid admit confess improve")
	common       = set("get talk add try give come take go do change start likely")
	undertakings = set("build develop learn become launch found move quit save lose buy retire migrate adopt")
)
