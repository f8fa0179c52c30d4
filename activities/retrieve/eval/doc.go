// Package eval measures retrieval against a gold set of questions and their answers. It knows no server: the system
// under test is behind [Retriever].
//
// # Gold sets
//
// A gold set is a file of JSON lines, one question a line:
//
//	{"id":"q1","query":"Which day do we release?","project":"shop","category":"single-hop","lang":"en",
//	 "relevant":[{"session":"s1","message":4}]}
//
// (on one line). The fields are
//
//	id        names the question; no two have the same
//	query     the text to search for
//	project   whose memory is searched; empty means the default project
//	user      likewise
//	agent     memories of one agent; empty means all
//	category  metrics are also averaged by category …
//	lang      … and by language, such as "en"
//	as_of     the time whose beliefs are asked for: "2006-01-02" (the end of the day) or "2006-01-02T15:04:05Z"
//	relevant  references to all answers to the question
//	abstain   true for a question without an answer in the memory; relevant is empty then
//
// id and query are required, and so is one of relevant and abstain. A reference names one thing:
//
//	{"entry":"ID"}  {"task":"ID"}  {"fact":"ID"}   the result with the id
//	{"session":"S","message":2}                    the message, counted from 0, or a result that quotes it
//	{"session":"S"}                                anything from the session
//	{"text":"Thursday evening"}                    anything with the text, whatever the case and the spaces
//
// A text next to another reference narrows it: the result must have the text too. In a long message it separates the
// part with the answer from the rest.
//
// # Metrics
//
// recall@k is the share of a question's references that are found within the first k, hit@k whether any is, and all@k
// whether all are. MRR is the reciprocal rank of the first. nDCG@10 has binary gains. One result may satisfy several
// references; each counts once, at its best rank. All are averaged over the questions with references. The others, those
// to abstain from, are measured by the share for which nothing is returned, or only results that the retriever calls weak.
package eval
