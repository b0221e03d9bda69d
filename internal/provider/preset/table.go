package preset

import "slices"

// table returns the presets. AsOf is the month in which a row was last compared
// with the documentation that Doc names; what the documentation does not say is
// left out here and behaves as the protocol does.
func table() []Preset {
	return slices.Concat(vendors(), otherVendors(), hosts(), locals())
}

// openAIRules returns the rules for the models of OpenAI that differ, also where others host them.
// A reasoning model takes no temperature; from gpt-5.1 on it takes one when it does not reason.
func openAIRules() []Rule {
	classic := []string{"low", "medium", "high"}
	return []Rule{
		{Models: []string{"gpt-5-chat*", "gpt-5.*-chat*", "chatgpt-*", "gpt-4*", "gpt-3.5*"}, AsOf: "2025-12", Set: Quirks{EffortField: NoField}},
		{Models: []string{"o1-mini*", "o1-preview*"}, AsOf: "2025-06", Set: Quirks{Temperature: TemperatureRefused, SystemRole: "user", EffortField: NoField, Schema: SchemaNone, Vision: No}},
		{Models: []string{"o1*", "o3*", "o4*"}, AsOf: "2025-12", Set: Quirks{Temperature: TemperatureRefused, SystemRole: "developer", Efforts: classic}},
		{Models: []string{"gpt-5-pro*"}, AsOf: "2025-12", Set: Quirks{Temperature: TemperatureRefused, SystemRole: "developer", Efforts: []string{"high"}}},
		{Models: []string{"gpt-5-codex*"}, AsOf: "2025-12", Set: Quirks{Temperature: TemperatureRefused, SystemRole: "developer", Efforts: classic}},
		{Models: []string{"gpt-5", "gpt-5-*"}, AsOf: "2025-12", Set: Quirks{Temperature: TemperatureRefused, SystemRole: "developer", Efforts: []string{"minimal", "low", "medium", "high"}}},
		{Models: []string{"gpt-5.1", "gpt-5.1-2*"}, AsOf: "2025-12", Set: Quirks{Temperature: TemperaturePlain, SystemRole: "developer", Efforts: []string{"none", "low", "medium", "high"}}},
		{Models: []string{"gpt-5.*"}, AsOf: "2026-03", Set: Quirks{Temperature: TemperaturePlain, SystemRole: "developer", Efforts: []string{"none", "low", "medium", "high", "xhigh"}}},
	}
}

// claudeRules returns the rules for the models of Anthropic that differ, by the names that they
// have on any platform. From the fifth generation on a temperature is refused.
func claudeRules() []Rule {
	return []Rule{
		{
			Models: []string{"*claude-opus-5-5*", "*claude-fable-5*"}, AsOf: "2026-10",
			Set: Quirks{Temperature: TemperatureRefused, AlwaysThink: true, ToolChoice: []string{FormAuto, FormNone}},
		},
		{Models: []string{"*claude-opus-5*", "*claude-sonnet-5*"}, AsOf: "2026-10", Set: Quirks{Temperature: TemperatureRefused}},
		{
			Models: []string{
				"*claude-3-7*", "*claude-opus-4-0*", "*claude-opus-4-1*", "*claude-opus-4-2*", "*claude-opus-4-5*", "*claude-opus-4@*",
				"*claude-sonnet-4-0*", "*claude-sonnet-4-2*", "*claude-sonnet-4-5*", "*claude-sonnet-4@*", "*claude-haiku-4-5*",
			},
			AsOf: "2026-03", Set: Quirks{Budget: true},
		},
	}
}

// vertexRules returns the rules for Claude, which speaks its own protocol there, and for Gemini.
func vertexRules() []Rule {
	rules := append(claudeRules(), Rule{Models: []string{"*claude*"}, AsOf: "2026-03"})
	for i := range rules {
		rules[i].Protocol = Anthropic
		rules[i].Set.SeedField, rules[i].Set.MaxTemp, rules[i].Set.ToolAny = NoField, 1, "any"
	}
	return append(rules, geminiRules()...)
}

