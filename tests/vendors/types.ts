// The bodies of requests by the vendors' own SDKs. What those who are compatible with OpenAI add to it is added here, with
// the page that says so.

import type { MessageCreateParamsStreaming as Messages } from '@anthropic-ai/sdk/resources/messages';
import type { MessageCreateParamsStreaming as BetaMessages } from '@anthropic-ai/sdk/resources/beta/messages/messages';
import type {
  ChatCompletionAssistantMessageParam as Said, ChatCompletionCreateParamsStreaming as Chat,
  ChatCompletionMessageFunctionToolCall as Call, ChatCompletionMessageParam as Message,
} from 'openai/resources/chat/completions';
import type { ResponseCreateParamsStreaming as Responses } from 'openai/resources/responses/responses';
import type {
  Content, GenerationConfig, ThinkingConfig, ThinkingLevel, Tool, ToolConfig,
} from '@google/genai';

/** A request whose messages of the model have more. */
type With<More> = Omit<Chat, 'messages'> & { messages: (Exclude<Message, Said> | More)[] };

/** platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model, api-docs.deepseek.com/guides/thinking_mode */
type Moonshot = With<Said & { reasoning_content?: string }>;

/** The ways to ask for thinking that OpenAI does not have: DeepSeek's, OpenRouter's and Together's, Alibaba's, vLLM's. */
type Asking = Moonshot & {
  thinking?: { type: 'enabled' | 'disabled' };
  reasoning?: { effort?: string; enabled?: boolean };
  enable_thinking?: boolean;
  chat_template_kwargs?: { enable_thinking: boolean };
};

/** openrouter.ai/docs/guides/best-practices/reasoning-tokens */
interface Detail { type: string; text?: string; format?: string; index?: number; signature?: string }
type OpenRouter = With<Said & { reasoning?: string; reasoning_details?: Detail[] }>;

/** console.groq.com/docs/reasoning */
type Groq = With<Said & { reasoning?: string }>;

/** ai.google.dev/gemini-api/docs/thought-signatures */
interface Extra { google: { thought_signature: string } }
type Signed = Call & { extra_content?: Extra };
type GeminiChat = With<Omit<Said, 'tool_calls'> & { extra_content?: Extra; tool_calls?: Signed[] }>;

/** The SDK's own parameters are of another shape than the body that it makes of them; the parts are the same. */
type Thinking = Omit<ThinkingConfig, 'thinkingLevel'> & { thinkingLevel?: `${ThinkingLevel}` };
interface Gemini {
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  generationConfig?: Omit<GenerationConfig, 'thinkingConfig'> & { thinkingConfig?: Thinking };
}
