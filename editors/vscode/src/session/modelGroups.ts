// The models in the order in which they are offered, and what is said of each.

import type { ModelInfo, ModelListResult } from '../generated/protocol';

/** The models under one heading. */
export interface ModelGroup {
  readonly title: string;
  readonly models: readonly ModelInfo[];
}

/**
 * The models that can be used: those chosen last, then all of each provider. At the end there is one of each provider
 * that has none, for the reason. What the configuration rules out is left out.
 */
export function modelGroups({ models, recent = [] }: ModelListResult): ModelGroup[] {
  const usable = models.filter((model) => model.available);
  const chosen = recent.flatMap((id) => usable.filter((model) => model.id === id));
  const groups: ModelGroup[] = chosen.length === 0 ? [] : [{ title: 'recently used', models: chosen }];
  for (const provider of new Set(usable.map((model) => model.provider))) {
    groups.push({ title: provider, models: usable.filter((model) => model.provider === provider) });
  }
  const has = new Set(usable.map((model) => model.provider));
  const others = models.filter((model) => !model.available && model.ruledOut !== true && !has.has(model.provider));
  const first = others.filter((model, at) => others.findIndex((other) => other.provider === model.provider) === at);
  return first.length === 0 ? groups : [...groups, { title: 'cannot be used', models: first }];
}

/**
 * The model after this one, of those that the user chose last. They follow each other as they are listed, since the
 * order of the last ones changes with each choice. None if there are not two of those: nobody chose the others, and some
 * of them would be paid for.
 */
export function nextModel({ models, recent = [] }: ModelListResult, current: string | undefined): ModelInfo | undefined {
  const choices = models.filter((model) => model.available && model.ruledOut !== true && !model.scripted && (model.id === current || recent.includes(model.id)));
  const next = choices[(choices.findIndex((model) => model.id === current) + 1) % choices.length];
  return choices.length < 2 || next?.id === current ? undefined : next;
}

/** The facts by which people choose a model, in one line. */
export function modelFacts({ contextTokens, price, images, levels = [], aliases = [] }: ModelInfo): string {
  const window = contextTokens >= 1_000_000 ? `${Math.floor(contextTokens / 100_000) / 10}M tokens` : `${Math.floor(contextTokens / 1_000)}k tokens`;
  const cost = price === undefined ? 'price unknown' : price.input === 0 && price.output === 0 ? 'free' : `$${price.input} in, $${price.output} out per million`;
  return [window, cost, images ? 'images' : '', levels.length > 0 ? `thinks ${levels.join('/')}` : '', aliases.length > 0 ? `also called ${aliases.join(', ')}` : ''].filter((fact) => fact !== '').join(' · ');
}
