package format

func chatCases() []formatCase {
	return []formatCase{
		{
			name: "chatgpt", format: "chatgpt", id: "conv-1",
			in: `[{"title":"T","create_time":1700000000.5,"conversation_id":"conv-1","current_node":"d","mapping":{
"r":{"id":"r","message":null,"parent":null,"children":["s"]},
"s":{"id":"s","message":{"id":"s","author":{"role":"system"},"content":{"content_type":"text","parts":[""]},"metadata":{"is_visually_hidden_from_conversation":true}},"parent":"r","children":["a"]},
"a":{"id":"a","message":{"id":"a","author":{"role":"user"},"create_time":1700000001,"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer"},"what is it?"]},"recipient":"all"},"parent":"s","children":["x","b"]},
"x":{"id":"x","message":{"id":"x","author":{"role":"assistant"},"content":{"content_type":"text","parts":["an abandoned branch"]},"recipient":"all"},"parent":"a","children":[]},
"b":{"id":"b","message":{"id":"b","author":{"role":"assistant"},"content":{"content_type":"code","language":"python","text":"print(1)"},"recipient":"python"},"parent":"a","children":["c"]},
"c":{"id":"c","message":{"id":"c","author":{"role":"tool","name":"python"},"content":{"content_type":"execution_output","text":"1"}},"parent":"b","children":["d"]},
"d":{"id":"d","message":{"id":"d","author":{"role":"assistant"},"content":{"content_type":"text","parts":["A cat."]},"recipient":"all"},"parent":"c","children":[]}}},
{"title":"No current node","id":"conv-2","create_time":1700000000,"mapping":{
"r":{"id":"r","parent":null,"children":["a"]},
"a":{"id":"a","message":{"author":{"role":"user"},"content":{"content_type":"user_editable_context","user_profile":"I like Go","user_instructions":"Be brief"}},"parent":"r","children":["b"]},
"b":{"id":"b","message":{"author":{"role":"assistant"},"content":{"content_type":"thoughts","thoughts":[{"summary":"s","content":"deep"}]}},"parent":"a","children":["a"]}}}]`,
			want: []string{"== 0 conv-1", "1 user/text: what is it?", "1 user/context: [image]", "1 assistant/tool_call python#: print(1)",
				"1 tool/tool_result python#: 1", "1 assistant/text: A cat.",
				"== 1 conv-2", "9 user/context: I like Go", "9 user/context: Be brief", "9 assistant/thinking: deep"},
		},
		{
			name: "messages in a JSON array", format: "messages",
			in: `[{"role":"system","content":"be nice"},{"role":"user","name":"Ann","content":"hi"},
{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},
{"role":"tool","tool_call_id":"t","content":"42"},
{"role":"assistant","function_call":{"name":"g","arguments":"{}"},"content":null},{"role":"function","name":"g","content":"ok"},
{"role":"assistant","reasoning_content":"so","content":[{"type":"text","text":"It is 42."},{"type":"image_url","image_url":{"url":"data:"}}]}]`,
			want: []string{"1 system/context: be nice", "1 user/text @Ann: hi", `2 assistant/tool_call f#t: {"x":1}`, "3 tool/tool_result f#t: 42",
				"4 assistant/tool_call g#: {}", "4 tool/tool_result g#: ok",
				"5 assistant/thinking: so", "5 assistant/text: It is 42.", "5 assistant/context: [image_url]"},
		},
		{
			name: "messages in lines", format: "messages",
			in:   lines(`{"role":"user","content":"hi"}`, ``, `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"},{"type":"text","text":"go on"}]}`),
			want: []string{"1 user/text: hi", "3 assistant/tool_call f#t: {}", "4 tool/tool_result f#t: r", "4 user/text: go on"},
		},
		{
			name: "wrapped messages", format: "messages", id: "0199f3f2-aaaa-7bbb-8ccc-1234567890ab",
			in:   `{"id":"0199f3f2-aaaa-7bbb-8ccc-1234567890ab","messages":[{"role":"user","content":"hi"}]}`,
			want: []string{"1 user/text: hi"},
		},
		{
			name: "a conversation a line", format: "messages",
			in: lines(`{"messages":[{"role":"user","content":"a"}]}`, `{"conversations":[{"from":"human","value":"b"},{"from":"gpt","value":"c"}]}`,
				`{"session_id":"s9","messages":[{"role":"user","content":"d"}]}`),
			want: []string{"== 0 ", "1 user/text: a", "== 1 ", "2 user/text: b", "2 assistant/text: c", "== 2 s9", "3 user/text: d"},
		},
		{
			name: "snapshots that grow", format: "messages",
			in: lines(`[[{"role":"user","content":"User: a"},{"role":"assistant","content":"Assistant: b"}]]`,
				`[[{"role":"user","content":"User: a"},{"role":"assistant","content":"Assistant: b"}],[{"role":"user","content":"User: a"}]]`,
				`[{"role":"user","content":"c"}]`),
			want: []string{"1 user/text: User: a", "1 assistant/text: Assistant: b", "2 user/text: User: a", "3 user/text: c"},
		},
	}
}

func textCases() []formatCase {
	return []formatCase{
		{
			name: "text", format: "text", file: "chat.txt",
			in:   "A talk of today\r\n\r\nUser: hello\r\nthere\r\n\r\nAssistant: Note: see\n```\nUser: in code\n```\nUser:  \n",
			want: []string{"1 system/context: A talk of today", "3 user/text: hello\r\nthere", "6 assistant/text: Note: see\n```\nUser: in code\n```"},
		},
		{
			name: "text in Markdown", format: "text",
			in:   "## User\nhi\n\n**Assistant:** hello\n\n### Human: again\n",
			want: []string{"1 user/text: hi", "4 assistant/text: hello", "6 user/text: again"},
		},
		{
			name: "text in Chinese", format: "text", in: "用户：你好\n助手：在的\n",
			want: []string{"1 user/text: 你好", "2 assistant/text: 在的"},
		},
		{
			name: "text in Korean", format: "text", in: "사용자: 안녕\n어시스턴트: 네\n",
			want: []string{"1 user/text: 안녕", "2 assistant/text: 네"},
		},
		{
			name: "text with names", format: "text", in: "Alice: shall we ship?\nBob: yes\nnote: lower case is no name\nAlice: when?\nBob: now\n",
			want: []string{"1 user/text @Alice: shall we ship?", "2 user/text @Bob: yes\nnote: lower case is no name", "4 user/text @Alice: when?", "5 user/text @Bob: now"},
		},
		{
			name: "aider", format: "aider", id: "aider-2026-07-17-090000", file: ".aider.chat.history.md",
			in: "\n# aider chat started at 2026-07-17 09:00:00\n\n> Model: x  \n> Git repo: y  \n\n#### fix it  \n#### and test  \n\nDone:\n\n```go\n#x\n```\n\n> Applied edit to a.go  \n\n# aider chat started at 2026-07-18 09:00:00\n\n#### again\n",
			want: []string{"== 0 aider-2026-07-17-090000", "4 system/context: Model: x  \nGit repo: y  ", "7 user/text: fix it  \nand test  ",
				"10 assistant/text: Done:\n\n```go\n#x\n```", "16 system/context: Applied edit to a.go  ",
				"== 1 aider-2026-07-18-090000", "20 user/text: again"},
		},
	}
}
