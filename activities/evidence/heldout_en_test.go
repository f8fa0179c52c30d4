package evidence

var heldOutWork = []statement{
	{"The import job reads the casual staff roster from the payroll export and skips every row whose contract form is blank.", [][2]string{
		{"casual", "causal"}, {"roster from", "roster form"}, {"contract form", "contract from"}, {"every row", "no row"}, {"blank", "black"}, {"skips", "ships"}, {"reads", "needs"}}},
	{"Rollback plan: drain prod-3, wait 90 seconds, then point the load balancer at prod-2 and keep the old host for 48 hours.", [][2]string{
		{"prod-3", "prod-8"}, {"90 seconds", "60 seconds"}, {"prod-2", "pred-2"}, {"host", "post"}, {"48 hours", "84 hours"}, {"old host", "cold host"}, {"keep", "kill"}}},
	{"git rebase --onto release/2.8 feature/login-form main~3, then force push only the feature branch.", [][2]string{
		{"release/2.8", "release/2.9"}, {"login-form", "login-from"}, {"main~3", "main~2"}, {"force push", "force pull"}, {"only the", "also the"}, {"rebase", "revert"}}},
	{"fix(parser): reject trailing commas when strict mode is on and count empty fields as null, see #4127", [][2]string{
		{"reject", "accept"}, {"trailing", "leading"}, {"is on", "is off"}, {"as null", "as zero"}, {"#4127", "#4172"}, {"strict", "string"}, {"commas", "commands"}}},
	{"-  timeout: 15s\n+  timeout: 45s\n-  replicas: 2\n+  replicas: 6\n   image: acme/worker:1.19.4", [][2]string{
		{"45s", "54s"}, {"+  replicas: 6", "-  replicas: 6"}, {"15s", "15m"}, {"1.19.4", "1.9.14"}, {"worker:", "walker:"}, {"replicas: 2", "replicas: 3"}}},
	{"SELECT name, total FROM orders WHERE status <> 'paid' AND total > 250 ORDER BY created_at DESC LIMIT 20;", [][2]string{
		{"<> 'paid'", "= 'paid'"}, {"AND total", "OR total"}, {"> 250", "< 250"}, {"DESC", "ASC"}, {"LIMIT 20", "LIMIT 200"}, {"created_at", "updated_at"}, {"'paid'", "'void'"}, {"> 250", ">= 250"}}},
	{"UPDATE accounts SET frozen = 1 WHERE last_login < '2024-02-29' AND country IN ('AT', 'CH') AND NOT vip;", [][2]string{
		{"frozen = 1", "frozen = 0"}, {"< '2024", "> '2024"}, {"02-29", "02-28"}, {" IN (", " NOT IN ("}, {"'CH'", "'CN'"}, {"AND NOT vip", "AND vip"}, {"last_login", "first_login"}}},
	{"listening on 10.14.0.27:8443 (tls), 3 peers connected, 0 dropped, replica lag 812 ms, disk 71% full", [][2]string{
		{"10.14.0.27", "10.41.0.27"}, {":8443", ":8843"}, {"(tls)", "(tcp)"}, {"3 peers", "8 peers"}, {"0 dropped", "9 dropped"}, {"812 ms", "812 s"}, {"71%", "17%"}}},
	{"sha256 of the installer is 9f3c2ab7, the one on the mirror is 9f3e2ab7, so do not run the mirrored file.", [][2]string{
		{"9f3c2ab7", "9f3c2ba7"}, {"9f3e2ab7", "9f8e2ab7"}, {"do not run", "do run"}, {"mirrored file", "original file"}, {"installer", "installed"}, {"9f3c2ab7", "9f3d2ab7"}}},
	{"Mount the volume at /srv/data/archive read-only and copy the keys from /etc/app/keys to /srv/backup/keys.", [][2]string{
		{"/srv/data/archive", "/srv/date/archive"}, {"read-only", "read-write"}, {"from /etc/app/keys to /srv/backup/keys", "from /srv/backup/keys to /etc/app/keys"}, {"Mount", "Count"}, {"copy", "move"}, {"/etc/app", "/etc/api"}}},
	{"The API returns 404 for unknown tenants and 403 for suspended ones; it never returns 500 unless the ledger is down.", [][2]string{
		{"404", "400"}, {"unknown", "known"}, {"403", "430"}, {"suspended", "suspected"}, {"never", "ever"}, {"unless", "because"}, {"500", "50"}}},
	{"The unit test for parse_date fails on leap years because the helper treats February 29 as an invalid day.", [][2]string{
		{"fails", "falls"}, {"parse_date", "parse_data"}, {"leap", "leaf"}, {"February 29", "February 28"}, {"invalid", "valid"}, {"because", "although"}, {"as an invalid day", "as a valid day"}}},
	{"Every replica must confirm the write before the coordinator answers; a single timeout aborts the whole transaction.", [][2]string{
		{"Every", "Any"}, {"must confirm", "need not confirm"}, {"the write", "the rewrite"}, {"a single", "no single"}, {"aborts", "admits"}, {"must", "might"}, {"confirm", "conform"}}},
	{"Cache entries expire after 6 hours unless pinned; pinned entries are evicted last, and at least 512 MB stays free.", [][2]string{
		{"6 hours", "9 hours"}, {"unless pinned", "when pinned"}, {"evicted last", "evicted first"}, {"at least", "at most"}, {"512 MB", "512 GB"}, {"expire", "expand"}, {"free", "full"}}},
	{"Feature flag new_checkout is on for 5% of users in Canada, off everywhere else, and owned by the growth squad.", [][2]string{
		{"is on", "is off"}, {"5% of", "50% of"}, {"Canada", "Panama"}, {"off everywhere", "on everywhere"}, {"new_checkout", "new_checkin"}, {"owned", "owed"}, {"5%", "95%"}}},
	{"Kubernetes kept killing the indexer with exit code 137, so we raised its memory limit from 2Gi to 6Gi.", [][2]string{
		{"137", "139"}, {"raised", "lowered"}, {"from 2Gi to 6Gi", "from 6Gi to 2Gi"}, {"6Gi", "6Mi"}, {"memory limit", "memory request"}, {"kept", "stopped"}, {"137", "13.7"}}},
	{"Our retention policy keeps raw logs for 30 days and aggregates for 13 months; nothing older may be restored.", [][2]string{
		{"30 days", "13 days"}, {"13 months", "13 weeks"}, {"nothing older", "anything older"}, {"may be", "must be"}, {"raw logs", "war logs"}, {"restored", "stored"}, {"older", "colder"}}},
	{"Ticket OPS-2291 is blocked by OPS-2219, not the other way round, and both are assigned to Tomasz.", [][2]string{
		{"OPS-2291 is blocked by OPS-2219", "OPS-2219 is blocked by OPS-2291"}, {"OPS-2219,", "OPS-2229,"}, {"not the", "or the"}, {"both", "neither"}, {"are assigned", "were assigned"}, {"Tomasz", "Tomasi"}, {"is blocked", "is unblocked"}}},
	{"Use UTC everywhere: timestamps such as 2026-07-04T18:05:30Z are stored without an offset and shown in local time.", [][2]string{
		{"UTC", "CET"}, {"07-04T", "04-07T"}, {"18:05:30Z", "18:50:30Z"}, {"without", "with"}, {"local", "legal"}, {"stored", "sorted"}, {"30Z", "30+02:00"}}},
	{"Amir is against splitting the monolith this year; Bea is for it; Chiyo wants to see the numbers first.", [][2]string{
		{"against", "for"}, {"Amir is against splitting the monolith this year; Bea is for it", "Bea is against splitting the monolith this year; Amir is for it"}, {"this year", "next year"}, {"Bea", "Leo"}, {"Chiyo", "Chika"}, {"numbers", "members"}, {"wants", "wanted"}}},
	{"In the benchmark, zstd at level 3 was 1.7 times faster than gzip and its output 8 percent smaller.", [][2]string{
		{"level 3", "level 9"}, {"1.7 times", "17 times"}, {"faster", "slower"}, {"smaller", "larger"}, {"8 percent", "80 percent"}, {"than gzip", "then gzip"}, {"output", "input"}}},
	{"const maxUpload = 25 << 20; if (size >= maxUpload || !allowed.has(type)) return reject(413);", [][2]string{
		{"25 << 20", "25 << 10"}, {"25 << 20", "25 >> 20"}, {">=", ">"}, {"||", "&&"}, {"!allowed", "allowed"}, {"413", "431"}, {"reject", "resolve"}}},
	{"for i := len(queue) - 1; i >= 0; i-- { if queue[i].done == false { pending += queue[i].cost } }", [][2]string{
		{"- 1;", "+ 1;"}, {">= 0", "<= 0"}, {"i--", "i++"}, {"== false", "!= false"}, {"+=", "-="}, {".cost", ".cast"}, {"pending", "spending"}}},
	{"alerting:\n  enabled: true\n  threshold: 0.85\n  window: 5m\n  notify: oncall-db\n  mute_on_weekends: false", [][2]string{
		{"enabled: true", "enabled: false"}, {"0.85", "0.58"}, {"5m", "5h"}, {"oncall-db", "oncall-dc"}, {"mute_on", "mute_off"}, {"weekends: false", "weekends: true"}, {"0.85", "8.5"}}},
	{"| host | cpu | mem | state |\n| atlas-01 | 41% | 12 GB | healthy |\n| atlas-02 | 97% | 30 GB | draining |", [][2]string{
		{"41%", "14%"}, {"97%", "79%"}, {"12 GB", "12 TB"}, {"healthy", "unhealthy"}, {"draining", "training"}, {"atlas-01", "atlas-07"}, {"30 GB", "3 GB"}}},
	{"Docs live at https://wiki.example.org/teams/billing/runbook?v=7#refunds and the mirror at port 9090 is read only.", [][2]string{
		{"billing", "building"}, {"v=7", "v=1"}, {"#refunds", "#refuels"}, {"9090", "9900"}, {"example.org", "example.com"}, {"read only", "readable"}, {"https", "http"}}},
	{"Version 0.9.3 still accepts MD5 signatures; from 0.10.0 on they are ignored with a warning.", [][2]string{
		{"0.9.3", "0.3.9"}, {"still accepts", "still excepts"}, {"0.10.0", "0.1.0"}, {"ignored", "signed"}, {"with a", "without a"}, {"MD5", "MD6"}, {"from 0", "until 0"}}},
	{"All integration tests pass on Linux, some are flaky on macOS, and none has been run on Windows yet.", [][2]string{
		{"All", "Few"}, {"pass on", "pause on"}, {"some are", "none are"}, {"none has", "one has"}, {"Linux", "Minix"}, {"run on", "ruin on"}, {"some", "most"}}},
	{"Please merge hotfix/rate-limit into release first and into main second; delete the branch only when both builds are green.", [][2]string{
		{"rate-limit", "date-limit"}, {"release first", "release last"}, {"only when", "even when"}, {"both builds", "either build"}, {"green", "grey"}, {"into release first and into main second", "into main first and into release second"}, {"merge", "purge"}}},
	{"Our SLA promises 99.95% availability, which allows roughly 22 minutes of downtime a month, not 22 hours.", [][2]string{
		{"99.95%", "99.59%"}, {"allows", "forbids"}, {"22 minutes", "12 minutes"}, {"downtime", "daytime"}, {"a month", "a week"}, {"not 22", "and 22"}, {"availability", "scalability"}}},
	{"Use the immutable builder in hot paths; the mutable one is thread-unsafe and was deprecated in 5.2.", [][2]string{
		{"the immutable", "the mutable"}, {"thread-unsafe", "thread-safe"}, {"deprecated", "depreciated"}, {"5.2", "2.5"}, {"hot paths", "hot patches"}, {"builder", "holder"}, {"was deprecated", "was not deprecated"}}},
	{"The experiment found a causal link between outages and deploys made after 17:00, but the sample was only 38 weeks.", [][2]string{
		{"causal", "casual"}, {"outages", "outputs"}, {"17:00", "11:00"}, {"only 38", "only 88"}, {"weeks", "weekends"}, {"found a", "found no"}}},
	{"Session note: I have deleted the stale index and reindexed 1,204,331 documents; the user has not confirmed the result.", [][2]string{
		{"have deleted", "would have deleted"}, {"stale", "stable"}, {"1,204,331", "1,204,313"}, {"has not confirmed", "has just confirmed"}, {"reindexed", "indexed"}, {"the user", "no user"}, {"has not", "has now"}}},
	{"chmod 640 /var/lib/ledger/secrets.env && chown root:ledger /var/lib/ledger/secrets.env, never 644.", [][2]string{
		{"chmod 640", "chmod 604"}, {"root:ledger", "ledger:root"}, {"never", "even"}, {"644", "664"}, {"&&", "||"}, {"chmod 640", "chmod 740"}}},
	{"Ship the Android build on the 9th even if the iOS review is late; marketing has already announced it.", [][2]string{
		{"9th", "6th"}, {"even if", "only if"}, {"Android", "desktop"}, {"already", "nearly"}, {"has already", "has not yet"}, {"announced", "renounced"}, {"Ship", "Skip"}}},
	{"The crawler obeys robots.txt, waits at least 1500 ms between requests, and stops at a depth of 4.", [][2]string{
		{"obeys", "ignores"}, {"at least", "at most"}, {"1500 ms", "150 ms"}, {"stops", "starts"}, {"depth of 4", "depth of 14"}, {"1500", "1050"}}},
	{"Half of the sensors report in Fahrenheit; convert them as (f - 32) * 5 / 9 before averaging, do not round.", [][2]string{
		{"Half", "All"}, {"Fahrenheit", "Celsius"}, {"(f - 32)", "(f + 32)"}, {"* 5 / 9", "* 9 / 5"}, {"do not round", "do round"}, {"averaging", "arranging"}, {"sensors", "censors"}}},
	{"Dario thinks the queue should be unbounded; I disagree, since an unlimited queue hides a slow consumer.", [][2]string{
		{"unbounded", "bounded"}, {"I disagree", "I agree"}, {"hides", "finds"}, {"consumer", "customer"}, {"Dario", "Dania"}, {"should be", "could be"}, {"slow", "slow new"}}},
}

