package format

type formatCase struct {
	name, file, in string
	format, id     string
	want           []string
}

func formatCases() []formatCase {
	return append(append(append(agentCases(), eventCases()...), chatCases()...), textCases()...)
}

func agentCases() []formatCase {
	return []formatCase{
		{
			name: "claude code", format: "claude-code", id: "s1",
			in: lines(
				`{"type":"file-history-snapshot","messageId":"x"}`,
				`{"type":"user","sessionId":"s1","message":{"role":"user","content":"run it\n<system-reminder>be brief</system-reminder>\n"}}`,
				`{"type":"assistant","sessionId":"s1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Running."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}`,
				`{"type":"user","sessionId":"s1","toolUseResult":{"stdout":"ok"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"ok"},{"type":"text","text":"done"}]}]}}`,
				`{"type":"user","sessionId":"s1","isMeta":true,"message":{"role":"user","content":"Base directory: /x"}}`,
				`{"type":"user","sessionId":"s1","isCompactSummary":true,"message":{"role":"user","content":"So far we ran make."}}`,
				`{"type":"user","sessionId":"s1","isSidechain":true,"message":{"role":"user","content":"Look for tests."}}`,
				`{"type":"assistant","sessionId":"s1","isSidechain":true,"message":{"role":"assistant","content":"None found."}}`,
				`{"type":"system","sessionId":"s1","content":"Conversation compacted"}`,
				`{"type":"attachment","sessionId":"s1","attachment":{"type":"queued_command","prompt":"use Go 1.26","commandMode":"prompt"}}`,
				`{"type":"user","sessionId":"s1","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"text","text":"see?"}]}}`,
				`{"type":"user","sessionId":"s1","message":{"role":"user","content":"[Request interrupted by user]"}}`,
				`{"type":"a-type-of-next-year","sessionId":"s1"}`,
			),
			want: []string{
				"2 user/text: run it\n", "2 user/context: <system-reminder>be brief</system-reminder>\n",
				"3 assistant/thinking: hm", "3 assistant/text: Running.", `3 assistant/tool_call Bash#t1: {"command":"make"}`,
				"4 tool/tool_result Bash#t1: ok\ndone",
				"5 user/context: Base directory: /x", "6 user/context: So far we ran make.",
				"7 user/context @sidechain: Look for tests.", "8 assistant/text @sidechain: None found.",
				"9 system/context: Conversation compacted", "10 user/text: use Go 1.26",
				"11 user/context: [image: image/png]", "11 user/text: see?",
				"12 user/context: [Request interrupted by user]",
			},
		},
		{
			name: "claude code subagent", format: "claude-code", id: "s1-agent-7f",
			in: lines(
				`{"type":"user","sessionId":"s1","agentId":"7f","isSidechain":true,"parentUuid":null,"message":{"role":"user","content":"Count files."}}`,
				`{"type":"assistant","sessionId":"s1","agentId":"7f","isSidechain":true,"message":{"role":"assistant","content":"Nine."}}`),
			want: []string{"1 user/context @7f: Count files.", "2 assistant/text @7f: Nine."},
		},
		{
			name: "codex", format: "codex", id: "c1",
			in: lines(
				`{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"c1","cwd":"/w"}}`,
				`{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"parent"}}`,
				`{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"sandbox on"}]}}`,
				`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /w"},{"type":"input_text","text":"<environment_context>\n<cwd>/w</cwd>\n</environment_context>"}]}}`,
				`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"list files"}]}}`,
				`{"type":"event_msg","payload":{"type":"user_message","message":"list files"}}`,
				`{"type":"response_item","payload":{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"plan"}],"encrypted_content":"zz"}}`,
				`{"type":"response_item","payload":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"shell","arguments":"{\"command\":[\"ls\"]}"}}`,
				`{"type":"response_item","payload":{"type":"function_call_output","call_id":"call_1","output":"{\"output\":\"a.go\\n\",\"metadata\":{\"exit_code\":0}}"}}`,
				`{"type":"response_item","payload":{"type":"custom_tool_call","call_id":"call_2","name":"apply_patch","input":"*** Begin"}}`,
				`{"type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"call_2","output":"Success"}}`,
				`{"type":"response_item","payload":{"type":"local_shell_call","call_id":"call_3","action":{"command":["pwd"]}}}`,
				`{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"One file."}]}}`,
				`{"type":"compacted","payload":{"message":"listed files"}}`,
			),
			want: []string{
				"3 system/context: sandbox on",
				"4 user/context: # AGENTS.md instructions for /w", "4 user/context: <environment_context>\n<cwd>/w</cwd>\n</environment_context>",
				"5 user/text: list files", "7 assistant/thinking: plan",
				`8 assistant/tool_call shell#call_1: {"command":["ls"]}`, "9 tool/tool_result shell#call_1: a.go\n",
				"10 assistant/tool_call apply_patch#call_2: *** Begin", "11 tool/tool_result apply_patch#call_2: Success",
				`12 assistant/tool_call local_shell#call_3: {"command":["pwd"]}`,
				"13 assistant/text: One file.", "14 system/context: listed files",
			},
		},
		{
			name: "codex before envelopes", format: "codex", id: "old-1",
			in: lines(
				`{"id":"old-1","timestamp":"2025-05-01T00:00:00Z","instructions":"be nice"}`,
				`{"record_type":"state"}`,
				`{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}`,
				`{"type":"function_call","name":"shell","arguments":"{}","call_id":"1"}`),
			want: []string{"1 system/context: be nice", "3 user/text: hello", "4 assistant/tool_call shell#1: {}"},
		},
		{
			name: "codex history", format: "codex-history", id: "h1",
			in: lines(`{"session_id":"h1","ts":1767323045,"text":"one"}`, `{"session_id":"h2","ts":1767323046,"text":"two"}`,
				`{"session_id":"h1","ts":1767323047,"text":"three"}`),
			want: []string{"== 0 h1", "1 user/text: one", "3 user/text: three", "== 1 h2", "2 user/text: two"},
		},
		{
			name: "qwen", format: "qwen", id: "q1",
			in: lines(
				`{"type":"user","sessionId":"q1","cwd":"/w","message":{"role":"user","parts":[{"text":"hi"}]}}`,
				`{"type":"assistant","sessionId":"q1","message":{"role":"model","parts":[{"text":"pondering","thought":true},{"text":"Yes."},{"functionCall":{"id":"f1","name":"read_file","args":{"path":"a"}}}]}}`,
				`{"type":"tool_result","sessionId":"q1","message":{"role":"user","parts":[{"functionResponse":{"id":"f1","name":"read_file","response":{"output":"text of a"}}}]}}`,
				`{"type":"system","sessionId":"q1","subtype":"ui_telemetry"}`),
			want: []string{"1 user/text: hi", "2 assistant/thinking: pondering", "2 assistant/text: Yes.",
				`2 assistant/tool_call read_file#f1: {"path":"a"}`, "3 tool/tool_result read_file#f1: text of a"},
		},
		{
			name: "gemini lines", format: "gemini", id: "g1",
			in: lines(
				`{"sessionId":"g1","startTime":"2026-07-17T09:00:00Z","lastUpdated":"2026-07-17T09:00:02Z"}`,
				`{"id":"1","type":"user","content":"hi"}`,
				`{"id":"2","type":"gemini","content":"","thoughts":[{"subject":"Plan","description":"look"}],"toolCalls":[{"id":"t","name":"ls","args":{},"resultDisplay":"a.go"}]}`,
				`{"id":"3","type":"user","content":"take this back"}`,
				`{"$rewindTo":"3"}`,
				`{"$set":{"lastUpdated":"2026-07-17T09:00:03Z"}}`,
				`{"$set":{"messages":[{"id":"1","type":"user","content":"hi"},{"id":"4","type":"gemini","content":[{"text":"bye"}]}]}}`),
			want: []string{"2 user/text: hi", "3 assistant/thinking: look", "3 assistant/tool_call ls#t: {}",
				"3 tool/tool_result ls#t: a.go", "7 assistant/text: bye"},
		},
		{
			name: "gemini document", format: "gemini", id: "g2",
			in: "{\n \"sessionId\": \"g2\",\n \"startTime\": \"2026-07-17T09:00:00Z\",\n \"messages\": [\n" +
				"  {\"id\":\"1\",\"type\":\"user\",\"content\":\"hi\"},\n  {\"id\":\"2\",\"type\":\"info\",\"content\":\"quota\"}\n ]\n}\n",
			want: []string{"1 user/text: hi", "1 system/context: quota"},
		},
		{
			name: "cursor", format: "cursor", id: "c-1", file: "agent-transcripts/c-1.jsonl",
			in: lines(`{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}`,
				`{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Shell","input":{"command":"ls"}}]}}`,
				`{"type":"turn_ended"}`),
			want: []string{"1 user/text: hi", `2 assistant/tool_call Shell#: {"command":"ls"}`},
		},
	}
}