// vendors returns the presets of the makers of models.
func vendors() []Preset {
	typed := func(q Quirks) Quirks { q.Schema = SchemaNative; return q }
	return []Preset{
		{
			Name: "openai", Title: "OpenAI", Protocol: OpenAI, BaseURL: "https://api.openai.com/v1",
			Key: KeyRequired, KeyVar: "OPENAI_API_KEY", AsOf: "2026-03", Doc: "https://platform.openai.com/docs/api-reference",
			Quirks: typed(Quirks{TokenField: "max_completion_tokens", SystemRole: "system", Vision: ByModel, CacheKey: true, Thinking: SwitchNone}),
			Rules:  openAIRules(),
		},
		{
			Name: "azure", Title: "Azure OpenAI", Protocol: OpenAI, Cloud: Azure, Example: "https://RESOURCE.openai.azure.com/openai/v1",
			Key: KeyRequired, KeyVar: "AZURE_OPENAI_API_KEY", AsOf: "2026-03", Doc: "https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle",
			// A deployment may have any name, so the rules apply when it is named
			// after its model, which is the custom.
			Quirks: typed(Quirks{TokenField: "max_completion_tokens", SystemRole: "system", Vision: ByModel, Thinking: SwitchNone}),
			Rules:  openAIRules(),
		},
		{
			Name: "anthropic", Title: "Anthropic", Protocol: Anthropic, BaseURL: "https://api.anthropic.com",
			Key: KeyRequired, KeyVar: "ANTHROPIC_API_KEY", AsOf: "2026-03", Doc: "https://docs.claude.com/en/api/messages",
			Quirks: typed(Quirks{SystemRole: "system", SeedField: NoField, MaxTemp: 1, ToolAny: "any", Vision: Yes, Thinking: SwitchAdapter}),
			Rules:  claudeRules(),
		},
		{
			Name: "bedrock", Title: "Claude on Amazon Bedrock", Protocol: Anthropic, Cloud: Bedrock,
			BaseURL: "https://bedrock-runtime.{region}.amazonaws.com", AnyRegion: true, Example: "us-east-1",
			Key: KeyOptional, KeyVar: "AWS_BEARER_TOKEN_BEDROCK", AsOf: "2026-03", Doc: "https://docs.claude.com/en/api/claude-on-amazon-bedrock",
			Quirks: typed(Quirks{SystemRole: "system", SeedField: NoField, MaxTemp: 1, ToolAny: "any", Vision: Yes, Thinking: SwitchAdapter}),
			Rules:  claudeRules(),
		},
		{
			Name: "vertex", Title: "Google Vertex AI", Protocol: Gemini, Cloud: Vertex,
			BaseURL: "https://{region}-aiplatform.googleapis.com", AnyRegion: true, Example: "us-east5, or global",
			Key: KeyNone, AsOf: "2026-03", Doc: "https://cloud.google.com/vertex-ai/generative-ai/docs",
			Quirks: typed(Quirks{SystemRole: "system", Vision: Yes, Thinking: SwitchAdapter}),
			Rules:  vertexRules(),
		},
		{
			Name: "gemini", Title: "Google Gemini", Protocol: Gemini, BaseURL: "https://generativelanguage.googleapis.com",
			Key: KeyRequired, KeyVar: "GEMINI_API_KEY", AsOf: "2026-03", Doc: "https://ai.google.dev/api/generate-content",
			Quirks: typed(Quirks{SystemRole: "system", Vision: Yes, Thinking: SwitchAdapter}),
			Rules:  geminiRules(),
		},
	}
}

// geminiRules returns the rules for the models of Google that differ.
func geminiRules() []Rule {
	return []Rule{
		{Models: []string{"gemini-2.5-pro*"}, AsOf: "2026-03", Set: Quirks{AlwaysThink: true, Budget: true}},
		{Models: []string{"gemini-2.5*"}, AsOf: "2026-03", Set: Quirks{Budget: true}},
		{Models: []string{"gemini-3*pro*"}, AsOf: "2026-03", Set: Quirks{AlwaysThink: true}},
	}
}