var heldOutLife = []statement{
	{"Lena can cast her vote in the design review, but the final cost estimate of 18.4k euros has to come from Oskar.", [][2]string{
		{"can cast", "can't cast"}, {"cost estimate", "cast estimate"}, {"18.4k", "1.84k"}, {"euros", "pesos"}, {"Oskar", "Oscar"}, {"Lena", "Lina"}, {"has to", "had to"}}},
	{"I am vegetarian but I do eat eggs and dairy; I am allergic to cashews and pistachios, not to peanuts.", [][2]string{
		{"vegetarian", "vegan"}, {"do eat", "don't eat"}, {"dairy", "diary"}, {"not to peanuts", "also to peanuts"}, {"peanuts", "walnuts"}, {"I do eat", "I did eat"}, {"eggs and dairy", "eggs, no dairy"}}},
	{"Take 2.5 mg of bisoprolol every morning with food, and never combine it with verapamil without asking Dr. Osei.", [][2]string{
		{"2.5 mg", "25 mg"}, {"mg", "mcg"}, {"morning", "evening"}, {"never", "always"}, {"without asking", "after asking"}, {"Osei", "Osel"}, {"verapamil", "enalapril"}, {"with food", "without food"}}},
	{"My sister Hanna was born on 17 August 1991 and moved from Utrecht to Ghent last spring.", [][2]string{
		{"Hanna", "Hanne"}, {"17 August", "11 August"}, {"1991", "1919"}, {"from Utrecht to Ghent", "from Ghent to Utrecht"}, {"sister", "sitter"}, {"last spring", "next spring"}, {"August", "April"}}},
	{"The mortgage is fixed at 3.15% until 2031, after that the bank may raise the rate by at most 0.5 points a year.", [][2]string{
		{"3.15%", "3.51%"}, {"2031", "2013"}, {"may raise", "must raise"}, {"raise", "erase"}, {"at most", "at least"}, {"0.5 points", "0.05 points"}, {"fixed", "mixed"}}},
	{"Standup moves to 09:15 on Tuesdays and Thursdays; on all other days it stays at 10:00 in room Kepler.", [][2]string{
		{"09:15", "09:51"}, {"Tuesdays", "Mondays"}, {"Tuesdays and Thursdays", "Tuesdays to Thursdays"}, {"all other", "some other"}, {"10:00", "11:00"}, {"Kepler", "Kessler"}, {"stays", "starts"}}},
	{"We will not renew the Zephyr contract in June, since their support answered only two of eleven tickets on time.", [][2]string{
		{"will not renew", "will now renew"}, {"June", "July"}, {"two of eleven", "ten of eleven"}, {"eleven", "seven"}, {"only two", "all but two"}, {"Zephyr", "Zephir"}, {"renew", "review"}}},
	{"The contractor quoted $14,800 for the bathroom, excluding tiles, and wants 40 percent up front in cash.", [][2]string{
		{"$14,800", "$18,400"}, {"excluding", "including"}, {"40 percent", "14 percent"}, {"up front", "on completion"}, {"in cash", "in case"}, {"bathroom", "bedroom"}, {"$14,800", "£14,800"}}},
	{"Nadia prefers window seats, flies only with hand luggage, and must be home by Sunday evening at the latest.", [][2]string{
		{"window", "aisle"}, {"only with", "never with"}, {"must be", "may be"}, {"Sunday", "Monday"}, {"latest", "earliest"}, {"Nadia", "Nadja"}, {"prefers", "refers"}}},
	{"I used to smoke a pack a day, quit in 2016, and have not had a cigarette since the second attempt.", [][2]string{
		{"used to", "want to"}, {"2016", "2006"}, {"have not had", "have now had"}, {"second", "seventh"}, {"a pack", "a sack"}, {"have not", "have"}}},
	{"The loan of 23,500 pounds is repaid in thirty-six instalments starting on the 1st of November.", [][2]string{
		{"23,500", "25,300"}, {"thirty-six", "thirty-nine"}, {"starting", "ending"}, {"1st", "21st"}, {"November", "December"}, {"pounds", "pesos"}, {"repaid", "prepaid"}}},
	{"Please do not email the tenant directly; Farid handles all notices and signs each one by hand.", [][2]string{
		{"do not", "do now"}, {"tenant", "tenant's lawyer"}, {"Farid", "Farida"}, {"all notices", "no notices"}, {"signs", "sings"}, {"directly", "indirectly"}}},
	{"The school trip is on 3 May, costs 27 euros per child, and parents have to sign the consent form by Wednesday.", [][2]string{
		{"3 May", "8 May"}, {"27 euros", "72 euros"}, {"per child", "per class"}, {"have to", "don't have to"}, {"consent form", "consent from"}, {"Wednesday", "Thursday"}, {"parents", "patents"}}},
	{"The indemnity clause covers direct damage up to two million francs and excludes lost profit entirely.", [][2]string{
		{"direct", "indirect"}, {"two million", "ten million"}, {"million", "billion"}, {"excludes", "exceeds"}, {"lost profit", "last profit"}, {"indemnity", "identity"}, {"francs", "euros"}}},
	{"The nurse said the fever should stay below 38.5; if it rises above 39.2 we ought to call the clinic at 555-0142.", [][2]string{
		{"38.5", "38.9"}, {"39.2", "36.2"}, {"ought to", "ought not to"}, {"0142", "0124"}, {"should stay", "could stay"}, {"nurse", "purse"}, {"fever", "fewer"}, {"38.5", "3.85"}}},
	{"Grandma's lasagna needs 400 g of minced lamb, no pork, two bay leaves, and fifty minutes at 180 °C.", [][2]string{
		{"400 g", "400 kg"}, {"no pork", "more pork"}, {"two bay", "ten bay"}, {"fifty", "fifteen"}, {"180 °C", "180 °F"}, {"lamb", "lime"}, {"minutes", "months"}}},
	{"Our runway is nineteen months at the current burn of 210k per month, assuming that no one is hired.", [][2]string{
		{"nineteen", "ninety"}, {"210k", "120k"}, {"per month", "per quarter"}, {"no one", "one"}, {"is hired", "is fired"}, {"210k", "210m"}}},
	{"I can't make it to the dentist on Friday the 13th, so Ivo moved the appointment to the 20th at 8:40.", [][2]string{
		{"can't", "can"}, {"13th", "18th"}, {"Ivo", "Iva"}, {"20th", "12th"}, {"8:40", "8:14"}, {"dentist", "dermatologist"}, {"8:40", "18:40"}}},
	{"The tenant is obliged to repaint the walls, but is not liable for wear of the floor nor for defects older than 2 years.", [][2]string{
		{"is obliged", "isn't obliged"}, {"is not liable", "is liable"}, {"nor for", "but for"}, {"older", "newer"}, {"2 years", "12 years"}, {"walls", "halls"}, {"liable", "likable"}}},
	{"A deposit below ten thousand needs no approval; anything above twelve thousand has to be accepted by two directors.", [][2]string{
		{"deposit below", "deposit above"}, {"needs no approval", "needs approval"}, {"by two", "by no"}, {"directors", "debtors"}, {"has to be", "cannot be"}, {"below ten", "below two"}, {"twelve", "twenty"}, {"accepted", "excepted"}}},
	{"Kwame reports to Ingrid since the reorg, and Ingrid reports to the board; neither manages the Lisbon office.", [][2]string{
		{"Kwame reports to Ingrid", "Ingrid reports to Kwame"}, {"Kwame", "Kwabe"}, {"neither", "either"}, {"manages", "managed"}, {"Lisbon", "London"}, {"since", "until"}}},
	{"The courier left the parcel with the neighbor in 4B, unopened, and the customs fee of 31.90 is still unpaid.", [][2]string{
		{"4B", "4D"}, {"unopened", "opened"}, {"31.90", "39.10"}, {"unpaid", "paid"}, {"still", "no longer"}, {"customs", "customer"}, {"left", "lost"}}},
	{"Interest was charged twice on the 4,310.75 balance, so the bank refunded the smaller amount.", [][2]string{
		{"twice", "once"}, {"4,310.75", "4,301.75"}, {"smaller", "larger"}, {"refunded", "refused"}, {"charged", "changed"}, {"Interest", "Internet"}}},
	{"Zoe's visa is valid for ninety days within any 180-day period and does not permit paid work.", [][2]string{
		{"Zoe's", "Zoa's"}, {"valid", "invalid"}, {"ninety", "nineteen"}, {"180-day", "108-day"}, {"does not permit", "does permit"}, {"paid", "unpaid"}, {"visa", "vista"}}},
	{"My blood type is A negative, my mother's is O positive, and I have donated seven times since college.", [][2]string{
		{"A negative", "A positive"}, {"O positive", "B positive"}, {"seven", "eleven"}, {"mother's", "brother's"}, {"My blood", "Her blood"}, {"have donated", "haven't donated"}}},
	{"The hotel in Porto is booked from 11 to 14 October, two adults and one child, breakfast not included.", [][2]string{
		{"11 to 14", "11 to 19"}, {"October", "August"}, {"two adults", "ten adults"}, {"one child", "no child"}, {"not included", "now included"}, {"Porto", "Porta"}, {"adults", "adults or"}}},
	{"Everyone on the night shift except Ruben gets a bonus of 350, paid quarterly and taxed at the higher rate.", [][2]string{
		{"Everyone", "No one"}, {"except", "including"}, {"Ruben", "Rubin"}, {"350", "530"}, {"quarterly", "quarter"}, {"higher", "hire"}, {"night", "right"}}},
	{"She underlined that the diagnosis is uncertain, the biopsy was benign, and surgery is optional for now.", [][2]string{
		{"uncertain", "certain"}, {"benign", "malign"}, {"optional", "optimal"}, {"underlined", "undermined"}, {"is optional", "is not optional"}, {"She", "He"}}},
}