func eventCases() []formatCase {
	return []formatCase{
		{
			name: "copilot", format: "copilot", id: "p1",
			in: lines(
				`{"type":"session.start","data":{"sessionId":"p1","context":{"cwd":"/w"}},"timestamp":"2026-07-20T05:13:54Z"}`,
				`{"type":"user.message","data":{"content":"go"},"id":"u"}`,
				`{"type":"assistant.message","data":{"content":"ok","toolRequests":[{"toolCallId":"t","name":"bash","arguments":{"command":"ls"}}]},"id":"a"}`,
				`{"type":"tool.execution_start","data":{"toolCallId":"t","toolName":"bash","arguments":{"command":"ls"}}}`,
				`{"type":"tool.execution_complete","data":{"toolCallId":"t","success":true,"result":{"content":"a.go"}}}`),
			want: []string{"2 user/text: go", "3 assistant/text: ok", `3 assistant/tool_call bash#t: {"command":"ls"}`, "5 tool/tool_result bash#t: a.go"},
		},
		{
			name: "deepseek", format: "deepseek", id: "d1",
			in: lines(
				`{"type":"session","id":"d1","createdAt":1787320263519,"cwd":"/w"}`,
				`{"type":"user/message","seq":1,"time":1787320263580,"data":{"content":[{"type":"text","text":"q"}],"source":{"kind":"user"}}}`,
				`{"type":"user/message","seq":2,"time":1787320263580,"data":{"content":[{"type":"text","text":"ctx"}],"source":{"kind":"plugin"}}}`,
				`{"type":"assistant/chunk","seq":3,"data":{"chunk":{"type":"text-delta","text":"a"}}}`,
				`{"type":"assistant/message","seq":4,"data":{"message":{"content":[{"type":"text","text":"a"}]}}}`),
			want: []string{"2 user/text: q", "3 user/context: ctx", "5 assistant/text: a"},
		},
		{
			name: "kimi", format: "kimi", id: "session_1", file: "sessions/wd/session_1/agents/main/wire.jsonl",
			in: lines(
				`{"type":"metadata","protocol_version":"1.4","created_at":1782295200000}`,
				`{"type":"context.append_message","message":{"role":"user","content":[{"type":"text","text":"q"}]},"time":1782295201000}`,
				`{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s","part":{"type":"text","text":"one "}}}`,
				`{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s","part":{"type":"text","text":"two"}}}`,
				`{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"t","name":"Read","args":{"path":"a"}}}`,
				`{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"t","output":"text"}}`,
				`{"type":"context.append_loop_event","event":{"type":"content.part","stepUuid":"s2","part":{"type":"text","text":"three"}}}`),
			want: []string{"2 user/text: q", "3 assistant/text: one two", `5 assistant/tool_call Read#t: {"path":"a"}`,
				"6 tool/tool_result Read#t: text", "7 assistant/text: three"},
		},
		{
			name: "grok", format: "grok", id: "g1", file: "sessions/w/g1/updates.jsonl",
			in: lines(
				`{"timestamp":1784278801,"params":{"update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"q"},"_meta":{"promptIndex":0}}}}`,
				`{"timestamp":1784278802,"params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}},"_meta":{"promptId":"p"}}}`,
				`{"timestamp":1784278803,"params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"b"}},"_meta":{"promptId":"p"}}}`,
				`{"timestamp":1784278804,"params":{"update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"ls","rawInput":{"x":1}}}}`,
				`{"timestamp":1784278805,"params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","content":[{"type":"content","content":{"type":"text","text":"out"}}]}}}`),
			want: []string{"1 user/text: q", "2 assistant/text: ab", `4 assistant/tool_call ls#t: {"x":1}`, "5 tool/tool_result ls#t: out"},
		},
		{
			name: "antigravity", format: "antigravity", id: "b1", file: "brain/b1/.system_generated/logs/transcript.jsonl",
			in: lines(
				`{"source":"USER_EXPLICIT","created_at":"2026-07-17T09:00:00Z","content":"<USER_REQUEST>\nfix it\n</USER_REQUEST>"}`,
				`{"source":"MODEL","type":"PLANNER_RESPONSE","created_at":"2026-07-17T09:00:01Z","content":"on it","tool_calls":[{"name":"view_file","args":{"AbsolutePath":"/a"}}]}`,
				`{"source":"MODEL","type":"VIEW_FILE","created_at":"2026-07-17T09:00:02Z","content":"File: /a"}`,
				`{"source":"SYSTEM","created_at":"2026-07-17T09:00:03Z","content":"checkpoint"}`),
			want: []string{"1 user/text: fix it", "2 assistant/text: on it", `2 assistant/tool_call view_file#: {"AbsolutePath":"/a"}`,
				"3 tool/tool_result view_file#: File: /a", "4 system/context: checkpoint"},
		},
		piCase("pi", "agent/sessions/x.jsonl"), piCase("omp", "/home/u/.omp/agent/sessions/x.jsonl"),
		piCase("openclaw", `C:\Users\u\.openclaw\agents\main\sessions\x.jsonl`),
		{
			name: "goose", format: "goose", id: "20260101_1",
			in: lines(`{"id":"20260101_1","working_dir":"/w","message_count":2}`,
				`{"id":"m1","role":"user","created":1784278801,"content":[{"type":"text","text":"hi"}]}`,
				`{"id":"m2","role":"assistant","created":1784278802,"content":[{"type":"toolRequest","id":"t","toolCall":{"status":"success","value":{"name":"shell","arguments":{"command":"ls"}}}}]}`,
				`{"id":"m3","role":"user","created":1784278803,"content":[{"type":"toolResponse","id":"t","toolResult":{"status":"success","value":[{"type":"text","text":"a.go"}]}}]}`),
			want: []string{"2 user/text: hi", `3 assistant/tool_call shell#t: {"command":"ls"}`, "4 tool/tool_result shell#t: a.go"},
		},
		clineCase("cline", "tasks/1767225600000/api_conversation_history.json"),
		clineCase("roo", "globalStorage/rooveterinaryinc.roo-cline/tasks/1767225600000/api_conversation_history.json"),
		{
			name: "cline messages", format: "cline", id: "sess_1", file: "sess_1.messages.json",
			in:   "{\n\"version\":1,\n\"agent\":\"lead\",\n\"sessionId\":\"sess_1\",\n\"messages\":[\n{\"id\":\"m1\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"ts\":1767225600000}\n]}\n",
			want: []string{"1 user/text: hi"},
		},
	}
}

