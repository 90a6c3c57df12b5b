import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { InlineDecision } from '../../src/generated/protocol';
import { merged, noted, wordsOf as decisionWords } from '../../src/inline/decisions';
import { known, possible, suggesting } from '../../src/inline/others';
import { areWanted, isModelNamed, isOn, silenceOfEdits, silenceOfText, stateOf, switchInWords, wordsOf, type Facts } from '../../src/inline/state';

const fine: Facts = { status: { state: 'ready', model: 'local/coder' }, isOn: true, isOnForLanguage: true, language: 'rust', isOnInEditor: true, others: [], pause: 0 };

describe('the state of suggestions', () => {
  it('is ready if there is a model and nothing speaks against it', () => {
    assert.deepEqual(stateOf(fine), { kind: 'ready', model: 'local/coder' });
  });

  it('gives the reason of the server first, since nothing else helps', () => {
    const reason = { rule: 'no_model', words: 'There is no model local.' } as const;
    assert.deepEqual(stateOf({ ...fine, isOnForLanguage: false, status: { state: 'off', reason } }), { kind: 'off', reason });
    assert.equal(stateOf({ ...fine, status: undefined }).kind, 'off');
    assert.equal(stateOf({ ...fine, status: { state: 'off' } }).reason?.words, 'No model is named for suggestions.');
  });

  it('is ready for edits alone if only these have a model, and says why there is no text', () => {
    const edits: Facts = { ...fine, status: { state: 'off', editModel: 'local/next' } };
    const state = stateOf(edits);
    assert.equal(state.kind, 'ready');
    assert.equal(state.reason?.words, 'No model is named for suggestions.');
    assert.match(wordsOf(state).tooltip, /only edits are suggested[^]*Model for edits: local\/next/);
    const both = stateOf({ ...fine, status: { state: 'ready', model: 'local/coder', editModel: 'local/next' } });
    assert.match(wordsOf(both).tooltip, /text and edits are suggested[^]*Model: local\/coder[^]*Model for edits: local\/next/);
  });

  it('is that of the same switches for edits as for text', () => {
    const status = { state: 'off', editModel: 'local/next' } as const;
    assert.equal(stateOf({ ...fine, status, isOnForLanguage: false }).remedy, 'turnOnForLanguage');
    assert.equal(stateOf({ ...fine, status, pause: 3 }).kind, 'paused');
    assert.equal(stateOf({ ...fine, status, others: ['Tabby'] }).remedy, 'suggestToo');
    assert.equal(stateOf({ ...fine, status, isOnInEditor: false }).kind, 'off');
  });

  it('keeps edits going while the model for text is slow, fails, or is not there', () => {
    const words = 'The model takes 2 s.';
    for (const state of ['slow', 'failing'] as const) {
      const now = stateOf({ ...fine, status: { state, model: 'local/coder', editModel: 'local/next', reason: { rule: 'model', words } as never } });
      assert.deepEqual([silenceOfText(now), silenceOfEdits(now)], [undefined, undefined], state);
    }
    const only = stateOf({ ...fine, status: { state: 'off', editModel: 'local/next' } });
    assert.deepEqual([silenceOfText(only)?.rule, silenceOfEdits(only)], ['off', undefined]);
    assert.equal(silenceOfEdits(stateOf(fine))?.rule, 'not_set');
    const paused = stateOf({ ...fine, status: { state: 'ready', model: 'local/coder', editModel: 'local/next' }, pause: 3 });
    assert.deepEqual([silenceOfText(paused)?.rule, silenceOfEdits(paused)?.rule], ['snoozed', 'snoozed']);
  });

  it('is starting while the server does, and not off', () => {
    const state = stateOf({ ...fine, status: undefined, isStarting: true });
    assert.equal(state.kind, 'starting');
    const { text, tooltip } = wordsOf(state);
    assert.doesNotMatch(text + tooltip, /off|no text/);
  });

  it('is the one of the document’s language, if there is a document', () => {
    assert.equal(stateOf({ ...fine, isOn: false, isOnForLanguage: true }).kind, 'ready');
    assert.equal(stateOf({ ...fine, isOn: true, isOnForLanguage: false }).kind, 'off');
  });

  it('is of interest to the user if a model is named', () => {
    const rule = (name: string) => ({ state: 'off', reason: { rule: name, words: '' } }) as Parameters<typeof isModelNamed>[0];
    assert.ok(isModelNamed({ state: 'off', editModel: 'local/next' }));
    assert.ok(isModelNamed({ state: 'ready' }) && isModelNamed({ state: 'failing' }) && isModelNamed(rule('no_model')));
    assert.ok(!isModelNamed({ state: 'off' }) && !isModelNamed(rule('not_set')));
  });

  it('says what can be done, one thing after the other', () => {
    const remedyOf = (facts: Partial<Facts>) => stateOf({ ...fine, ...facts }).remedy;
    assert.equal(remedyOf({ isOn: false, isOnForLanguage: false, pause: 3 }), 'turnOn');
    assert.equal(remedyOf({ isOnForLanguage: false }), 'turnOnForLanguage');
    assert.equal(remedyOf({ isOnInEditor: false }), 'turnOnInEditor');
    assert.equal(remedyOf({ others: ['Tabby'] }), 'suggestToo');
    assert.equal(remedyOf({ pause: 3 }), 'resume');
    assert.equal(remedyOf({}), undefined);
  });

  it('is said in the status bar, with the reason and the model', () => {
    const paused = wordsOf(stateOf({ ...fine, pause: 3 }));
    assert.match(paused.text, /Suggestions paused/);
    assert.match(paused.tooltip, /paused for 3 minutes\.\nModel: local\/coder/);
    const failing = wordsOf(stateOf({ ...fine, status: { state: 'failing', model: 'm', reason: { rule: 'failed', words: 'Connection refused.' } } }));
    assert.match(failing.tooltip, /fails\nConnection refused\.\nModel: m/);
    assert.match(wordsOf(stateOf({ ...fine, others: ['Tabby', 'Cody'] })).tooltip, /Tabby and Cody suggest text already/);
  });

  it('has the cost of the day, if there is one, and says if it is not known', () => {
    const said = (status: object) => wordsOf(stateOf({ ...fine, status: { state: 'ready', model: 'm', ...status } }));
    assert.match(said({ cost: 0.123 }).text, /Suggestions · \$0\.123 today$/);
    assert.match(said({ cost: 0.123 }).tooltip, /Cost: \$0\.123 today \(UTC\), in all windows/);
    assert.match(said({ cost: 0.004 }).text, /\$0\.004 today$/);
    assert.doesNotMatch(said({}).text + said({}).tooltip, /today|cost/i);
    assert.match(said({ costUnknown: true }).tooltip, /cost of the model is not known/);
  });

  it('is slow with a reason, and still asks', () => {
    const reason = { rule: 'late', words: 'Half of its last ten requests took 3.4 seconds or longer.' } as const;
    const slow = stateOf({ ...fine, status: { state: 'slow', model: 'm', reason } });
    assert.equal(slow.kind, 'slow');
    assert.match(wordsOf(slow).text, /Suggestions slow/);
    assert.match(wordsOf(slow).tooltip, /is slow\nHalf of its last ten/);
  });
});

