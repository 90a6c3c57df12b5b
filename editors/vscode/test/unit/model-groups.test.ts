// The order in which models are offered, and what is said of each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelInfo } from '../../src/generated/protocol';
import { modelFacts, modelGroups, nextModel } from '../../src/session/modelGroups';

const model = (id: string, more: Partial<ModelInfo> = {}): ModelInfo => ({
  id, name: id, provider: id.split('/')[0] ?? '', contextTokens: 200_000, maxOutputTokens: 1, available: true, images: false, thinking: false, scripted: false, ...more,
});

test('models stand under their providers, the ones chosen last before all, and why a provider has none at the end', () => {
  const gone = { available: false, unavailableBecause: 'no key' };
  const models = [model('a/1'), model('b/1'), model('a/2'), model('c/1', gone), model('c/2', gone), model('b/2', gone), model('d/1', { ...gone, ruledOut: true })];
  const groups = modelGroups({ models, recent: ['b/1', 'c/1', 'x/1'] });
  assert.deepEqual(groups.map(({ title, models: own }) => [title, ...own.map(({ id }) => id)]), [
    ['recently used', 'b/1'], ['a', 'a/1', 'a/2'], ['b', 'b/1'], ['cannot be used', 'c/1'],
  ]);
  assert.deepEqual(modelGroups({ models: [] }), []);
});

test('the next model is one of the last ones, and each of them comes once', () => {
  const models = ['a/1', 'a/2', 'b/1', 'b/2'].map((id) => model(id, { available: id !== 'b/2' }));
  assert.equal(nextModel({ models, recent: ['b/1', 'a/1', 'b/2'] }, 'a/1')?.id, 'b/1');
  assert.equal(nextModel({ models, recent: ['a/1', 'b/1', 'b/2'] }, 'b/1')?.id, 'a/1');
  assert.equal(nextModel({ models, recent: ['b/1'] }, 'b/1'), undefined, 'nobody chose another one');
  assert.equal(nextModel({ models }, undefined), undefined);
  assert.equal(nextModel({ models: [] }, 'a/1'), undefined);
  const played = [model('a/1'), model('b/1'), model('scripted/tour', { scripted: true })];
  assert.equal(nextModel({ models: played, recent: ['b/1', 'a/1', 'scripted/tour'] }, 'b/1')?.id, 'a/1', 'a script is no model');
  assert.equal(nextModel({ models: played, recent: ['a/1', 'scripted/tour'] }, 'a/1'), undefined);
});

test('with three models chosen, each key leads to the next of the three', () => {
  const models = ['a/1', 'a/2', 'a/3', 'b/1'].map((id) => model(id));
  const visited = ['a/1'];
  let recent = ['a/1', 'a/2', 'a/3'];
  for (let key = 0; key < 6; key += 1) {
    const next = nextModel({ models, recent }, visited.at(-1))?.id ?? '';
    recent = [next, ...recent.filter((id) => id !== next)];
    visited.push(next);
  }
  assert.deepEqual(visited, ['a/1', 'a/2', 'a/3', 'a/1', 'a/2', 'a/3', 'a/1']);
});

test('the facts of a model are in one line', () => {
  const price = { input: 1.25, output: 10, cacheRead: 0, cacheWrite: 0 };
  assert.equal(modelFacts(model('a/1', { contextTokens: 1_048_576, price, images: true, levels: ['off', 'high'] })), '1M tokens · $1.25 in, $10 out per million · images · thinks off/high');
  assert.equal(modelFacts(model('a/1', { aliases: ['one', 'a'] })), '200k tokens · price unknown · also called one, a');
  assert.equal(modelFacts(model('a/1')), '200k tokens · price unknown');
  assert.equal(modelFacts(model('a/1', { price: { ...price, input: 0, output: 0 } })), '200k tokens · free');
});