func piCase(format, file string) formatCase {
	return formatCase{
		name: format, format: format, file: file, id: "r1",
		in: lines(
			`{"type":"session","version":3,"id":"r1","timestamp":"2026-07-17T10:00:00Z","cwd":"/w"}`,
			`{"type":"message","id":"u1","timestamp":"2026-07-17T10:00:05Z","message":{"role":"user","content":"q"}}`,
			`{"type":"message","id":"a1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"toolCall","id":"t","name":"bash","arguments":{"command":"ls"}}]}}`,
			`{"type":"message","id":"t1","message":{"role":"toolResult","toolCallId":"t","toolName":"bash","content":[{"type":"text","text":"a.go"}]}}`,
			`{"type":"compaction","id":"c1","summary":"ran ls"}`),
		want: []string{"2 user/text: q", "3 assistant/thinking: hm", `3 assistant/tool_call bash#t: {"command":"ls"}`,
			"4 tool/tool_result bash#t: a.go", "5 system/context: ran ls"},
	}
}

func clineCase(format, file string) formatCase {
	return formatCase{
		name: format, format: format, file: file, id: "1767225600000",
		in: "[\n {\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"<task>\\ngo\\n</task>\"},{\"type\":\"text\",\"text\":\"<environment_details>\\ncwd\\n</environment_details>\"}]},\n" +
			" {\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Reading.\"}]},\n" +
			" {\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[read_file for 'a.go'] Result:\"},{\"type\":\"text\",\"text\":\"package a\"},{\"type\":\"text\",\"text\":\"and be quick\"}]},\n" +
			" {\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[ERROR] You did not use a tool\"}]}\n]\n",
		want: []string{"2 user/text: <task>\ngo\n</task>", "2 user/context: <environment_details>\ncwd\n</environment_details>",
			"3 assistant/text: Reading.", "4 tool/tool_result read_file#: [read_file for 'a.go'] Result:", "4 tool/tool_result read_file#: package a",
			"4 user/text: and be quick", "5 user/context: [ERROR] You did not use a tool"},
	}
}
