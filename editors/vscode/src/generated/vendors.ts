// Generated from the vendors in `server/crates/providers/src/providers.toml` by `cargo run -p xtask -- codegen`. Do not edit.

/** A vendor whose key the server reads from an environment variable. */
export interface Vendor {
  readonly name: string;
  readonly variable: string;
}

/** Every such vendor, in the order in which a default model is looked for. */
export const vendors: readonly Vendor[] = [
  { name: 'Anthropic', variable: 'ANTHROPIC_API_KEY' },
  { name: 'OpenAI', variable: 'OPENAI_API_KEY' },
  { name: 'OpenRouter', variable: 'OPENROUTER_API_KEY' },
  { name: 'DeepSeek', variable: 'DEEPSEEK_API_KEY' },
  { name: 'Groq', variable: 'GROQ_API_KEY' },
  { name: 'Mistral', variable: 'MISTRAL_API_KEY' },
  { name: 'xAI', variable: 'XAI_API_KEY' },
  { name: 'Inception', variable: 'INCEPTION_API_KEY' },
  { name: 'Gemini', variable: 'GEMINI_API_KEY' },
  { name: 'Together', variable: 'TOGETHER_API_KEY' },
  { name: 'Fireworks', variable: 'FIREWORKS_API_KEY' },
  { name: 'Cerebras', variable: 'CEREBRAS_API_KEY' },
  { name: 'Moonshot', variable: 'MOONSHOT_API_KEY' },
  { name: 'Z.ai', variable: 'ZAI_API_KEY' },
  { name: 'MiniMax', variable: 'MINIMAX_API_KEY' },
  { name: 'MiniMax (China)', variable: 'MINIMAX_CN_API_KEY' },
  { name: 'Qwen (international)', variable: 'DASHSCOPE_API_KEY' },
  { name: 'Qwen (China)', variable: 'DASHSCOPE_CN_API_KEY' },
  { name: 'Hugging Face', variable: 'HF_TOKEN' },
  { name: 'NVIDIA', variable: 'NVIDIA_API_KEY' },
  { name: 'Vercel AI Gateway', variable: 'AI_GATEWAY_API_KEY' },
  { name: 'Venice', variable: 'VENICE_API_KEY' },
  { name: 'Synthetic', variable: 'SYNTHETIC_API_KEY' },
  { name: 'NanoGPT', variable: 'NANO_GPT_API_KEY' },
  { name: 'SambaNova', variable: 'SAMBANOVA_API_KEY' },
  { name: 'Azure OpenAI and Foundry', variable: 'AZURE_OPENAI_API_KEY' },
  { name: 'Amazon Bedrock', variable: 'AWS_BEARER_TOKEN_BEDROCK' },
  { name: 'Z.ai coding plan', variable: 'ZAI_CODING_API_KEY' },
  { name: 'Z.ai coding plan (China)', variable: 'ZAI_CODING_CN_API_KEY' },
  { name: 'Kimi Code', variable: 'KIMI_API_KEY' },
  { name: 'OpenCode Zen', variable: 'OPENCODE_API_KEY' },
];