// otherVendors returns the makers whose servers speak Chat Completions.
func otherVendors() []Preset {
	typed := func(q Quirks) Quirks { q.Schema = SchemaNative; return q }
	return []Preset{
		{
			Name: "qwen", Title: "Qwen on Alibaba Cloud (DashScope)", Protocol: OpenAIChat,
			Regions: []Region{
				{"intl", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"},
				{"cn", "https://dashscope.aliyuncs.com/compatible-mode/v1"},
			},
			Key: KeyRequired, KeyVar: "DASHSCOPE_API_KEY", AsOf: "2026-10", Doc: "https://help.aliyun.com/en/model-studio/qwen-api-via-openai-chat-completions",
			// The schema of an answer is known to a few models only, JSON to all.
			Quirks: Quirks{
				TokenField: "max_tokens", SystemRole: "system", EffortField: NoField, ToolChoice: []string{FormAuto, FormNone, FormNamed},
				Schema: SchemaJSON, Vision: ByModel, Thinking: SwitchFlag, ReasoningField: "reasoning_content",
			},
			Rules: []Rule{{Models: []string{"qwq*", "*-thinking*"}, AsOf: "2026-03", Set: Quirks{AlwaysThink: true}}},
		},
		{
			Name: "minimax", Title: "MiniMax", Protocol: OpenAIChat,
			Regions: []Region{{"global_en", "https://api.minimax.io/v1"}, {"cn_zh", "https://api.minimaxi.com/v1"}},
			Key:     KeyRequired, KeyVar: "MINIMAX_API_KEY", AsOf: "2026-10", Doc: "https://platform.minimax.io/docs/api-reference/text-openai-api",
			Quirks: Quirks{
				TokenField: "max_completion_tokens", SystemRole: "system", EffortField: NoField, SeedField: NoField, MaxTemp: 1,
				ToolChoice: []string{FormAuto}, Schema: SchemaNone, Vision: ByModel, Thinking: SwitchAdaptive,
				ReasoningField: "reasoning_details", ReasoningSplit: true,
			},
			Rules: []Rule{{Models: []string{"minimax-m2*"}, AsOf: "2026-10", Set: Quirks{AlwaysThink: true, Vision: No}}},
		},
		{
			Name: "deepseek", Title: "DeepSeek", Protocol: OpenAIChat, BaseURL: "https://api.deepseek.com/v1",
			Key: KeyRequired, KeyVar: "DEEPSEEK_API_KEY", AsOf: "2026-10", Doc: "https://api-docs.deepseek.com",
			// Its thinking is on unless it is switched off, hears no temperature, and
			// must come back with the results of calls.
			Quirks: Quirks{
				TokenField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort", Efforts: []string{"minimal", "low", "medium", "high", "xhigh", "max"},
				SeedField: NoField, Temperature: TemperatureIgnored, Schema: SchemaJSON, Vision: ByModel, Thinking: SwitchType,
				ReasoningField: "reasoning_content", ReasoningAlways: true,
			},
		},
		moonshot(),
		{
			Name: "zai", Title: "Z.ai (GLM)", Protocol: OpenAIChat,
			Regions: []Region{{"intl", "https://api.z.ai/api/paas/v4"}, {"cn", "https://open.bigmodel.cn/api/paas/v4"}},
			Key:     KeyRequired, KeyVar: "ZAI_API_KEY", AsOf: "2026-11", Doc: "https://docs.z.ai/guides/capabilities/thinking-mode",
			Quirks: Quirks{
				TokenField: "max_tokens", SystemRole: "system", EffortField: NoField, SeedField: NoField, MaxTemp: 1, ToolChoice: []string{FormAuto},
				Schema: SchemaJSON, Vision: ByModel, Thinking: SwitchType, ReasoningField: "reasoning_content",
			},
		},
		{
			Name: "mistral", Title: "Mistral", Protocol: OpenAIChat, BaseURL: "https://api.mistral.ai/v1",
			Key: KeyRequired, KeyVar: "MISTRAL_API_KEY", AsOf: "2025-12", Doc: "https://docs.mistral.ai/api",
			// A field that it does not know is refused, so the seed must have its name.
			Quirks: typed(Quirks{
				TokenField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort", SeedField: "random_seed",
				MaxTemp: 1.5, ToolAny: "any", Vision: ByModel, Thinking: SwitchNone,
			}),
		},
		{
			Name: "xai", Title: "xAI", Protocol: OpenAIChat, BaseURL: "https://api.x.ai/v1",
			Key: KeyRequired, KeyVar: "XAI_API_KEY", AsOf: "2026-10", Doc: "https://docs.x.ai/developers/model-capabilities/text/reasoning",
			Quirks: typed(Quirks{TokenField: "max_completion_tokens", SystemRole: "system", EffortField: "reasoning_effort", Vision: ByModel, Thinking: SwitchNone}),
			Rules: []Rule{
				{Models: []string{"grok-3-mini*"}, AsOf: "2025-12", Set: Quirks{Efforts: []string{"low", "high"}, Vision: No}},
				{Models: []string{"grok-3*", "grok-4", "grok-4-*", "grok-code*"}, AsOf: "2026-02", Set: Quirks{EffortField: NoField}},
				{Models: []string{"grok-4.3*"}, AsOf: "2026-10", Set: Quirks{Efforts: []string{"none", "low", "medium", "high"}}},
				{Models: []string{"grok-4.5*"}, AsOf: "2026-10", Set: Quirks{Efforts: []string{"low", "medium", "high"}}},
			},
		},
	}
}

// moonshot returns the preset of the maker of Kimi. Its kimi-* models draw their answers in a way
// that cannot be changed, and think; what they thought before a call must come back with its
// result.
func moonshot() Preset {
	fixed := func(q Quirks) Quirks { q.Temperature = TemperatureRefused; return q }
	return Preset{
		Name: "moonshot", Title: "Moonshot AI (Kimi)", Protocol: OpenAIChat,
		Regions: []Region{{"intl", "https://api.moonshot.ai/v1"}, {"cn", "https://api.moonshot.cn/v1"}},
		Key:     KeyRequired, KeyVar: "MOONSHOT_API_KEY", AsOf: "2026-11", Doc: "https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model",
		Quirks: Quirks{
			TokenField: "max_completion_tokens", SystemRole: "system", EffortField: NoField, SeedField: NoField, MaxTemp: 1,
			ToolChoice: []string{FormAuto, FormNone}, Schema: SchemaJSON, Vision: ByModel, Thinking: SwitchType,
			ReasoningField: "reasoning_content", ReasoningAlways: true,
		},
		Rules: []Rule{
			{Models: []string{"kimi-k3*"}, AsOf: "2026-11", Set: fixed(Quirks{AlwaysThink: true, EffortField: "reasoning_effort", Efforts: []string{"low", "high", "max"}})},
			{Models: []string{"kimi-k2.7*", "kimi-k2-thinking*"}, AsOf: "2026-11", Set: fixed(Quirks{AlwaysThink: true})},
			{Models: []string{"kimi-k2.*"}, AsOf: "2026-11", Set: fixed(Quirks{})},
		},
	}
}

// hosts returns the presets of servers that serve the models of others.
func hosts() []Preset {
	oss := []string{"low", "medium", "high"}
	return []Preset{
		{
			Name: "openrouter", Title: "OpenRouter", Protocol: OpenAIChat, BaseURL: "https://openrouter.ai/api/v1",
			Key: KeyRequired, KeyVar: "OPENROUTER_API_KEY", AsOf: "2026-03", Doc: "https://openrouter.ai/docs/api-reference/parameters",
			// It drops what a model behind it does not know.
			Quirks: Quirks{
				TokenField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort",
				Efforts: []string{"none", "minimal", "low", "medium", "high", "xhigh"},
				Schema:  SchemaNative, Vision: ByModel, Thinking: SwitchNone, ReasoningField: "reasoning_details",
			},
		},
		{
			Name: "groq", Title: "Groq", Protocol: OpenAIChat, BaseURL: "https://api.groq.com/openai/v1",
			Key: KeyRequired, KeyVar: "GROQ_API_KEY", AsOf: "2025-12", Doc: "https://console.groq.com/docs/api-reference",
			// A schema is known to some models only, and refused by the others.
			Quirks: Quirks{TokenField: "max_completion_tokens", SystemRole: "system", EffortField: NoField, Schema: SchemaJSON, Vision: ByModel, Thinking: SwitchNone},
			Rules: []Rule{
				{Models: []string{"gpt-oss*"}, AsOf: "2025-12", Set: Quirks{EffortField: "reasoning_effort", Efforts: oss, Schema: SchemaNative, Vision: No}},
				{Models: []string{"qwen3*"}, AsOf: "2025-12", Set: Quirks{EffortField: "reasoning_effort", Efforts: []string{"none", "default"}, Vision: No}},
				{Models: []string{"kimi-k2*", "llama-4*"}, AsOf: "2025-12", Set: Quirks{Schema: SchemaNative}},
			},
		},
		{
			Name: "together", Title: "Together AI", Protocol: OpenAIChat, BaseURL: "https://api.together.xyz/v1",
			Key: KeyRequired, KeyVar: "TOGETHER_API_KEY", AsOf: "2025-12", Doc: "https://docs.together.ai/reference/chat-completions-1",
			Quirks: Quirks{TokenField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort", Schema: SchemaNative, Vision: ByModel, Thinking: SwitchTemplate},
		},
		{
			Name: "fireworks", Title: "Fireworks AI", Protocol: OpenAIChat, BaseURL: "https://api.fireworks.ai/inference/v1",
			Key: KeyRequired, KeyVar: "FIREWORKS_API_KEY", AsOf: "2025-12", Doc: "https://docs.fireworks.ai/api-reference/post-chatcompletions",
			Quirks: Quirks{
				TokenField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort", Efforts: []string{"none", "low", "medium", "high"},
				Schema: SchemaNative, Vision: ByModel, Thinking: SwitchNone, ReasoningField: "reasoning_content",
			},
		},
	}
}

// locals returns the presets of servers that users run, and of whatever else speaks the protocol.
func locals() []Preset {
	return []Preset{
		{
			Name: "ollama", Title: "Ollama", Protocol: Ollama, BaseURL: "http://localhost:11434", Key: KeyOptional, KeyVar: "",
			AsOf: "2026-03", Doc: "https://docs.ollama.com/api/chat",
			Quirks: Quirks{SystemRole: "system", ToolChoice: []string{FormAuto, FormNone}, Schema: SchemaNative, Vision: ByModel, Thinking: SwitchThink},
			Rules:  []Rule{{Models: []string{"gpt-oss*"}, AsOf: "2026-03", Set: Quirks{Efforts: []string{"low", "medium", "high"}, AlwaysThink: true}}},
		},
		{
			Name: "vllm", Title: "vLLM", Protocol: OpenAIChat, BaseURL: "http://localhost:8000/v1", Key: KeyOptional, KeyVar: "",
			AsOf: "2026-03", Doc: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
			Quirks: Quirks{TokenField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort", Schema: SchemaNative, Vision: ByModel, Thinking: SwitchTemplate, ReasoningField: "reasoning"},
		},
		{
			Name: "sglang", Title: "SGLang", Protocol: OpenAIChat, BaseURL: "http://localhost:30000/v1", Key: KeyOptional, KeyVar: "",
			AsOf: "2026-03", Doc: "https://docs.sglang.ai/basic_usage/openai_api_completions.html",
			Quirks: Quirks{TokenField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort", Schema: SchemaNative, Vision: ByModel, Thinking: SwitchTemplate, ReasoningField: "reasoning_content"},
		},
		{
			Name: "litellm", Title: "LiteLLM", Protocol: OpenAIChat, BaseURL: "http://localhost:4000/v1", Key: KeyOptional, KeyVar: "LITELLM_API_KEY",
			AsOf: "2026-03", Doc: "https://docs.litellm.ai/docs/proxy/user_keys",
			Quirks: Quirks{TokenField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort", Schema: SchemaNative, Vision: ByModel, Thinking: SwitchNone},
		},
		{
			Name: "compatible", Title: "a server compatible with OpenAI's Chat Completions", Protocol: OpenAIChat, Example: "http://localhost:8080/v1",
			Key: KeyOptional, KeyVar: "", AsOf: "2026-03", Doc: "https://platform.openai.com/docs/api-reference/chat",
			// Of a server that nothing is known of, only what is oldest is used.
			Quirks: Quirks{TokenField: "max_tokens", SystemRole: "system", EffortField: "reasoning_effort", Schema: SchemaNone, Vision: ByModel, Thinking: SwitchTemplate},
		},
	}
}