describe('the switch', () => {
  it('is the user’s, for a language before all others', () => {
    assert.ok(isOn({ defaultValue: true }));
    assert.ok(!isOn({ defaultValue: true, globalValue: false }));
    assert.ok(!isOn({ globalValue: true, globalLanguageValue: false }));
    assert.ok(isOn({ globalValue: false, globalLanguageValue: true }));
  });

  it('can be turned off by a workspace, and not on', () => {
    assert.ok(!isOn({ globalValue: true, workspaceValue: false }));
    assert.ok(!isOn({ globalLanguageValue: true, workspaceLanguageValue: false }));
    assert.ok(!isOn({ globalValue: true, workspaceFolderValue: false }));
    assert.ok(!isOn({ globalValue: false, workspaceValue: true, workspaceLanguageValue: true, workspaceFolderValue: true }));
  });

  it('of the editor cannot be turned on by a workspace either', () => {
    assert.ok(!isOn({ defaultValue: true, globalValue: false, workspaceValue: true }));
    assert.ok(isOn({ defaultValue: true, workspaceValue: true }));
  });

  it('says if suggestions are wanted: there is a model, and they are on for some language', () => {
    const facts = { hadModel: true, models: [undefined, undefined], all: { defaultValue: true }, languages: [] };
    assert.ok(areWanted(facts));
    assert.ok(!areWanted({ ...facts, hadModel: false }));
    assert.ok(areWanted({ ...facts, hadModel: false, models: ['local'] }));
    assert.ok(!areWanted({ ...facts, hadModel: false, models: [undefined, ''] }));
    const off = { ...facts, all: { globalValue: false } };
    assert.ok(!areWanted(off));
    assert.ok(areWanted({ ...off, languages: [{ globalValue: false, globalLanguageValue: true }] }));
    assert.ok(!areWanted({ ...off, languages: [{ globalValue: false, workspaceLanguageValue: true }] }), 'a workspace switches nothing on');
  });

  it('is said as it is, once it was turned', () => {
    assert.equal(switchInWords({ globalValue: true }, undefined), 'Azimuth: suggestions are on.');
    assert.equal(switchInWords({ globalLanguageValue: false }, 'python'), 'Azimuth: suggestions are off for python.');
    assert.equal(switchInWords({ globalValue: true, workspaceValue: false }, undefined), 'Azimuth: suggestions are off, by the settings of the workspace.');
    assert.equal(switchInWords({ globalValue: false }, undefined, ['python', 'rust']), 'Azimuth: suggestions are off, but on for python and rust.');
  });

  it('is declared so that it can be set for a language, and the other one only by the user', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { contributes: { configuration: { properties: Record<string, { scope: string }> }[] } };
    const declared = Object.assign({}, ...manifest.contributes.configuration.map(({ properties }) => properties)) as Record<string, { scope: string }>;
    assert.deepEqual([declared['azimuth.inline.enabled']?.scope, declared['azimuth.inline.withOthers']?.scope], ['language-overridable', 'application']);
  });
});