var heldOutShort = []statement{
	{"Put the draft on her desk if the printer is idle, or in his inbox; we pay for color pages.", [][2]string{
		{"on her", "in her"}, {"her desk", "his desk"}, {"in his", "in this"}, {"or in", "and in"}, {"we pay", "they pay"}, {"idle", "idol"}, {"draft", "raft"}, {"if the", "as the"}}},
	{"Mila lends me her van now and then, and I pay for the fuel of each trip within a week.", [][2]string{
		{"lends me", "lends us"}, {"I pay", "I play"}, {"Mila", "Mira"}, {"within", "without"}, {"each", "no"}, {"lends", "sends"}, {"week", "weak"}}},
	{"Deploys go from build to stage to live; a failed probe on stage blocks live but not build.", [][2]string{
		{"from build to stage to live", "from stage to build to live"}, {"failed", "filed"}, {"but not", "but also"}, {"on stage", "on storage"}, {"go from", "go form"}, {"blocks", "unblocks"}}},
	{"Quota is 5 TB per team; above that uploads are queued, then dropped after the third warning.", [][2]string{
		{"5 TB", "5 GB"}, {"per team", "per term"}, {"above", "about"}, {"queued", "quoted"}, {"third", "thirteenth"}, {"are queued", "are not queued"}, {"uploads", "unloads"}}},
	{"The lawyer advised against signing before the audit; the board ignored the advice and signed anyway.", [][2]string{
		{"advised against", "advised in favor of"}, {"signed anyway", "resigned anyway"}, {"lawyer", "layer"}, {"The lawyer", "No lawyer"}, {"against", "again"}, {"signing", "singing"}, {"advice", "device"}}},
	{"Tests marked slow run nightly on arm64, quick ones run on every push on amd64 with the race detector.", [][2]string{
		{"arm64", "amd64"}, {"slow", "low"}, {"every push", "every pull"}, {"with the", "without the"}, {"marked", "masked"}, {"nightly", "rightly"}, {"quick", "quiet"}}},
	{"Grant read on schema sales to analyst_ro; revoke insert, update and delete from analyst_rw by 1 June.", [][2]string{
		{"Grant read", "Grant write"}, {"analyst_ro", "analyst_rx"}, {"revoke", "invoke"}, {"by 1 June", "by 1 July"}, {"by 1", "by 11"}, {"Grant", "Grand"}, {"sales", "scales"}}},
	{"Latency p99 was 840 ms with TLS 1.2 and is 310 ms with TLS 1.3, so we drop 1.2 in the edge tier.", [][2]string{
		{"p99", "p90"}, {"840 ms", "480 ms"}, {"is 310", "was 310"}, {"TLS 1.3", "TLS 1.1"}, {"drop 1.2", "keep 1.2"}, {"we drop", "we don't drop"}, {"310", "301"}}},
	{"He is her older brother's landlord, not her landlord, and he lets the top flat to a couple with two cats.", [][2]string{
		{"older", "other"}, {"not her", "now her"}, {"top flat", "top float"}, {"couple with", "couple without"}, {"cats", "cots"}, {"He is", "She is"}, {"brother's", "mother's"}}},
	{"Run terraform plan in eu-north-1, never apply from a laptop; only CI may apply, and only with two approvals.", [][2]string{
		{"eu-north-1", "eu-south-1"}, {"never apply", "ever apply"}, {"plan in", "destroy in"}, {"only CI", "even CI"}, {"may apply", "may not apply"}, {"two approvals", "no approvals"}, {"never", "newer"}}},
	{"Each tenant has 10² slots, the id space is 2⁶⁴, and a folder holds 5*10 files, not more.", [][2]string{
		{"10²", "102"}, {"2⁶⁴", "264"}, {"5*10", "510"}, {"2⁶⁴", "2⁶³"}, {"10²", "10³"}, {"not more", "or more"}}},
	{"Ian will not, under any circumstances, share the modern router in the corner or the fallback disk.", [][2]string{
		{"Ian", "Lan"}, {"not, under any circumstances, share", "… share"}, {"modern", "modem"}, {"corner", "comer"}, {"fallback", "failback"}, {"will not, under any circumstances,", "will, under any circumstances,"}, {"share", "shave"}}},
	{"I'm sure that she resigned: this is the team's third shuffle, and its budget was cut to 3-4 seats.", [][2]string{
		{"3-4", "34"}, {"resigned", "re-signed"}, {"third", "thirtieth"}, {"was cut", "wasn't cut"}, {"I'm sure", "I'm unsure"}, {"budget", "gadget"}, {"its budget", "his budget"}}},
	{"Close the valve at 1.5 bar, clear the log, then bail out if the pump fails or drifts below -2 °C.", [][2]string{
		{"Close", "Dose"}, {"1.5 bar", "15 bar"}, {"clear", "dear"}, {"bail", "ball"}, {"fails", "falls"}, {"-2 °C", "2 °C"}, {"pump", "dump"}}},
	{"The audit did find errors in the ledger, but nobody at Finch & Sons altered the totals of 30 June.", [][2]string{
		{"nobody at Finch & Sons altered", "… altered"}, {"Finch", "Flinch"}, {"did find", "didn't find"}, {"30 June", "3 June"}, {"altered", "alerted"}, {"but nobody", "but somebody"}}},
	{"tar -xzf backup.tgz -C /mnt/a && rsync -a --delete src/ dst/ | tee -a run.log; kill -9 4121", [][2]string{
		{"-xzf", "-czf"}, {"src/ dst/", "dst/ src/"}, {"--delete", "--dry-run"}, {"4121", "4112"}, {"tee -a", "tee -i"}, {"/mnt/a", "/mnt/b"}, {"-9 4121", "-0 4121"}}},
	{"cron: 30 2 * * 1-5 /opt/jobs/purge.sh --older-than 14d --keep-last 3 (owner: data-eng, not data-ops)", [][2]string{
		{"30 2 *", "2 30 *"}, {"1-5", "0-5"}, {"14d", "14h"}, {"keep-last", "drop-last"}, {"data-eng, not data-ops", "data-ops, not data-eng"}, {"last 3", "last 8"}, {"purge", "merge"}, {"1-5", "15"}}},
	{"const canEdit = user?.role !== 'viewer' && (!doc.locked ?? false); // since 3f9acde", [][2]string{
		{"!==", "==="}, {"(!doc", "(doc"}, {"'viewer'", "'owner'"}, {"3f9acde", "3f9cade"}, {"false", "true"}, {"canEdit", "canExit"}, {"&&", "||"}, {"acde", "aced"}}},
}
