/** The keys of providers: which there are, and how the server's process gets those that are kept in secret storage. */

/** A provider that takes a key, and the variable in which the server looks for it first. */
export interface KeyedProvider {
  readonly name: string;
  readonly label: string;
  readonly variable: string;
}

/** Mirrors `KEY_VARIABLES` of `agent_lsp/config/builtin.py`, in its order. */
export const KEYED_PROVIDERS: readonly KeyedProvider[] = [
  { name: "anthropic", label: "Anthropic", variable: "ANTHROPIC_API_KEY" },
  { name: "openai", label: "OpenAI", variable: "OPENAI_API_KEY" },
  { name: "gemini", label: "Google Gemini", variable: "GEMINI_API_KEY" },
  { name: "openrouter", label: "OpenRouter", variable: "OPENROUTER_API_KEY" },
  { name: "deepseek", label: "DeepSeek", variable: "DEEPSEEK_API_KEY" },
  { name: "mistral", label: "Mistral", variable: "MISTRAL_API_KEY" },
  { name: "groq", label: "Groq", variable: "GROQ_API_KEY" },
  { name: "xai", label: "xAI", variable: "XAI_API_KEY" },
  { name: "zai", label: "Z.AI", variable: "ZAI_API_KEY" },
  { name: "moonshot", label: "Moonshot", variable: "MOONSHOT_API_KEY" },
  { name: "together", label: "Together", variable: "TOGETHER_API_KEY" },
  { name: "fireworks", label: "Fireworks", variable: "FIREWORKS_API_KEY" },
  { name: "cerebras", label: "Cerebras", variable: "CEREBRAS_API_KEY" },
];

/** The built-in providers, and those of the settings that name a variable for their key. */
export function keyedProviders(configured: Readonly<Record<string, unknown>>): KeyedProvider[] {
  const own = Object.entries(configured).flatMap(([name, settings]) => {
    const variable = isTable(settings) ? settings.apiKeyEnv : undefined;
    return typeof variable === "string" && isVariable(variable) ? [{ name, label: name, variable }] : [];
  });
  const named = new Set(own.map(({ name }) => name));
  return [...own, ...KEYED_PROVIDERS.filter(({ name }) => !named.has(name))];
}

/** Under which name secret storage has a provider's key. */
export function secretName(provider: string): string {
  return `key:${provider}`;
}

/** The variables for the server's process. A key that is kept goes before one that the environment has. */
export function keyEnvironment(
  providers: readonly KeyedProvider[],
  kept: ReadonlyMap<string, string>,
): Record<string, string> {
  const pairs = providers.flatMap(({ name, variable }) => {
    const key = kept.get(name);
    return key === undefined ? [] : [[variable, key] as const];
  });
  return Object.fromEntries(pairs);
}

/** What is wrong with a key as it was typed; undefined when nothing is. */
export function keyProblem(typed: string): string | undefined {
  const key = typed.trim();
  if (key === "") {
    return "Paste the key, or press Escape.";
  }
  return /[\s\p{Cc}]/u.test(key) ? "A key has no blanks or line breaks in it." : undefined;
}

function isVariable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