describe('another extension', () => {
  const window = { has: () => false, isActive: () => false, setting: (): Values => undefined, hasAccount: () => false };
  type Values = { globalValue?: unknown; defaultValue?: unknown } | undefined;

  it('suggests if it is there and not switched off', () => {
    assert.deepEqual(suggesting(window), []);
    assert.deepEqual(suggesting({ ...window, has: (id) => id === 'Supermaven.supermaven' }), ['Supermaven']);
    const has = (id: string) => ['Continue.continue', 'Codeium.codeium'].includes(id);
    const off: Record<string, unknown> = { 'continue.enableTabAutocomplete': false, 'codeium.enableConfig': { '*': false, rust: true } };
    assert.deepEqual(suggesting({ ...window, has, setting: (name) => ({ globalValue: off[name], defaultValue: true }) }), []);
    assert.deepEqual(suggesting({ ...window, has, setting: (name) => ({ defaultValue: off[name] }) }), []);
    assert.deepEqual(suggesting({ ...window, has }), ['Windsurf', 'Continue']);
  });

  it('that comes with VS Code suggests if it is active and the user has switched it on, and counts once', () => {
    const has = (id: string) => id.startsWith('GitHub.');
    const everything = { ...window, has, isActive: has, hasAccount: () => true };
    assert.deepEqual(suggesting({ ...everything, setting: () => ({ defaultValue: { '*': true } }) }), [], 'a default is no proof, nor is an account');
    assert.deepEqual(suggesting({ ...everything, setting: () => ({ globalValue: { '*': true } }) }), ['GitHub Copilot']);
    assert.deepEqual(suggesting({ ...everything, isActive: () => false, setting: () => ({ globalValue: { '*': true } }) }), []);
  });

  it('that comes with VS Code may suggest to those who have signed in', () => {
    const has = (id: string) => id.startsWith('GitHub.');
    const names = (facts: Partial<typeof window>) => possible({ ...window, has, ...facts }).map(({ name }) => name);
    assert.deepEqual(names({}), []);
    assert.deepEqual(names({ hasAccount: () => true }), ['GitHub Copilot']);
    assert.deepEqual(names({ hasAccount: () => true, setting: () => ({ globalValue: { '*': false }, defaultValue: { '*': true } }) }), []);
  });

  it('has an identifier and a name', () => {
    for (const { id, name } of known) assert.ok(/^[\w-]+\.[\w-]+$/.test(id) && name !== '', id);
  });
});

describe('a decision', () => {
  const decision: InlineDecision = { uri: 'file:///a.rs', position: { line: 2, character: 4 }, trigger: 'automatic', at: 1, source: 'none', reason: { rule: 'mid_word', words: 'The cursor is inside a word.' }, tookMs: 1 };

  it('is said in words', () => {
    assert.deepEqual(decisionWords(decision, '12:00'), { isShown: false, label: 'The cursor is inside a word.', description: 'line 3, column 5 · 12:00', detail: 'You typed' });
    const { uri, position, at } = decision;
    const given: InlineDecision = { uri, position, at, trigger: 'invoked', source: 'model', model: 'local/coder', tookMs: 80, changedBy: ['repeats_after', 'cut_off'] };
    assert.equal(decisionWords(given, '').detail, 'Requested manually · the model was asked · local/coder · 80 ms · changed by: repeats after, cut off');
  });

  it('that is made again and again is kept once, and few are kept', () => {
    assert.deepEqual(noted(noted([], decision), { ...decision, at: 2 }).map(({ at }) => at), [2]);
    const many = Array.from({ length: 50 }, (_, at) => ({ ...decision, at, uri: `file:///${at}` }));
    assert.equal(many.reduce<InlineDecision[]>(noted, []).length, 20);
  });

  it('is listed with those of the server, the newest first', () => {
    assert.deepEqual(merged([{ ...decision, at: 3 }, { ...decision, at: 1 }], [{ ...decision, at: 2 }]).map(({ at }) => at), [3, 2, 1]);
  });
});
